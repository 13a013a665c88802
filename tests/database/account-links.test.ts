import { randomUUID } from "node:crypto";
import { beforeEach, describe, expect, test } from "vitest";
import { callRpcOrGetRejection, hashToken, readPage } from "../support/database-suite.ts";
import { callRepeatedly } from "../support/staff-members.ts";
import { setUpTeam } from "../support/team-suite.ts";

const { testBackend, client, lead, query, callRpc, issueLink, readLink, owner, clerk, setUpClient } = setUpTeam();

const redeemLink = (token: string) => callRpc("redeem_password_link", { token }, testBackend.serviceRole);

describe("Password links", () => {
  test("Reading a password link returns the account with its role and second factors, and does not redeem the link.", async () => {
    expect(await readLink(await issueLink(lead.id, 7 * 24))).toMatchObject({ account_id: lead.id, is_invite: true });
    const leadToken = await issueLink(lead.id);
    expect(leadToken).toMatch(/^[0-9a-f]{64}$/);
    const factors = [{ id: lead.factorId, name: "Phone" }];
    for (let time = 0; time < 2; time += 1) {
      expect(await readLink(leadToken)).toEqual({
        ...{ account_id: lead.id, email: lead.email, is_staff: true, is_invite: false, factors },
      });
    }
    expect(await readLink(await issueLink(client.id))).toEqual({
      ...{ account_id: client.id, email: client.email, is_staff: false, is_invite: false, factors: [] },
    });
  });

  test("A redeemed password link can be made valid again within two minutes.", async () => {
    const token = await issueLink();
    await redeemLink(token);
    await callRpc("restore_password_link", { token }, testBackend.serviceRole);
    expect(await readLink(token)).toMatchObject({ account_id: client.id });
    expect(await redeemLink(token)).toBe(true);
    await query(
      "update private.password_links set redeemed_at = now() - interval '3 minutes' where redeemed_at is not null",
    );
    await callRpc("restore_password_link", { token }, testBackend.serviceRole);
    expect([await readLink(token), await redeemLink(token)]).toEqual([null, false]);
  });

  test("Only one of eight parallel requests redeems a password link.", async () => {
    const token = await issueLink();
    const results = await callRepeatedly(testBackend, 8, { name: "redeem_password_link", args: { token } });
    expect(results.map(({ result }) => result).sort()).toEqual([...Array(7).fill(false), true]);
    expect([await readLink(token), await redeemLink(token)]).toEqual([null, false]);
  });

  test("A new password link invalidates the account's earlier links, even in parallel requests, but no other account's links.", async () => {
    const leadToken = await issueLink(lead.id);
    const [first, second] = [await issueLink(), await issueLink()];
    expect([await readLink(first), await redeemLink(first)]).toEqual([null, false]);
    expect(await readLink(second)).toMatchObject({ account_id: client.id });
    const args = { account_id: client.id, valid_hours: 1 };
    const issued = await callRepeatedly(testBackend, 6, { name: "issue_password_link", args });
    const links = await Promise.all(issued.map(({ result }) => readLink(String(result))));
    expect(links.filter(Boolean)).toHaveLength(1);
    expect(await readLink(leadToken)).toMatchObject({ account_id: lead.id });
  });

  test("A password link is valid for the given number of hours.", async () => {
    const token = await issueLink(client.id, 168);
    const rows = await query(
      `select expires_at > now() + interval '167 hours' and expires_at <= now() + interval '168 hours' as is_in_time
       from private.password_links where account_id = $1`,
      [client.id],
    );
    expect(rows).toEqual([{ is_in_time: true }]);
    await query("update private.password_links set expires_at = now() where account_id = $1", [client.id]);
    expect([await readLink(token), await redeemLink(token)]).toEqual([null, false]);
  });

  test("A wrong token redeems no password link, and the database stores only the token's hash.", async () => {
    const token = await issueLink();
    const [stored] = await query<{ token_hash: string }>(
      "select token_hash from private.password_links where account_id = $1",
      [client.id],
    );
    expect(JSON.stringify(await query("select * from private.password_links"))).not.toContain(token);
    for (const guess of ["", "%", token.slice(0, 63), token.toUpperCase(), `${token} `, stored?.token_hash ?? ""]) {
      expect([await readLink(guess), await redeemLink(guess)], guess).toEqual([null, false]);
    }
    expect(await readLink(token)).not.toBeNull();
  });

  test("Closing an account invalidates its password links, and a new link of a closed account is invalid.", async () => {
    const before = await issueLink();
    await callRpc("close_account", { account_id: client.id, reason: "They asked" });
    expect(await readLink(before)).toBeNull();
    await callRpc("reopen_account", { account_id: client.id, reason: "They called" });
    expect(await readLink(before)).toBeNull();
    await callRpc("close_account", { account_id: client.id, reason: "They asked" });
    expect(await readLink(await issueLink())).toBeNull();
    await callRpc("reopen_account", { account_id: client.id, reason: "They called" });
  });
});

