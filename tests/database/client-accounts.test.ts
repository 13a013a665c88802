import { randomUUID } from "node:crypto";
import { beforeEach, describe, expect, test } from "vitest";
import { eraseAccount } from "../../app/models/retention.server.ts";
import {
  callRpcOrGetRejection,
  getRejection,
  readPage,
  setUpDesk,
  type TestClient,
} from "../support/database-suite.ts";
import { callRepeatedly, readDeskState } from "../support/staff-members.ts";
import type { AppSupabaseClient } from "../support/test-backend.ts";

const { testBackend, clerk, lead, query, callRpc, listAccountAuditEntries, owner, setUpClient } = setUpDesk();

const password = "a good password";
let client: TestClient;
let number = 0;
beforeEach(async () => {
  number += 1;
  client = await testBackend.newClient(`client-${number}@client.example`, password);
});
const close = (more: object = {}) => callRpc("close_account", { account_id: client.id, reason: "They asked", ...more });
const reopen = (more: object = {}) =>
  callRpc("reopen_account", { account_id: client.id, reason: "They called", ...more });
const listActions = () => listAccountAuditEntries(client.id);
const countShipments = async (supabase: AppSupabaseClient) =>
  (await supabase.from("shipments").select("id")).data?.length ?? "nothing";

test("Closing an account ends all its sessions immediately, and logging in fails until the account is reopened.", async () => {
  await client.supabase.from("shipments").insert({ name: "Tea", user_id: client.id });
  const endedClient = testBackend.withToken(client.accessToken);
  expect(await countShipments(endedClient)).toBe(1);
  await close();
  expect(await countShipments(endedClient)).not.toBe(1);
  expect((await endedClient.rpc("get_viewer", {}, { get: true })).data).toEqual({ viewer: null });
  expect((await client.supabase.auth.refreshSession()).error).not.toBeNull();
  expect(await canLogIn(client.email, password)).toBe(false);
  expect(await getRejection(close())).toBe("409 This account is already closed.");
  await reopen();
  expect(await canLogIn(client.email, password)).toBe(true);
  expect(await countShipments(endedClient)).not.toBe(1);
  expect(await getRejection(reopen())).toBe("409 This account is already open.");
  expect((await listActions()).map(({ action, reason }) => [action, reason])).toEqual([
    ["account close", "They asked"],
    ["account reopen", "They called"],
  ]);
});

test("Only a client's account can be closed, reopened or erased.", async () => {
  for (const account_id of [lead.id, clerk.id, randomUUID()]) {
    for (const run of [close, reopen, erase]) {
      expect(await getRejection(run({ account_id }))).toBe("404 Client account not found.");
    }
  }
  expect(await listActions()).toEqual([]);
  expect((await clerk.supabase.from("staff_members").select("account_id")).data).not.toEqual([]);
});

test("Removing an account's second factors also ends its sessions, and fails if the account has no second factor.", async () => {
  const remove = () => callRpc("remove_second_factors", { account_id: client.id, reason: "A stolen telephone" });
  expect(await getRejection(remove())).toBe("409 2FA is not set up on this account.");
  await addSecondFactor(client.id, "unverified");
  expect(await getRejection(remove())).toMatch(/^409 /);
  expect(await query("select from auth.mfa_factors where user_id = $1", [client.id])).toHaveLength(1);
  await addSecondFactor(client.id, "verified");
  await addSecondFactor(client.id, "verified");
  expect(await remove()).toBe(client.email);
  expect(await query("select from auth.mfa_factors where user_id = $1", [client.id])).toEqual([]);
  expect((await client.supabase.auth.refreshSession()).error).not.toBeNull();
  expect(await canLogIn(client.email, password)).toBe(true);
  const entry = { action: "account reset-2fa", reason: "A stolen telephone", before: null, after: { removed: 2 } };
  expect(await listActions()).toEqual([{ ...entry, actor_name: clerk.name }]);
});

