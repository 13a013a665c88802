import { randomUUID } from "node:crypto";
import { beforeEach, expect, test } from "vitest";
import { getRejection, readPage, setUpDesk } from "../support/database-suite.ts";
import { newStaffMember } from "../support/staff-members.ts";
import { toUntypedClient } from "../support/test-backend.ts";

const {
  testBackend,
  owner,
  clerk,
  lead,
  query,
  callRpc,
  newShipment,
  uploadDocument,
  listAuditEntries,
  runConcurrently,
} = setUpDesk();

let shipment: string;
beforeEach(async () => {
  shipment = await newShipment(owner, `Handled ${randomUUID()}`);
});

const handOver = (handler: string, args: object = {}, supabase = clerk.supabase) =>
  callRpc("change_shipment_handler", { shipment_id: shipment, handler, ...args }, supabase);
const readHandler = async () =>
  (await readPage(clerk.supabase, "desk_shipments", { opened_id: shipment })).opened.handler;

test("A shipment is handed over to a team member and back to nobody. The log has the names and the note.", async () => {
  expect(await readHandler()).toBeNull();
  const key = randomUUID();
  const first = { expected_handler: "nobody", note: " You know the importer ", idempotency_key: key };
  for (const _ of [1, 2]) expect(await handOver(lead.id, first)).toBe(lead.name);
  expect(await readHandler()).toEqual({ id: lead.id, name: lead.name });
  expect(await handOver("nobody", { expected_handler: lead.id })).toBeNull();
  expect(await readHandler()).toBeNull();
  expect(await handOver(` ${clerk.email.toUpperCase()} `, { actor_name: "Boss" }, testBackend.serviceRole)).toBe(
    clerk.name,
  );
  const entries = (await listAuditEntries(shipment)).filter(({ action }) => action === "shipment hand-over");
  expect(entries.map(({ actor_name, before, after, reason }) => [actor_name, before, after, reason])).toEqual([
    [clerk.name, { handler: "nobody" }, { handler: lead.name }, "You know the importer"],
    [clerk.name, { handler: lead.name }, { handler: "nobody" }, null],
    ["Boss", { handler: "nobody" }, { handler: clerk.name }, null],
  ]);
});

test("A shipment cannot be handed over with an outdated form, to the same person, or to someone outside the team.", async () => {
  const reject = (handler: string, args: object = {}) => getRejection(handOver(handler, args));
  const former = await newStaffMember(testBackend, "clerk", "former-handler@company.example");
  await query("update public.staff_members set removed_at = now() where account_id = $1", [former.id]);
  expect(await reject(lead.id)).toContain("We received only part of the form.");
  expect(await reject("nobody", { expected_handler: "nobody" })).toContain("Nobody handles this shipment already.");
  for (const other of [owner.id, former.id, former.email, randomUUID(), ""])
    expect(await reject(other, { expected_handler: "nobody" }), other).toContain("Team member not found.");
  await handOver(lead.id, { expected_handler: "nobody" });
  expect(await reject(clerk.id, { expected_handler: "nobody" })).toContain("Someone has handed over this shipment.");
  expect(await reject(lead.id, { expected_handler: lead.id })).toContain("already handles the shipment.");
  expect(await readHandler()).toMatchObject({ id: lead.id });
});

test("If two team members hand over the same shipment at the same time, only the first succeeds.", async () => {
  const args = { shipment_id: shipment, expected_handler: "nobody" };
  const outcomes = await runConcurrently([
    ["change_shipment_handler", { ...args, handler: clerk.id }, clerk],
    ["change_shipment_handler", { ...args, handler: lead.id }, lead],
  ]);
  expect(outcomes.filter((outcome) => outcome === "done")).toHaveLength(1);
  expect(outcomes.find((outcome) => outcome !== "done")).toContain("Someone has handed over this shipment.");
});

test("If a lead removes a team member, nobody handles the member's shipments any more.", async () => {
  const leaver = await newStaffMember(testBackend, "clerk", `${randomUUID()}@company.example`);
  await handOver(leaver.id, { expected_handler: "nobody" });
  await callRpc("remove_staff_member", { account_id: leaver.id, reason: "Left" }, lead.supabase);
  expect(await readHandler()).toBeNull();
});

test("The desk's lists contain the viewer's shipments, or the shipments that nobody handles.", async () => {
  const name = `Listed ${randomUUID().slice(0, 8)}`;
  const [mine, free, other] = [
    await newShipment(owner, `${name} mine`),
    await newShipment(owner, `${name} free`),
    await newShipment(owner, `${name} other`),
  ];
  for (const id of [mine, free, other]) await uploadDocument(id);
  for (const [id, handler] of [
    [mine, clerk.id],
    [other, lead.id],
  ])
    await callRpc("change_shipment_handler", { shipment_id: id, handler, expected_handler: "nobody" });
  await query("update public.shipments set waiting_since = now() - interval '9 days' where id = any ($1)", [
    [mine, free, other],
  ]);
  const list = async (page: string, args: object) =>
    (await readPage(clerk.supabase, page, { q: name, ...args })).shipments.map(({ id }: { id: string }) => id);
  const isListed = async (key: string, handler?: string) => {
    const today = await readPage(clerk.supabase, "desk_today", { handler });
    const ids = new Set(today[key].rows.map((row: { shipment_id: string }) => row.shipment_id));
    return [mine, free, other].map((id) => ids.has(id));
  };
  for (const page of ["desk_shipments", "desk_shipments_export"]) {
    expect(await list(page, { handler: "mine" })).toEqual([mine]);
    expect(await list(page, { handler: "nobody" })).toEqual([free]);
    expect(await list(page, {})).toHaveLength(3);
  }
  for (const key of ["to_check", "waiting_for_client"]) {
    expect(await isListed(key, "mine")).toEqual([true, false, false]);
    expect(await isListed(key, "nobody")).toEqual([false, true, false]);
    expect(await isListed(key)).toEqual([true, true, true]);
  }
});

test("Clients learn nothing about the team member who handles their shipment.", async () => {
  await handOver(lead.id, { expected_handler: "nobody" });
  const supabase = toUntypedClient(owner.supabase);
  const answers = [
    await supabase.from("shipments").select("*").eq("id", shipment),
    await supabase.rpc("portal_page", { opened_id: shipment }),
    await supabase.rpc("portal_shipments_export", {}),
    await supabase.rpc("data_export", {}),
    await supabase.from("audit_log").select("*"),
    await supabase.from("shipment_handlers").select("*"),
  ];
  const text = JSON.stringify(answers.map(({ data }) => data));
  expect(text).toContain(shipment);
  for (const secret of [lead.id, lead.name, "handler"]) expect(text).not.toContain(secret);
});
