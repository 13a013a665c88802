import { randomUUID } from "node:crypto";
import { beforeEach, expect, test } from "vitest";
import { callRpcOrGetRejection as callRpc, hashToken, readPage, setUpDesk } from "../support/database-suite.ts";
import { callRepeatedly } from "../support/staff-members.ts";

const { testBackend, owner, clerk, query, setUpClient } = setUpDesk();
const stranger = setUpClient("stranger@client.example");

beforeEach(() => query("delete from private.email_changes"));
const start = (email: string | null, account = owner.id) =>
  callRpc("start_email_change", { account_id: account, email }, testBackend.serviceRole);
const startChange = async (email = "new@client.example", account = owner.id) => String(await start(email, account));
const read = (token: string | null) => callRpc("email_change", { token }, testBackend.serviceRole);
const redeem = (token: string | null) => callRpc("redeem_email_change", { token }, testBackend.serviceRole);
const cancel = () => callRpc("cancel_email_change", { account_id: owner.id }, testBackend.serviceRole);
const rename = (account: string, email: string) =>
  query("update auth.users set email = $2 where id = $1", [account, email]);
/** Makes every email change expire earlier by `time`. */
const passTime = (time: string) =>
  query("update private.email_changes set expires_at = expires_at - $1::interval", [time]);
const readAccount = async (): Promise<object> => (await readPage(owner.supabase, "portal_account")).account;
const tooSoon = "429 We have just sent you an email. Wait one minute, then try again.";

test("The link of an email change can be read many times but redeemed only once.", async () => {
  const token = await startChange("New@Client.Example");
  expect(token).toMatch(/^[0-9a-f]{64}$/);
  const change = { account_id: owner.id, email: "new@client.example", old_email: owner.email, factors: [] };
  for (const _twice of [1, 2]) expect(await read(token)).toEqual(change);
  const rows = await query("select * from private.email_changes");
  expect(rows).toHaveLength(1);
  expect(JSON.stringify(rows)).not.toContain(token);
  expect(await redeem(token)).toBe(true);
  expect(await redeem(token)).toBe(false);
  expect(await read(token)).toBeNull();
  // Redeeming the link does not change the email address, which only Supabase Auth can change.
  expect(await query("select email from auth.users where id = $1", [owner.id])).toEqual([{ email: owner.email }]);
});

test("Only one of ten parallel redemptions of an email change succeeds.", async () => {
  const token = await startChange();
  const results = await callRepeatedly(testBackend, 10, { name: "redeem_email_change", args: { token } });
  expect(results.filter(({ result }) => result === true)).toHaveLength(1);
  expect(results.filter(({ result }) => result === false)).toHaveLength(9);
});

test("A wrong token and a token that is a day old can neither read nor redeem an email change.", async () => {
  const token = await startChange();
  const wrong = [token.toUpperCase(), token.slice(1), `${token} `, hashToken(token), "0".repeat(64), "", "%", owner.id];
  for (const guess of [...wrong, null]) {
    if (guess === token) continue;
    expect(await read(guess)).toBeNull();
    expect(await redeem(guess)).toBe(false);
  }
  await passTime("23 hours 59 minutes");
  expect(await read(token)).toMatchObject({ account_id: owner.id });
  await passTime("2 minutes");
  expect(await read(token)).toBeNull();
  expect(await redeem(token)).toBe(false);
});

test("An email change is neither read nor redeemed while its account is closed.", async () => {
  const closedClient = await testBackend.newClient("leaving@client.example");
  const token = await startChange("left@client.example", closedClient.id);
  const closing = { account_id: closedClient.id, reason: "They asked" };
  expect(await callRpc("close_account", closing, clerk.supabase)).toBe(closedClient.email);
  expect(await read(token)).toBeNull();
  expect(await redeem(token)).toBe(false);
  expect(await callRpc("reopen_account", closing, clerk.supabase)).toBe(closedClient.email);
  expect(await read(token)).toMatchObject({ account_id: closedClient.id });
  expect(await redeem(token)).toBe(true);
});

