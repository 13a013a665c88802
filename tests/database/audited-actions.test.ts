import { randomUUID } from "node:crypto";
import { beforeAll, describe, expect, test } from "vitest";
import { DEFAULT_DOCUMENTS } from "../../app/models/document.ts";
import { enrollFactor } from "../support/client-sessions.ts";
import { callRpcOrGetRejection, getRejection, setUpDesk, sha256 } from "../support/database-suite.ts";
import { callRepeatedly, newStaffMember, readDeskState } from "../support/staff-members.ts";
import { toUntypedClient } from "../support/test-backend.ts";

const desk = setUpDesk();
const { testBackend, owner, clerk, lead } = desk;
const { query, callRpc, addVersion, newShipment, listAuditEntries, uploadDocument, runWithRejectedWrites } = desk;

test("A failed email is listed until a team member resolves the failure, which adds one audit entry.", async () => {
  const failure = { kind: "new password", sent_to: owner.email, account_id: owner.id };
  const { error } = await testBackend.serviceRole.rpc("record_failed_email", failure);
  expect(error).toBeNull();
  const [email] = await query<{ id: string }>("select id from public.failed_emails where account_id = $1", [owner.id]);
  await callRpc("resolve_failed_email", { email_id: email?.id });
  await callRpc("resolve_failed_email", { email_id: email?.id });
  const unknown = callRpc("resolve_failed_email", { email_id: randomUUID() });
  expect(await getRejection(unknown)).toBe("404 Email not found.");
  const entries = await query("select before, actor_name from public.audit_log where action = 'failed-email resolve'");
  expect(entries).toEqual([{ before: { kind: "new password" }, actor_name: clerk.name }]);
  expect((await clerk.supabase.from("failed_emails").select("id").is("resolved_at", null)).data).toEqual([]);
});

test("A staff command is logged with the name in its arguments, and a team member's action with the member's own name.", async () => {
  const shipment = await newShipment(owner);
  const note = { shipment_id: shipment, note: "It came" };
  await callRpc("send_note", { ...note, actor_name: "Otieno" }, testBackend.serviceRole);
  await callRpc("send_note", note, testBackend.serviceRole);
  await callRpc("send_note", { ...note, actor_name: "Otieno" });
  expect((await listAuditEntries(shipment)).map(({ actor_name, staff_id }) => [actor_name, staff_id])).toEqual([
    ["Otieno", null],
    ["the company", null],
    [clerk.name, clerk.id],
  ]);
});