describe("Emails of forms that arrive twice", () => {
  const invitation = { kind: "team invite", email: "a@company.example" };
  const claimEmail = (request: string, email = invitation) =>
    callRpc("claim_email", { idempotency_key: request, email }, testBackend.serviceRole);
  const releaseEmail = (request: string) =>
    callRpc("release_email", { idempotency_key: request, email: invitation }, testBackend.serviceRole);

  test("Only one of eight parallel requests with the same form may send the form's email. Each address and kind counts separately.", async () => {
    const args = { idempotency_key: randomUUID(), email: invitation };
    const results = await callRepeatedly(testBackend, 8, { name: "claim_email", args });
    expect(results.filter(({ result }) => result === true)).toHaveLength(1);
    expect(await claimEmail(args.idempotency_key)).toBe(false);
    expect(await claimEmail(args.idempotency_key, { ...invitation, email: "b@company.example" })).toBe(true);
    expect(await claimEmail(args.idempotency_key, { ...invitation, kind: "new password" })).toBe(true);
  });

  test("A second request with the same form may send the email after the first request failed or after two minutes.", async () => {
    const request = randomUUID();
    expect([await claimEmail(request), await claimEmail(request)]).toEqual([true, false]);
    await releaseEmail(request);
    expect([await claimEmail(request), await claimEmail(request)]).toEqual([true, false]);
    await query("update private.email_claims set claimed_at = now() - interval '121 seconds'");
    expect([await claimEmail(request), await claimEmail(request)]).toEqual([true, false]);
  });
});