test("A password link can be requested for an open account, but not for a closed or unconfirmed account.", async () => {
  const requestLink = (account = client.id) => callRpc("request_password_link", { account_id: account });
  expect(await requestLink()).toBe(client.email);
  await close();
  const unavailable = "409 You can send a password link only to an open account with a confirmed email address.";
  expect(await getRejection(requestLink())).toBe(unavailable);
  expect(await getRejection(requestLink(randomUUID()))).toBe(unavailable);
  const [row] = (await testBackend.serviceRole.rpc("issue_client_ids", {})).data ?? [];
  const options = { data: { full_name: "Never Came", client_id: row?.client_id } };
  const form = { email: `never-${number}@client.example`, password, options };
  const waiting = await testBackend.anonymous().auth.signUp(form);
  expect(await getRejection(requestLink(waiting.data.user?.id))).toBe(unavailable);
  expect((await listActions()).map(({ action }) => action)).toEqual(["account send-password-link", "account close"]);
});

const erase = (more: object = {}) => callRpc("start_erasure", { account_id: client.id, reason: "They asked", ...more });

test("An account with a shipment in its retention period cannot be erased, and the error names the period's last day.", async () => {
  await client.supabase.from("shipments").insert({ name: "Tea", user_id: client.id });
  await client.supabase.from("shipments").insert({ name: "Coffee", user_id: client.id });
  const setRetentionEnd = (day: string, name = "%") =>
    query(`update public.shipments set retention_ends_on = ${day} where user_id = $1 and name like $2`, [
      client.id,
      name,
    ]);
  await setRetentionEnd("'2039-05-04'", "Tea");
  const before = await readDeskState(testBackend);
  expect(await getRejection(erase())).toBe(
    "409 Nothing was deleted. We must store the shipment records of this account until 4 May 2039.",
  );
  expect(await readDeskState(testBackend)).toEqual(before);
  await setRetentionEnd("(now() at time zone 'UTC')::date");
  expect(await getRejection(erase())).toMatch(/^409 /);
  await setRetentionEnd("(now() at time zone 'UTC')::date - 1");
  expect(await erase()).toBe(client.email);
  expect(await listActions()).toEqual([
    { action: "account erase", reason: "They asked", before: null, after: null, actor_name: clerk.name },
  ]);
  expect(await canLogIn(client.email, password)).toBe(false);
  expect((await client.supabase.auth.refreshSession()).error).not.toBeNull();
});

test("The start of an erasure ends every session of the account immediately.", async () => {
  const session = testBackend.withToken(client.accessToken);
  const readViewer = async () => (await session.rpc("get_viewer", {}, { get: true })).data;
  expect(await readViewer()).toMatchObject({ viewer: { email: client.email } });
  await erase();
  expect(await readViewer()).toEqual({ viewer: null });
});

async function addSecondFactor(account: string, status: string): Promise<void> {
  await query(
    `insert into auth.mfa_factors (id, user_id, friendly_name, factor_type, status, secret)
     values (gen_random_uuid(), $1, gen_random_uuid()::text, 'totp', $2, 'JBSWY3DPEHPK3PXP')`,
    [account, status],
  );
}

async function canLogIn(email: string, password: string): Promise<boolean> {
  return (await testBackend.anonymous().auth.signInWithPassword({ email, password })).error === null;
}