describe("audit log", () => {
  /**
   * The IDs of the records that the actions change. Each action has its own records, so that all actions can run in
   * sequence.
   */
  let targets: Record<string, string>;
  const arrival = { storage_location: "mombasa", day: "2026-03-01", size: 20, free_storage_ends_on: "2026-03-05" };
  const unpaid = { paid: false, reason: "It bounced" };
  const actions: [string, string, (at: Record<string, string>) => object][] = [
    ["move_shipment", "shipment advance", (at) => ({ shipment_id: at.shipment, despite_missing: true, note: "Soon" })],
    ["correct_stage", "shipment correct", (at) => ({ shipment_id: at.shipment, stage: 7, reason: "It is there" })],
    ["move_shipments", "shipment advance", (at) => ({ moves: [{ id: at.complete, expected_version: 0 }] })],
    ["save_shipment_numbers", "shipment set-numbers", (at) => ({ shipment_id: at.shipment, awb: "MEDUX4471203" })],
    ["save_arrival", "shipment arrived", (at) => ({ shipment_id: at.shipment, ...arrival })],
    ["send_note", "shipment note", (at) => ({ shipment_id: at.shipment, note: "It came" })],
    ["set_charge", "charge set", (at) => ({ shipment_id: at.shipment, item: "duties", amount: 5, currency: "KES" })],
    ["set_charge_paid", "charge paid", (at) => ({ shipment_id: at.shipment, item: "idf-fee", paid: true })],
    ["set_charge_paid", "charge unpaid", (at) => ({ shipment_id: at.shipment, item: "agent-fee", ...unpaid })],
    ["verify_document", "document verify", (at) => ({ document_id: at.uploaded, sha256, storage_version: at.version })],
    ["unverify_document", "document unverify", (at) => ({ document_id: at.verified, reason: "Wrong" })],
    ["reject_document", "document reject", (at) => ({ document_id: at.blurred, reason: "Blurred" })],
    ["open_document", "document open", (at) => ({ document_id: at.verified, shipment_id: at.shipment })],
    ["announce", "announcement set", () => ({ text: "Customs system down" })],
    ["end_announcement", "announcement end", () => ({})],
    ["remove_second_factors", "account reset-2fa", (at) => ({ account_id: at.protected })],
    ["request_password_link", "account send-password-link", (at) => ({ account_id: at.protected })],
    ["close_account", "account close", (at) => ({ account_id: at.protected, reason: "They asked" })],
    ["reopen_account", "account reopen", (at) => ({ account_id: at.closed, reason: "They called" })],
    ["start_erasure", "account erase", (at) => ({ account_id: at.leaving, reason: "They asked" })],
    ["issue_client_ids", "client-id issue", () => ({ how_many: 1, issued_for: "Tea Ltd" })],
    ["send_client_id", "client-id send", (at) => ({ client_id: at.clientId })],
    ["withdraw_client_id", "client-id withdraw", (at) => ({ client_id: at.clientId, reason: "Lost" })],
    ["resolve_failed_email", "failed-email resolve", (at) => ({ email_id: at.email })],
    ["change_staff_role", "team role", (at) => ({ account_id: at.member, role: "lead" })],
    ["remove_staff_member", "team remove", (at) => ({ account_id: at.member, reason: "They left" })],
    ["invite_staff_member", "team invite", (at) => ({ email: at.gone, name: "Back Again", role: "lead" })],
  ];

  beforeAll(async () => {
    const complete = await newShipment(owner);
    for (const name of DEFAULT_DOCUMENTS) await uploadDocument(complete, name);
    const shipment = await newShipment(owner);
    const uploaded = await uploadDocument(shipment, "Packing List");
    const verified = await uploadDocument(shipment, "Bill of Lading");
    const blurred = await uploadDocument(shipment, "Commercial Invoice");
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
      ...{ shipment, complete, uploaded: uploaded.id, version: uploaded.version, verified: verified.id },
      ...{ protected: careful.id, closed: closed.id, leaving: leaving.id, clientId: unused?.client_id ?? "" },
      ...{ blurred: blurred.id, email: email?.id ?? "", member: member.id, gone: gone.email },
    };
  });

  test("Every action on a versioned record is rejected if a team member omits the version, and accepted from the company.", async () => {
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

  test("Each staff action adds one audit entry with the team member's name, even if its form arrives eight times in parallel.", async () => {
    const withKey = await query("select proname from pg_proc where 'idempotency_key' = any (proargnames)");
    const listEntries = () => query<{ id: string }>("select id, actor_name, staff_id, action from public.audit_log");
    for (const [name, line, args] of actions) {
      const oldIds = new Set((await listEntries()).map(({ id }) => id));
      const hasKey = withKey.some(({ proname }) => proname === name);
      const form = { ...(await addVersion(name, args(targets))), ...(hasKey && { idempotency_key: randomUUID() }) };
      const call = { name, args: form, token: lead.accessToken };
      const results = await callRepeatedly(testBackend, hasKey ? 8 : 1, call);
      expect(results[0]?.rejection, name).toBeUndefined();
      expect(results, name).toEqual(Array(results.length).fill(results[0]));
      const added = (await listEntries()).filter(({ id }) => !oldIds.has(id));
      expect(added, name).toEqual([{ id: added[0]?.id, actor_name: lead.name, staff_id: lead.id, action: line }]);
    }
  });
});
