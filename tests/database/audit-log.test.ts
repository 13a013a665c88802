import { randomUUID } from "node:crypto";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import {
  countExpiredAuditEntries,
  deleteExpiredAuditEntries,
  listAuditEntries,
  recordAuditEntry,
  type StoredAuditEntry,
} from "../../app/models/audit-log.server.ts";
import { DEFAULT_DOCUMENTS } from "../../app/models/document.ts";
import { enrollFactor } from "../support/client-sessions.ts";
import { callRpcOrGetRejection, fileColumns, getRejection, setUpDesk, sha256 } from "../support/database-suite.ts";
import { callRepeatedly, newStaffMember, readDeskState } from "../support/staff-members.ts";
import { toUntypedClient } from "../support/test-backend.ts";

const suite = setUpDesk();
const { testBackend, owner, clerk, lead, query, callRpc, addVersion, newShipment } = suite;
const { getDocumentId, storeFile, uploadDocument, runWithRejectedWrites } = suite;

test("The desk lists a failed email until a team member marks it as resolved, which adds one audit entry.", async () => {
  const failure = { kind: "new password", sent_to: owner.email, account_id: owner.id };
  const { error } = await testBackend.serviceRole.rpc("record_failed_email", failure);
  expect(error).toBeNull();
  const [email] = await query<{ id: string }>("select id from public.failed_emails where account_id = $1", [owner.id]);
  await callRpc("dismiss_failed_email", { email_id: email?.id });
  await callRpc("dismiss_failed_email", { email_id: email?.id });
  const unknown = callRpc("dismiss_failed_email", { email_id: randomUUID() });
  expect(await getRejection(unknown)).toBe("404 Email not found.");
  const entries = await query("select before, actor_name from public.audit_log where action = 'failed-email dismiss'");
  expect(entries).toEqual([{ before: { kind: "new password" }, actor_name: clerk.name }]);
  expect((await clerk.supabase.from("failed_emails").select("id").is("resolved_at", null)).data).toEqual([]);
});

test("The audit entry of a staff command has the name from its arguments. The entry of a team member has the member's name.", async () => {
  const shipment = await newShipment(owner);
  const note = { shipment_id: shipment, note: "It came" };
  await callRpc("send_note", { ...note, actor_name: "Otieno" }, testBackend.serviceRole);
  await callRpc("send_note", note, testBackend.serviceRole);
  await callRpc("send_note", { ...note, actor_name: "Otieno" });
  expect((await suite.listAuditEntries(shipment)).map(({ actor_name, staff_id }) => [actor_name, staff_id])).toEqual([
    ["Otieno", null],
    ["the company", null],
    [clerk.name, clerk.id],
  ]);
});