test("A new email change can start a minute after the previous email change, and only the newest link is valid.", async () => {
  const first = await startChange("first@client.example");
  for (const email of ["first@client.example", "second@client.example"]) expect(await start(email)).toBe(tooSoon);
  await passTime("50 seconds");
  expect(await start("second@client.example")).toBe(tooSoon);
  expect(await read(first)).toMatchObject({ email: "first@client.example" });
  // The limit of one email per minute applies to each account separately.
  const foreignToken = await startChange("theirs@client.example", stranger.id);
  await passTime("11 seconds");
  const second = await startChange("second@client.example");
  expect(await read(first)).toBeNull();
  expect(await redeem(first)).toBe(false);
  expect(await read(second)).toMatchObject({ email: "second@client.example" });
  expect(await read(foreignToken)).toMatchObject({ account_id: stranger.id, email: "theirs@client.example" });
  expect(await redeem(second)).toBe(true);
  expect(await start("third@client.example")).toMatch(/^[0-9a-f]{64}$/);
});

test("Four parallel requests of one account start only one email change.", async () => {
  const args = { account_id: owner.id, email: "new@client.example" };
  const results = await callRepeatedly(testBackend, 4, { name: "start_email_change", args });
  expect(results.filter(({ result }) => typeof result === "string")).toHaveLength(1);
  expect(results.flatMap(({ rejection }) => rejection ?? [])).toEqual(Array(3).fill(tooSoon.slice(4)));
});

test("An email change to the address of another account has no link, and the account page looks the same as for a free address.", async () => {
  const free = await startChange("free@client.example");
  const accountWithFree = await readAccount();
  await passTime("61 seconds");
  for (const taken of [stranger.email, stranger.email.toUpperCase(), clerk.email, owner.email]) {
    expect(await start(taken)).toBeNull();
    expect(await start(taken)).toBe(tooSoon);
    expect(await start("free@client.example")).toBe(tooSoon);
    // The page does not reveal that the email address has an account.
    expect(await readAccount()).toEqual({ ...accountWithFree, new_email: taken.toLowerCase() });
    await passTime("61 seconds");
  }
  expect(await read(free)).toBeNull();
  expect(await redeem(free)).toBe(false);
});

test("An email change is redeemed if the account already has the address, and rejected if another account has the address.", async () => {
  const next = "by-now@client.example";
  const token = await startChange(next);
  const taker = await testBackend.newClient(next);
  expect(await redeem(token)).toBe(
    "409 You cannot use this email address. Enter another address on your account page.",
  );
  expect(await read(token)).toMatchObject({ account_id: owner.id, email: next });
  await rename(taker.id, "gave-way@client.example");
  // The account already has the new email address if an earlier change succeeded and its response was lost.
  await rename(owner.id, next);
  try {
    expect(await read(token)).toMatchObject({ account_id: owner.id, email: next, old_email: next });
    expect([await redeem(token), await redeem(token)]).toEqual([true, false]);
  } finally {
    await rename(owner.id, owner.email);
  }
});

test("A cancelled email change has no valid link, and a new email change can start immediately.", async () => {
  const { serviceRole } = testBackend;
  const password = await callRpc("issue_password_link", { account_id: owner.id, valid_hours: 1 }, serviceRole);
  const token = await startChange();
  const foreignToken = await startChange("theirs@client.example", stranger.id);
  for (const _twice of [1, 2]) expect(await cancel()).toBeNull();
  expect([await read(token), await redeem(token)]).toEqual([null, false]);
  expect(await read(foreignToken)).toMatchObject({ account_id: stranger.id });
  expect(await callRpc("password_link", { token: password }, serviceRole)).toMatchObject({ account_id: owner.id });
  expect(await start("new@client.example")).toMatch(/^[0-9a-f]{64}$/);
  await query("delete from private.password_links where account_id = $1", [owner.id]);
});

test("An email change needs an address of at most 254 characters and an existing account.", async () => {
  const long = `${"x".repeat(254 - 15)}@client.example`;
  expect(await start(`x${long}`)).toMatch(/^400 /);
  expect(await start(null)).toMatch(/^400 /);
  expect(await start("new@client.example", randomUUID())).toMatch(/^409 /);
  expect(await query("select from private.email_changes")).toEqual([]);
  expect(await start(long)).toMatch(/^[0-9a-f]{64}$/);
});
