import { randomUUID } from "node:crypto";
import { beforeEach, expect, test } from "vitest";
import { eraseAccount } from "../../app/models/retention.server.ts";
import { callRpcOrGetRejection as callRpc, readPage, setUpDesk } from "../support/database-suite.ts";
import { callRepeatedly } from "../support/staff-members.ts";
import type { AppSupabaseClient } from "../support/test-backend.ts";

const { testBackend, owner, clerk, query, setUpClient, listAccountAuditEntries } = setUpDesk();
const stranger = setUpClient("stranger@client.example");

beforeEach(() => query("delete from private.erasure_requests"));
const request = (requested: boolean | null, supabase: AppSupabaseClient = owner.supabase) =>
  callRpc("set_erasure_request", { requested }, supabase);
const reject = (supabase: AppSupabaseClient, more: object = {}) =>
  callRpc("reject_erasure", { account_id: owner.id, reason: " Until 2033 the law asks for them ", ...more }, supabase);
const listRequests = () => query("select account_id, requested_at from private.erasure_requests order by requested_at");
const noRequest = "409 This client has no open erasure request.";

test("A client's repeated erasure requests count as one request, which the client can withdraw.", async () => {
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

test("The desk lists erasure requests, oldest first, until a team member answers.", async () => {
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
  expect(await reject(clerk.supabase)).toBe(owner.email);
  expect((await readToday()).erasure_requests).toMatchObject({ count: 1, rows: [{ account_id: stranger.id }] });
  expect(await readClient(owner.id)).toMatchObject({ erasure_requested_at: null });
});

test("A team member rejects an erasure request once, with a reason that the log has.", async () => {
  await request(true);
  const before = await listAccountAuditEntries(owner.id);
  for (const account of [stranger.id, clerk.id, randomUUID()]) {
    expect(await reject(clerk.supabase, { account_id: account })).toBe(noRequest);
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
  expect(await reject(clerk.supabase)).toBe(noRequest);
  // A staff command can reject a new request.
  await request(true);
  expect(await reject(testBackend.serviceRole, { actor_name: "Wanjiru" })).toBe(owner.email);
  expect((await listAccountAuditEntries(owner.id)).at(-1)).toEqual({ ...entry, actor_name: "Wanjiru" });
});

test("Erasing an account removes its erasure request and its email change.", async () => {
  const erasedClient = await testBackend.newClient("erased@client.example");
  expect(await request(true, erasedClient.supabase)).toBeNull();
  const { serviceRole } = testBackend;
  await callRpc("start_email_change", { account_id: erasedClient.id, email: "too@client.example" }, serviceRole);
  expect(await eraseAccount(serviceRole, serviceRole, erasedClient.id, "They asked")).toEqual({
    result: erasedClient.email,
  });
  expect(await listRequests()).toEqual([]);
  expect(await query("select from private.email_changes where account_id = $1", [erasedClient.id])).toEqual([]);
});

async function readRequestTime(): Promise<string | null> {
  return (await readPage(owner.supabase, "portal_account")).account.erasure_requested_at;
}
