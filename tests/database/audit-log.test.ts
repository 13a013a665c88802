import type { SupabaseClient } from "@supabase/supabase-js";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import {
  countExpiredAuditEntries,
  deleteExpiredAuditEntries,
  listAuditEntries,
  recordAuditEntry,
  type StoredAuditEntry,
} from "../../app/models/audit-log.server.ts";
import { startTestBackend } from "../support/test-backend.ts";

let testBackend: Awaited<ReturnType<typeof startTestBackend>>;
let clientsByRole: Record<string, SupabaseClient>;
beforeAll(async () => {
  testBackend = await startTestBackend();
  const client = await testBackend.newClient("client@client.example");
  clientsByRole = {
    "a visitor": testBackend.anonymous(),
    "a client": client.supabase,
    "the company": testBackend.serviceRole,
  };
});
afterAll(() => testBackend.close());

const shipment = "5a000000-0000-4000-8000-000000000001";

// Only with its trigger disabled can the table be emptied: no user of the API or the database may do that.
beforeEach(async () => {
  await testBackend.backend.db.exec(
    "alter table public.audit_log disable trigger user; delete from public.audit_log; alter table public.audit_log enable trigger user;",
  );
});

/** An act of so many years and days ago. */
const insertAuditEntry = (action: string, years = 0, days = 0) =>
  testBackend.backend.db.query(
    `insert into public.audit_log (actor_name, action, shipment_id, created_at)
     values ('Wanjiru', $1, $2, now() - make_interval(years => $3, days => $4))`,
    [action, shipment, years, days],
  );

async function collectAuditEntries(since?: string): Promise<StoredAuditEntry[]> {
  const all = [];
  for await (const page of listAuditEntries(testBackend.serviceRole, since)) all.push(...page);
  return all;
}

test("an act is kept with who did it, to what, what it changed and why", async () => {
  const before = { awb: null };
  const after = { awb: "MEDUX4471203" };
  await recordAuditEntry(testBackend.serviceRole, "Wanjiru", {
    action: "shipment set-awb",
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
      action: "shipment set-awb",
      shipment_id: shipment,
      document_id: null,
      account_id: null,
      before,
      after,
      reason: "It came late",
    },
  ]);
});

test("the log comes newest first, whole however long it is, and from a day on where one is named", async () => {
  await testBackend.backend.db.query(
    `insert into public.audit_log (actor_name, action, created_at)
     select 'Wanjiru', 'act ' || number, timestamptz '2026-01-01' + make_interval(hours => number)
     from generate_series(1, 2100) as number`,
  );
  const all = await collectAuditEntries();
  expect(all.map(({ action }) => action)).toEqual(Array.from({ length: 2100 }, (_, index) => `act ${2100 - index}`));
  expect((await collectAuditEntries(all[1]?.created_at)).map(({ action }) => action)).toEqual(["act 2100", "act 2099"]);
});

describe("what is written stays", () => {
  type Attempt = (supabase: SupabaseClient) => PromiseLike<{ data: unknown; error: { code?: string } | null }>;
  const attempts: Record<string, Attempt> = {
    insert: (supabase) => supabase.from("audit_log").insert({ actor_name: "x", action: "forged" }).select("*"),
    update: (supabase) => supabase.from("audit_log").update({ actor_name: "x" }).eq("action", "written").select("*"),
    delete: (supabase) => supabase.from("audit_log").delete().eq("action", "written").select("*"),
  };
  const others: Record<string, Attempt> = {
    "record_audit_entry()": (supabase) => supabase.rpc("record_audit_entry", { actor_name: "x", action: "forged" }),
    "count_expired_audit_entries()": (supabase) => supabase.rpc("count_expired_audit_entries"),
    "delete_expired_audit_entries()": (supabase) => supabase.rpc("delete_expired_audit_entries"),
  };
  const cases = [
    ...["a visitor", "a client", "the company"].flatMap((who) => Object.keys(attempts).map((what) => [what, who])),
    ...["a visitor", "a client"].flatMap((who) => Object.keys(others).map((what) => [what, who])),
  ];
  test.each(cases)("%s is refused to %s", async (what = "", who = "") => {
    await insertAuditEntry("written", 8);
    const attempt = attempts[what] ?? others[what];
    const { data, error } = (await attempt?.(clientsByRole[who] as SupabaseClient)) ?? {};
    expect(error?.code).toBe("42501");
    expect(data).toBeNull();
    expect((await collectAuditEntries()).map(({ action, actor_name }) => [action, actor_name])).toEqual([
      ["written", "Wanjiru"],
    ]);
  });

  test("and clients read none of it", async () => {
    await insertAuditEntry("written");
    expect(await clientsByRole["a client"]?.from("audit_log").select("*")).toMatchObject({ data: [], error: null });
    expect((await clientsByRole["a visitor"]?.from("audit_log").select("*"))?.error?.code).toBe("42501");
  });

  test.each([
    "update public.audit_log set actor_name = 'x'",
    "delete from public.audit_log",
    "truncate public.audit_log",
    "truncate public.audit_log cascade",
  ])("even to the database's owner: %s", async (statement) => {
    await insertAuditEntry("written", 6, 364);
    await expect(testBackend.backend.db.exec(statement)).rejects.toThrow("What was done stays in the log.");
    expect((await collectAuditEntries()).map(({ action, actor_name }) => [action, actor_name])).toEqual([
      ["written", "Wanjiru"],
    ]);
  });
});

test("an act is deleted after seven years, not a day before, and never rewritten", async () => {
  await insertAuditEntry("past", 7, 1);
  await insertAuditEntry("kept", 6, 364);
  await expect(
    testBackend.backend.db.exec("update public.audit_log set reason = 'x' where action = 'past'"),
  ).rejects.toThrow();
  expect(await countExpiredAuditEntries(testBackend.serviceRole)).toBe(1);
  expect(await deleteExpiredAuditEntries(testBackend.serviceRole)).toBe(1);
  expect((await collectAuditEntries()).map(({ action }) => action)).toEqual(["kept"]);
  expect(await deleteExpiredAuditEntries(testBackend.serviceRole)).toBe(0);
});

test("deleting a shipment or an account leaves what was done to it", async () => {
  const client = await testBackend.newClient("leaving@client.example");
  await recordAuditEntry(testBackend.serviceRole, "Wanjiru", { action: "account reset-2fa", account_id: client.id });
  await testBackend.serviceRole.from("client_ids").delete().eq("account_id", client.id);
  expect((await testBackend.serviceRole.auth.admin.deleteUser(client.id)).error).toBeNull();
  const acts = await collectAuditEntries();
  expect(acts.filter(({ action }) => action === "account reset-2fa").map(({ account_id }) => account_id)).toEqual([
    client.id,
  ]);
});