describe("Audit log", () => {
  /**
   * The IDs of the records that the staff actions change. Each action has its own records, so the actions can run one
   * after another.
   */
  let targets: Record<string, string>;
  const arrival = {
    storage_location: "mombasa",
    day: "2026-03-01",
    cargo: "container-20",
    free_storage_ends_on: "2026-03-05",
  };
  const unpaid = { paid: false, reason: "It bounced" };
  const correction = { stage: 7, reason: "It is there", despite_due: true };
  const addedFile = { ...fileColumns, added_from: "paper" };
  const actions: [string, string, (at: Record<string, string>) => object][] = [
    ["move_shipment", "shipment move", (at) => ({ shipment_id: at.shipment, despite_missing: true, note: "Soon" })],
    ["correct_stage", "shipment correct", (at) => ({ shipment_id: at.shipment, ...correction })],
    ["withdraw_shipment", "shipment withdraw", (at) => ({ shipment_id: at.mistake, reason: "Created twice" })],
    ["restore_shipment", "shipment restore", (at) => ({ shipment_id: at.withdrawn, reason: "They need it" })],
    ["move_shipments", "shipment move", (at) => ({ moves: [{ id: at.complete, expected_version: 0 }] })],
    ["save_shipment_numbers", "shipment save-numbers", (at) => ({ shipment_id: at.shipment, awb: "MEDUX4471203" })],
    ["save_arrival", "shipment arrived", (at) => ({ shipment_id: at.shipment, ...arrival })],
    ["remove_arrival", "shipment remove-arrival", (at) => ({ shipment_id: at.arrived, reason: "Another ship" })],
    [
      "change_shipment_handler",
      "shipment hand-over",
      (at) => ({ shipment_id: at.shipment, handler: lead.id, expected_handler: "nobody" }),
    ],
    ["send_note", "shipment note", (at) => ({ shipment_id: at.shipment, note: "It came" })],
    ["set_charge", "charge save", (at) => ({ shipment_id: at.shipment, item: "duties", amount: 5, currency: "KES" })],
    ["set_charge_paid", "charge paid", (at) => ({ shipment_id: at.shipment, item: "idf-fee", paid: true })],
    ["set_charge_paid", "charge unpaid", (at) => ({ shipment_id: at.shipment, item: "agent-fee", ...unpaid })],
    ["verify_document", "document verify", (at) => ({ document_id: at.uploaded, sha256, storage_version: at.version })],
    ["unverify_document", "document unverify", (at) => ({ document_id: at.verified, reason: "Wrong" })],
    ["reject_document", "document request-new-file", (at) => ({ document_id: at.blurred, reason: "Blurred" })],
    ["add_file", "document add-file", (at) => ({ document_id: at.awaited, storage_path: at.path, ...addedFile })],
    ["remove_added_file", "document remove-file", (at) => ({ document_id: at.added, reason: "Another client's" })],
    ["open_document", "document open", (at) => ({ document_id: at.verified, shipment_id: at.shipment })],
    ["announce", "announcement publish", () => ({ text: "Customs system down" })],
    ["remove_announcement", "announcement remove", () => ({})],
    ["save_client_phone", "account save-phone", (at) => ({ account_id: at.protected, phone: "+254722123456" })],
    ["remove_second_factors", "account reset-2fa", (at) => ({ account_id: at.protected })],
    ["request_password_link", "account send-password-link", (at) => ({ account_id: at.protected })],
    ["close_account", "account close", (at) => ({ account_id: at.protected, reason: "They asked" })],
    ["reopen_account", "account reopen", (at) => ({ account_id: at.closed, reason: "They called" })],
    ["start_erasure", "account erase", (at) => ({ account_id: at.leaving, reason: "They asked" })],
    ["issue_client_ids", "client-id issue", () => ({ how_many: 1, issued_for: "Tea Ltd" })],
    ["send_client_id", "client-id send", (at) => ({ client_id: at.clientId })],
    ["withdraw_client_id", "client-id withdraw", (at) => ({ client_id: at.clientId, reason: "Lost" })],
    ["dismiss_failed_email", "failed-email dismiss", (at) => ({ email_id: at.email })],
    ["change_staff_role", "team role", (at) => ({ account_id: at.member, role: "lead" })],
    ["remove_staff_member", "team remove", (at) => ({ account_id: at.member, reason: "They left" })],
    ["invite_staff_member", "team invite", (at) => ({ email: at.gone, name: "Back Again", role: "lead" })],
  ];

  beforeAll(async () => {
    const complete = await newShipment(owner);
    for (const name of DEFAULT_DOCUMENTS) await uploadDocument(complete, name);
    const shipment = await newShipment(owner);
    const [arrived, mistake, withdrawn] = [
      await newShipment(owner),
      await newShipment(owner),
      await newShipment(owner),
    ];
    await callRpc("save_arrival", { shipment_id: arrived, ...arrival });
    await callRpc("withdraw_shipment", { shipment_id: withdrawn, reason: "Created twice" });
    const uploaded = await uploadDocument(shipment, "Packing List");
    const verified = await uploadDocument(shipment, "Bill of Lading");
    const blurred = await uploadDocument(shipment, "Commercial Invoice");
    const awaited = await getDocumentId(shipment, "Insurance Certificate");
    const path = await storeFile(shipment, "Insurance Certificate");
    const other = await newShipment(owner);
    const added = await getDocumentId(other, "Packing List");
    const storage_path = await storeFile(other, "Packing List");
    await callRpc("add_file", { document_id: added, storage_path, ...addedFile });
    await callRpc("verify_document", { document_id: verified.id, sha256, storage_version: verified.version });
    for (const item of ["idf-fee", "agent-fee"]) {
      await callRpc("set_charge", { shipment_id: shipment, item, amount: 9, currency: "KES" });
    }
    await callRpc("set_charge_paid", { shipment_id: shipment, item: "agent-fee", paid: true });
    await callRpc("announce", { text: "All is well" });
    const careful = await testBackend.newClient("protected@client.example");
    await enrollFactor(careful.supabase);
    const closed = await testBackend.newClient("closed@client.example");
    await callRpc("close_account", { account_id: closed.id, reason: "They asked" });
    const leaving = await testBackend.newClient("leaving@client.example");
    const issued = await callRpc("issue_client_ids", { sent_to: "mailed@client.example" });
    const [unused] = issued as { client_id: string }[];
    const failure = { kind: "team invite", sent_to: "somebody@client.example" };
    await testBackend.serviceRole.rpc("record_failed_email", failure);
    const [email] = await query<{ id: string }>("select id from public.failed_emails where kind = 'team invite'");
    const member = await newStaffMember(testBackend, "clerk", "changed@company.example");
    const gone = await newStaffMember(testBackend, "clerk", "gone@company.example");
    await callRpc("remove_staff_member", { account_id: gone.id, reason: "They left" }, lead.supabase);
    targets = {
      ...{ shipment, complete, arrived, mistake, withdrawn },
      ...{ uploaded: uploaded.id, version: uploaded.version, verified: verified.id },
      ...{ protected: careful.id, closed: closed.id, leaving: leaving.id, clientId: unused?.client_id ?? "" },
      ...{ awaited, path, added, blurred: blurred.id, email: email?.id ?? "", member: member.id, gone: gone.email },
    };
  });

  test("A staff action on a record with a version needs the expected version from a team member, but not from a staff command.", async () => {
    const versioned = await query<{ proname: string }>(
      `select proname from pg_proc where pronamespace = 'public'::regnamespace
       and 'expected_version' = any (proargnames) and has_function_privilege('service_role', oid, 'execute')`,
    );
    const names = [...versioned.map(({ proname }) => proname), "move_shipments"];
    expect(names.filter((name) => !actions.some(([action]) => action === name))).toEqual([]);
    const before = await readDeskState(testBackend);
    const message = "We received only part of the form. Reload the page, then try again.";
    for (const [name, , args] of actions.filter(([action]) => names.includes(action))) {
      const { moves, ...fields }: { moves?: { id: string }[] } = args(targets);
      const unversioned = { ...fields, ...(moves && { moves: moves.map(({ id }) => ({ id })) }) };
      expect(await callRpcOrGetRejection(name, unversioned, clerk.supabase), name).toBe(`400 ${message}`);
      await runWithRejectedWrites("public.audit_log", "the log is full", async () => {
        expect(await callRpcOrGetRejection(name, unversioned, testBackend.serviceRole), name).toContain(
          "the log is full",
        );
      });
    }
    expect(await readDeskState(testBackend)).toEqual(before);
  });

  test("No staff action changes anything while the audit log cannot be written.", async () => {
    await runWithRejectedWrites("public.audit_log", "the log is full", async () => {
      const before = await readDeskState(testBackend);
      for (const [name, , args] of actions) {
        const { error } = await toUntypedClient(lead.supabase).rpc(name, await addVersion(name, args(targets)));
        expect(error?.message, name).toBe("the log is full");
        expect(await readDeskState(testBackend), name).toEqual(before);
      }
      const extension = { shipment_id: targets.shipment ?? "", day: "2099-01-01" };
      const extended = await testBackend.serviceRole.rpc("extend_shipment_retention", extension);
      expect(extended.error?.message).toBe("the log is full");
      expect(await readDeskState(testBackend)).toEqual(before);
    });
  });

  test("A staff action adds one audit entry with the team member's name, even if its form arrives three times in parallel.", async () => {
    const withKey = await query("select proname from pg_proc where 'idempotency_key' = any (proargnames)");
    const listEntries = () => query<{ id: string }>("select id, actor_name, staff_id, action from public.audit_log");
    for (const [name, line, args] of actions) {
      const oldIds = new Set((await listEntries()).map(({ id }) => id));
      const hasKey = withKey.some(({ proname }) => proname === name);
      const form = { ...(await addVersion(name, args(targets))), ...(hasKey && { idempotency_key: randomUUID() }) };
      const call = { name, args: form, token: lead.accessToken };
      const results = await callRepeatedly(testBackend, hasKey ? 3 : 1, call);
      expect(results[0]?.rejection, name).toBeUndefined();
      expect(results, name).toEqual(Array(results.length).fill(results[0]));
      const added = (await listEntries()).filter(({ id }) => !oldIds.has(id));
      expect(added, name).toEqual([{ id: added[0]?.id, actor_name: lead.name, staff_id: lead.id, action: line }]);
    }
  });
});