describe("Erasure requests", () => {
  const stranger = setUpClient("stranger@client.example");

  beforeEach(() => query("delete from private.erasure_requests"));
  const request = (requested: boolean | null, supabase: AppSupabaseClient = owner.supabase) =>
    callRpcOrGetRejection("set_erasure_request", { requested }, supabase);
  const rejectRequest = (supabase: AppSupabaseClient, more: object = {}) =>
    callRpcOrGetRejection(
      "reject_erasure",
      { account_id: owner.id, reason: " Until 2033 the law asks for them ", ...more },
      supabase,
    );
  const listRequests = () =>
    query("select account_id, requested_at from private.erasure_requests order by requested_at");
  const noRequest = "409 This client has no open erasure request.";

  test("Repeated erasure requests of a client count as one request, and the client can withdraw this request.", async () => {
    expect(await request(true)).toBeNull();
    const [first] = await listRequests();
    expect(first).toMatchObject({ account_id: owner.id });
    expect(await request(true)).toBeNull();
    const call = { name: "set_erasure_request", args: { requested: true }, token: owner.accessToken };
    const results = await callRepeatedly(testBackend, 10, call);
    expect(results.flatMap(({ rejection }) => rejection ?? [])).toEqual([]);
    expect(await listRequests()).toEqual([first]);
    await request(true, stranger.supabase);
    expect(await readRequestTime()).toEqual(expect.any(String));
    for (const _twice of [1, 2]) expect(await request(false)).toBeNull();
    expect((await listRequests()).map(({ account_id }) => account_id)).toEqual([stranger.id]);
    expect(await readRequestTime()).toBeNull();
  });

  test("A team member cannot request erasure.", async () => {
    expect(await request(true, clerk.supabase)).toBe("403 Log in again to continue.");
    expect(await listRequests()).toEqual([]);
  });

  test("The desk lists open erasure requests, oldest first, until a team member erases the account or rejects the request.", async () => {
    const readToday = () => readPage(clerk.supabase, "desk_today");
    const readClient = async (id: string) => (await readPage(clerk.supabase, "desk_clients", { opened_id: id })).opened;
    expect((await readToday()).erasure_requests).toEqual({ count: 0, rows: [] });
    expect(await readClient(owner.id)).toMatchObject({ erasure_requested_at: null });
    await request(true, stranger.supabase);
    await request(true);
    const dayAgo = "update private.erasure_requests set requested_at = now() - interval '1 day' where account_id = $1";
    await query(dayAgo, [owner.id]);
    const noName = "update auth.users set raw_user_meta_data = raw_user_meta_data - 'full_name' where id = $1";
    await query(noName, [stranger.id]);
    const requested_at = expect.any(String);
    expect((await readToday()).erasure_requests).toEqual({
      count: 2,
      rows: [
        { account_id: owner.id, name: `Client ${owner.email}`, requested_at },
        { account_id: stranger.id, name: stranger.email, requested_at },
      ],
    });
    expect((await readClient(owner.id)).erasure_requested_at).toBe(
      (await readToday()).erasure_requests.rows[0].requested_at,
    );
    expect(await rejectRequest(clerk.supabase)).toBe(owner.email);
    expect((await readToday()).erasure_requests).toMatchObject({ count: 1, rows: [{ account_id: stranger.id }] });
    expect(await readClient(owner.id)).toMatchObject({ erasure_requested_at: null });
  });

  test("A team member can reject an erasure request once, and the audit log contains the reason.", async () => {
    await request(true);
    const before = await listAccountAuditEntries(owner.id);
    for (const account of [stranger.id, clerk.id, randomUUID()]) {
      expect(await rejectRequest(clerk.supabase, { account_id: account })).toBe(noRequest);
    }
    expect(await listAccountAuditEntries(owner.id)).toEqual(before);
    expect(await listRequests()).toHaveLength(1);
    const args = { account_id: owner.id, reason: " Until 2033 the law asks for them " };
    const results = await callRepeatedly(testBackend, 5, { name: "reject_erasure", args, token: clerk.accessToken });
    expect(results.filter(({ result }) => result === owner.email)).toHaveLength(1);
    expect(results.flatMap(({ rejection }) => rejection ?? [])).toEqual(Array(4).fill(noRequest.slice(4)));
    const reason = "Until 2033 the law asks for them";
    const entry = { action: "account reject-erasure", before: null, after: null, reason };
    expect((await listAccountAuditEntries(owner.id)).slice(before.length)).toEqual([
      { ...entry, actor_name: clerk.name },
    ]);
    expect(await rejectRequest(clerk.supabase)).toBe(noRequest);
    // A staff command can also reject an erasure request.
    await request(true);
    expect(await rejectRequest(testBackend.serviceRole, { actor_name: "Wanjiru" })).toBe(owner.email);
    expect((await listAccountAuditEntries(owner.id)).at(-1)).toEqual({ ...entry, actor_name: "Wanjiru" });
  });

  test("Erasing an account also deletes the account's erasure request and email change.", async () => {
    const erasedClient = await testBackend.newClient("erased@client.example");
    expect(await request(true, erasedClient.supabase)).toBeNull();
    const { serviceRole } = testBackend;
    await callRpcOrGetRejection(
      "start_email_change",
      { account_id: erasedClient.id, email: "too@client.example" },
      serviceRole,
    );
    expect(await eraseAccount(serviceRole, serviceRole, erasedClient.id, "They asked")).toEqual({
      result: erasedClient.email,
    });
    expect(await listRequests()).toEqual([]);
    expect(await query("select from private.email_changes where account_id = $1", [erasedClient.id])).toEqual([]);
  });

  async function readRequestTime(): Promise<string | null> {
    return (await readPage(owner.supabase, "portal_account")).account.erasure_requested_at;
  }
});
