import { randomUUID } from "node:crypto";
import { beforeAll, beforeEach, expect, test } from "vitest";
import { eraseAccount } from "../../app/models/retention.server.ts";
import { newAccessRoles } from "../support/access-roles.ts";
import {
  callRpcOrGetRejection,
  readPage,
  setUpTestBackend,
  type TestClient,
  type TestStaffMember,
} from "../support/database-suite.ts";
import { readDeskState, runAsCaller } from "../support/staff-members.ts";
import type { AppSupabaseClient } from "../support/test-backend.ts";

const { testBackend, query, listAccountAuditEntries } = setUpTestBackend();

let people: Awaited<ReturnType<typeof newAccessRoles>>;
let clerk: TestStaffMember;
let lead: TestStaffMember;
beforeAll(async () => {
  people = await newAccessRoles(testBackend);
  ({ clerk, lead } = people);
});

let client: TestClient;
let number = 0;
beforeEach(async () => {
  number += 1;
  client = await testBackend.newClient(`client-${number}@client.example`);
});
const setPhone = (phone: string | null, supabase: AppSupabaseClient = client.supabase) =>
  callRpcOrGetRejection("change_phone", { phone }, supabase);
const savePhone = (args: object, supabase: AppSupabaseClient = clerk.supabase) =>
  callRpcOrGetRejection("save_client_phone", { account_id: client.id, expected_version: 0, ...args }, supabase);
const readPhone = async (supabase = client.supabase) => (await readPage(supabase, "portal_account")).account.phone;
const readDeskPhone = async (supabase = clerk.supabase) => {
  const { opened } = await readPage(supabase, "desk_clients", { opened_id: client.id });
  return opened && [opened.phone, opened.phone_version];
};

test("A client saves, changes and removes the own telephone number, and other clients never see the number.", async () => {
  const stranger = await testBackend.newClient(`stranger-${number}@client.example`);
  expect(await readPhone()).toBeNull();
  for (const phone of ["+254722123456", "+25779123456", null, "+256772123456"]) {
    expect(await setPhone(phone)).toBeNull();
    expect([await readPhone(), await readPhone(stranger.supabase)]).toEqual([phone, null]);
  }
  expect(await readDeskPhone()).toEqual(["+256772123456", 4]);
  expect(await setPhone("+256772123456")).toBeNull();
  expect(await readDeskPhone()).toEqual(["+256772123456", 4]);
  expect(await listAccountAuditEntries(client.id)).toEqual([]);
});

test("The database stores only telephone numbers in international form.", async () => {
  await setPhone("+254722123456");
  for (const phone of [
    "0722123456",
    "+0722123456",
    "+254 722 123456",
    "+25472",
    `+${"1".repeat(16)}`,
    "",
    "+254722123456\n",
  ])
    expect(String(await setPhone(phone)), phone).toMatch(/^400 /);
  expect(await readPhone()).toBe("+254722123456");
});

test("A client can change the telephone number at most 20 times a day.", async () => {
  for (let change = 0; change < 20; change += 1) expect(await setPhone(`+2547221234${10 + change}`)).toBeNull();
  expect(await setPhone("+254722123456")).toMatch(
    /^429 You have reached the limit of 20 changes of your telephone number/,
  );
  expect(await readPhone()).toBe("+254722123429");
});

test("Only team members with a second factor can save a client's number, and only signed-in clients their own number.", async () => {
  await setPhone("+254722123456");
  const before = await readDeskState(testBackend);
  const args = { phone: "+254733000000", expected_version: 1 };
  for (const [role, supabase] of Object.entries(people.clientsByRole)) {
    if (role === "a clerk" || role === "a lead" || role === "the service role") continue;
    expect(String(await savePhone(args, supabase)), role).toMatch(/^(401|403) /);
    if (role.startsWith("a client") && !role.includes("code")) continue;
    expect(String(await setPhone("+254733000000", supabase)), role).toMatch(/^(401|403) /);
  }
  for (const member of [clerk, lead]) expect(await setPhone("+254733000000", member.supabase)).toMatch(/^403 /);
  expect(await readDeskState(testBackend)).toEqual(before);
  for (const token of [client.accessToken, clerk.accessToken, undefined]) {
    for (const statement of ["select phone from", "delete from"])
      await expect(
        runAsCaller(testBackend, token, (session) => session.unsafe(`${statement} private.client_phones`)),
      ).rejects.toThrow("permission denied");
  }
});

test("Clerks, leads and the service role can save and remove a client's number. The audit log never contains the number.", async () => {
  expect(await savePhone({ phone: "+254722123456" })).toBeNull();
  expect(await savePhone({ phone: "+256772123456", expected_version: 1 }, lead.supabase)).toBeNull();
  expect(await readPhone()).toBe("+256772123456");
  expect(await savePhone({ phone: "+256772123456", expected_version: 2 })).toBeNull();
  const command = { expected_version: null, actor_name: "Wanjiru" };
  expect(await savePhone(command, testBackend.serviceRole)).toBeNull();
  expect(await readPhone()).toBeNull();
  const entries = await query("select * from public.audit_log where account_id = $1 order by created_at", [client.id]);
  expect(entries.map(({ action, actor_name, before, after }) => [action, actor_name, before, after])).toEqual([
    ["account save-phone", clerk.name, null, { number: "added" }],
    ["account save-phone", lead.name, null, { number: "changed" }],
    ["account save-phone", "Wanjiru", null, { number: "removed" }],
  ]);
  expect(JSON.stringify(entries)).not.toMatch(/722123456|772123456/);
});

test("A number that changed meanwhile is not overwritten, not even after a removal. A form sent twice is one action.", async () => {
  await setPhone("+254722123456");
  const changed = "409 Someone has changed this telephone number. Check the new values, then try again.";
  expect(await savePhone({ phone: "+254733000000" })).toBe(changed);
  expect(await savePhone({ phone: "+254733000000", expected_version: null })).toMatch(/^400 /);
  await setPhone(null);
  await setPhone("+254711000000");
  expect(await savePhone({ phone: "+254733000000", expected_version: 1 })).toBe(changed);
  const form = { phone: "+254733000000", expected_version: 3, idempotency_key: randomUUID() };
  for (const _twice of [1, 2]) expect(await savePhone(form)).toBeNull();
  expect(await readDeskPhone()).toEqual(["+254733000000", 4]);
  expect(await listAccountAuditEntries(client.id)).toHaveLength(1);
});

test("The desk cannot save a number for a team member or an unknown account.", async () => {
  for (const account_id of [lead.id, clerk.id, randomUUID()])
    expect(await savePhone({ account_id, phone: "+254722123456" })).toBe("404 Client account not found.");
});

test("Erasing an account deletes the telephone number.", async () => {
  await setPhone("+254722123456");
  const { serviceRole } = testBackend;
  expect(await eraseAccount(serviceRole, serviceRole, client.id, "They asked")).toEqual({ result: client.email });
  expect(await query("select from private.client_phones where account_id = $1", [client.id])).toEqual([]);
  const log = await query("select * from public.audit_log where account_id = $1", [client.id]);
  expect(JSON.stringify(log)).not.toContain("722123456");
});