describe("Email changes", () => {
  const stranger = setUpClient("stranger@client.example");

  beforeEach(() => query("delete from private.email_changes"));
  const start = (email: string | null, account = owner.id) =>
    callRpcOrGetRejection("start_email_change", { account_id: account, email }, testBackend.serviceRole);
  const startChange = async (email = "new@client.example", account = owner.id) => String(await start(email, account));
  const read = (token: string | null) => callRpcOrGetRejection("email_change", { token }, testBackend.serviceRole);
  const redeem = (token: string | null) =>
    callRpcOrGetRejection("redeem_email_change", { token }, testBackend.serviceRole);
  const cancel = () => callRpcOrGetRejection("cancel_email_change", { account_id: owner.id }, testBackend.serviceRole);
  const rename = (account: string, email: string) =>
    query("update auth.users set email = $2 where id = $1", [account, email]);
  /** Makes every email change expire earlier by `time`. */
  const passTime = (time: string) =>
    query("update private.email_changes set expires_at = expires_at - $1::interval", [time]);
  const readAccount = async (): Promise<object> => (await readPage(owner.supabase, "portal_account")).account;
  const tooSoon = "429 We have just sent you an email. Wait one minute, then try again.";

  test("The link of an email change can be read many times. Only one of ten parallel requests redeems the link.", async () => {
    const token = await startChange("New@Client.Example");
    expect(token).toMatch(/^[0-9a-f]{64}$/);
    const change = { account_id: owner.id, email: "new@client.example", old_email: owner.email, factors: [] };
    for (const _twice of [1, 2]) expect(await read(token)).toEqual(change);
    const rows = await query("select * from private.email_changes");
    expect(rows).toHaveLength(1);
    expect(JSON.stringify(rows)).not.toContain(token);
    const results = await callRepeatedly(testBackend, 10, { name: "redeem_email_change", args: { token } });
    expect(results.map(({ result }) => result).sort()).toEqual([...Array(9).fill(false), true]);
    expect(await read(token)).toBeNull();
    // Redeeming the link does not change the email address, which only Supabase Auth can change.
    expect(await query("select email from auth.users where id = $1", [owner.id])).toEqual([{ email: owner.email }]);
  });

  test("An email change cannot be read or redeemed with a wrong token or a token that is a day old.", async () => {
    const token = await startChange();
    const wrong = [
      token.toUpperCase(),
      token.slice(1),
      `${token} `,
      hashToken(token),
      "0".repeat(64),
      "",
      "%",
      owner.id,
    ];
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

  test("An email change of a closed account cannot be read or redeemed.", async () => {
    const closedClient = await testBackend.newClient("leaving@client.example");
    const token = await startChange("left@client.example", closedClient.id);
    const closing = { account_id: closedClient.id, reason: "They asked" };
    expect(await callRpcOrGetRejection("close_account", closing, clerk.supabase)).toBe(closedClient.email);
    expect(await read(token)).toBeNull();
    expect(await redeem(token)).toBe(false);
    expect(await callRpcOrGetRejection("reopen_account", closing, clerk.supabase)).toBe(closedClient.email);
    expect(await read(token)).toMatchObject({ account_id: closedClient.id });
    expect(await redeem(token)).toBe(true);
  });

  test("Redeeming an email change invalidates the account's password links, which were sent to the previous address.", async () => {
    const [ownLink, foreignLink] = [await issueLink(owner.id), await issueLink(stranger.id)];
    expect(await redeem(await startChange())).toBe(true);
    expect(await readLink(ownLink)).toBeNull();
    expect(await readLink(foreignLink)).toMatchObject({ account_id: stranger.id });
  });

  test("An email change of a team member can neither be read nor redeemed.", async () => {
    const token = await startChange("clerk-too@company.example", clerk.id);
    expect(token).toMatch(/^[0-9a-f]{64}$/);
    expect([await read(token), await redeem(token)]).toEqual([null, false]);
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

  test("An email change to another account's address has no link, but the account page looks the same as for an unused address.", async () => {
    const free = await startChange("free@client.example");
    const accountWithFree = await readAccount();
    await passTime("61 seconds");
    for (const taken of [stranger.email, stranger.email.toUpperCase(), clerk.email, owner.email]) {
      expect(await start(taken)).toBeNull();
      expect(await start(taken)).toBe(tooSoon);
      expect(await start("free@client.example")).toBe(tooSoon);
      // The account page must not reveal that another account has the email address.
      expect(await readAccount()).toEqual({ ...accountWithFree, new_email: taken.toLowerCase() });
      await passTime("61 seconds");
    }
    expect(await read(free)).toBeNull();
    expect(await redeem(free)).toBe(false);
  });

  test("An email change can be redeemed if its own account already has the address, but not if another account has the address.", async () => {
    const next = "by-now@client.example";
    const token = await startChange(next);
    const taker = await testBackend.newClient(next);
    expect(await redeem(token)).toBe(
      "409 You cannot use this email address. Enter another address on your account page.",
    );
    expect(await read(token)).toMatchObject({ account_id: owner.id, email: next });
    await rename(taker.id, "gave-way@client.example");
    // The account already has the new email address if the first request succeeded and the response was lost.
    await rename(owner.id, next);
    try {
      expect(await read(token)).toMatchObject({ account_id: owner.id, email: next, old_email: next });
      expect([await redeem(token), await redeem(token)]).toEqual([true, false]);
    } finally {
      await rename(owner.id, owner.email);
    }
  });

  test("Cancelling an email change invalidates its link, and a new email change can start immediately.", async () => {
    const { serviceRole } = testBackend;
    const password = await issueLink(owner.id);
    const token = await startChange();
    const foreignToken = await startChange("theirs@client.example", stranger.id);
    for (const _twice of [1, 2]) expect(await cancel()).toBeNull();
    expect([await read(token), await redeem(token)]).toEqual([null, false]);
    expect(await read(foreignToken)).toMatchObject({ account_id: stranger.id });
    expect(await callRpcOrGetRejection("password_link", { token: password }, serviceRole)).toMatchObject({
      account_id: owner.id,
    });
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
});
