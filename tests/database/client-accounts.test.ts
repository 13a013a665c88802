import { randomUUID } from "node:crypto";
import { beforeEach, expect, test } from "vitest";
import { getRejection, setUpDesk, type TestClient } from "../support/database-suite.ts";
import { readDeskState } from "../support/staff-members.ts";
import type { AppSupabaseClient } from "../support/test-backend.ts";

const { testBackend, clerk, lead, query, callRpc, listAccountAuditEntries } = setUpDesk();

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

test("Closing an account ends every session immediately, and no login succeeds until the account is reopened.", async () => {
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

test("Removing second factors also ends the account's sessions, and fails if the account has no factor.", async () => {
  const remove = () => callRpc("remove_second_factors", { account_id: client.id, reason: "A stolen telephone" });
  expect(await getRejection(remove())).toBe("409 2FA is not set up on this account.");
  await addSecondFactor(client.id, "unverified");
  expect(await getRejection(remove())).toMatch(/^409 /);
  expect(await query("select from auth.mfa_factors where user_id = $1", [client.id])).toHaveLength(1);
  await addSecondFactor(client.id, "verified");
  await addSecondFactor(client.id, "verified");
  expect(await remove()).toEqual({ removed: 2, email: client.email });
  expect(await query("select from auth.mfa_factors where user_id = $1", [client.id])).toEqual([]);
  expect((await client.supabase.auth.refreshSession()).error).not.toBeNull();
  expect(await canLogIn(client.email, password)).toBe(true);
  const entry = { action: "account reset-2fa", reason: "A stolen telephone", before: null, after: { removed: 2 } };
  expect(await listActions()).toEqual([{ ...entry, actor_name: clerk.name }]);
});

test("A password link can be requested for an account, but not for a closed or unconfirmed account.", async () => {
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

test("An account is not erased while a shipment must be stored, and the error names the last day.", async () => {
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
    "409 Nothing was deleted. We must store the shipment records of this account until 2039-05-04.",
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