describe("Stored audit entries", () => {
  const shipment = "5a000000-0000-4000-8000-000000000001";

  // A trigger prevents even the database's owner from deleting audit entries, so the tests disable the table's
  // triggers.
  beforeEach(async () => {
    await testBackend.backend.db.exec(
      "alter table public.audit_log disable trigger user; delete from public.audit_log; alter table public.audit_log enable trigger user;",
    );
  });

  /** Adds an audit entry from `years` years and `days` days ago. */
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
    const change = { before: { awb: null }, after: { awb: "MEDUX4471203" }, reason: "It came late" };
    const entry = { action: "shipment save-numbers", shipment_id: shipment, ...change };
    await recordAuditEntry(testBackend.serviceRole, "Wanjiru", entry);
    expect(await collectAuditEntries()).toEqual([
      {
        ...entry,
        ...{ id: expect.any(String), actor_name: "Wanjiru", staff_id: null, document_id: null, account_id: null },
        created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*[+-]\d\d:\d\d$/),
      },
    ]);
  });

  test("The audit log lists all entries, or all entries since a given time, newest first.", async () => {
    await query(
      `insert into public.audit_log (actor_name, action, created_at)
     select 'Wanjiru', 'action ' || number, timestamptz '2026-01-01' + make_interval(hours => number)
     from generate_series(1, 2100) as number`,
    );
    const all = await collectAuditEntries();
    expect(all.map(({ action }) => action)).toEqual(
      Array.from({ length: 2100 }, (_, index) => `action ${2100 - index}`),
    );
    const newest = await collectAuditEntries(all[1]?.created_at);
    expect(newest.map(({ action }) => action)).toEqual(["action 2100", "action 2099"]);
  });

  test("Even the owner of the database cannot change, delete or truncate the audit log.", async () => {
    await insertAuditEntry("written", 6, 364);
    for (const statement of [
      ...["update public.audit_log set actor_name = 'x'", "delete from public.audit_log"],
      ...["truncate public.audit_log", "truncate public.audit_log cascade"],
    ]) {
      await expect(testBackend.backend.db.exec(statement), statement).rejects.toThrow(
        "Activity log entries cannot be changed or deleted.",
      );
    }
    expect(await collectAuditEntries()).toMatchObject([{ action: "written", actor_name: "Wanjiru" }]);
  });

  test("Retention deletes an audit entry after seven years and does not change newer entries.", async () => {
    await insertAuditEntry("old", 7, 1);
    await insertAuditEntry("recent", 6, 364);
    await expect(query("update public.audit_log set reason = 'x' where action = 'old'")).rejects.toThrow();
    expect(await countExpiredAuditEntries(testBackend.serviceRole)).toBe(1);
    expect(await deleteExpiredAuditEntries(testBackend.serviceRole)).toBe(1);
    expect((await collectAuditEntries()).map(({ action }) => action)).toEqual(["recent"]);
    expect(await deleteExpiredAuditEntries(testBackend.serviceRole)).toBe(0);
  });

  test("Deleting an account does not delete its audit entries.", async () => {
    const client = await testBackend.newClient("deleted@client.example");
    await recordAuditEntry(testBackend.serviceRole, "Wanjiru", { action: "account reset-2fa", account_id: client.id });
    await testBackend.serviceRole.from("client_ids").delete().eq("account_id", client.id);
    expect((await testBackend.serviceRole.auth.admin.deleteUser(client.id)).error).toBeNull();
    expect(await collectAuditEntries()).toContainEqual(expect.objectContaining({ account_id: client.id }));
  });
});
