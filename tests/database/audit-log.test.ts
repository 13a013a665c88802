import { beforeEach, expect, test } from "vitest";
import {
  countExpiredAuditEntries,
  deleteExpiredAuditEntries,
  listAuditEntries,
  recordAuditEntry,
  type StoredAuditEntry,
} from "../../app/models/audit-log.server.ts";
import { setUpTestBackend } from "../support/database-suite.ts";

const { testBackend, query } = setUpTestBackend();
const shipment = "5a000000-0000-4000-8000-000000000001";

// Disables the triggers of the table, because a trigger prevents even the database's owner from deleting rows.
beforeEach(async () => {
  await testBackend.backend.db.exec(
    "alter table public.audit_log disable trigger user; delete from public.audit_log; alter table public.audit_log enable trigger user;",
  );
});

/** Adds an audit entry that is `years` and `days` old. */
const insertAuditEntry = (action: string, years = 0, days = 0) =>
  query(
    `insert into public.audit_log (actor_name, action, shipment_id, created_at)
     values ('Wanjiru', $1, $2, now() - make_interval(years => $3, days => $4))`,
    [action, shipment, years, days],
  );

async function collectAuditEntries(since?: string): Promise<StoredAuditEntry[]> {
  const all = [];
  for await (const page of listAuditEntries(testBackend.serviceRole, since)) all.push(...page);
  return all;
}

test("An audit entry has the actor, the target, the change and the reason.", async () => {
  const before = { awb: null };
  const after = { awb: "MEDUX4471203" };
  await recordAuditEntry(testBackend.serviceRole, "Wanjiru", {
    action: "shipment set-numbers",
    shipment_id: shipment,
    before,
    after,
    reason: "It came late",
  });
  expect(await collectAuditEntries()).toEqual([
    {
      id: expect.any(String),
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*[+-]\d\d:\d\d$/),
      actor_name: "Wanjiru",
      staff_id: null,
      action: "shipment set-numbers",
      shipment_id: shipment,
      document_id: null,
      account_id: null,
      before,
      after,
      reason: "It came late",
    },
  ]);
});

test("The audit log is listed completely, newest first, or from a given time.", async () => {
  await query(
    `insert into public.audit_log (actor_name, action, created_at)
     select 'Wanjiru', 'action ' || number, timestamptz '2026-01-01' + make_interval(hours => number)
     from generate_series(1, 2100) as number`,
  );
  const all = await collectAuditEntries();
  expect(all.map(({ action }) => action)).toEqual(Array.from({ length: 2100 }, (_, index) => `action ${2100 - index}`));
  const newest = await collectAuditEntries(all[1]?.created_at);
  expect(newest.map(({ action }) => action)).toEqual(["action 2100", "action 2099"]);
});

test.each([
  "update public.audit_log set actor_name = 'x'",
  "delete from public.audit_log",
  "truncate public.audit_log",
  "truncate public.audit_log cascade",
])("The owner of the database cannot change the audit log by the statement: %s.", async (statement) => {
  await insertAuditEntry("written", 6, 364);
  await expect(testBackend.backend.db.exec(statement)).rejects.toThrow(
    "Entries in the audit log cannot be changed or deleted.",
  );
  expect(await collectAuditEntries()).toMatchObject([{ action: "written", actor_name: "Wanjiru" }]);
});

test("Retention deletes an audit entry after seven years and never changes an entry.", async () => {
  await insertAuditEntry("old", 7, 1);
  await insertAuditEntry("recent", 6, 364);
  await expect(query("update public.audit_log set reason = 'x' where action = 'old'")).rejects.toThrow();
  expect(await countExpiredAuditEntries(testBackend.serviceRole)).toBe(1);
  expect(await deleteExpiredAuditEntries(testBackend.serviceRole)).toBe(1);
  expect((await collectAuditEntries()).map(({ action }) => action)).toEqual(["recent"]);
  expect(await deleteExpiredAuditEntries(testBackend.serviceRole)).toBe(0);
});

test("Deleting an account does not delete its audit entries.", async () => {
  const client = await testBackend.newClient("leaving@client.example");
  await recordAuditEntry(testBackend.serviceRole, "Wanjiru", { action: "account reset-2fa", account_id: client.id });
  await testBackend.serviceRole.from("client_ids").delete().eq("account_id", client.id);
  expect((await testBackend.serviceRole.auth.admin.deleteUser(client.id)).error).toBeNull();
  expect(await collectAuditEntries()).toContainEqual(expect.objectContaining({ account_id: client.id }));
});
