import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { DEFAULT_DOCUMENTS } from "../../app/models/document.ts";
import { getRejection, setUpDesk } from "../support/database-suite.ts";
import { callConcurrently, readDeskState } from "../support/staff-members.ts";
import type { AppSupabaseClient } from "../support/test-backend.ts";

const desk = setUpDesk();
const { testBackend, owner, clerk, lead } = desk;
const { query, callRpc, newShipment, readShipment, listAuditEntries, uploadDocument, runWithSlowUpdates } = desk;

type Move = { id: string | null; expected_version?: number };
type MoveResult = { id: string | null; failure: string | null };
const moveAll = (moves: Move[], more: object = {}, supabase?: AppSupabaseClient) =>
  callRpc("move_shipments", { moves, ...more }, supabase) as Promise<MoveResult[]>;
/** Returns a shipment with a file for each document except `missing`. */
async function newCompleteShipment(missing?: string): Promise<string> {
  const id = await newShipment(owner);
  for (const name of DEFAULT_DOCUMENTS.filter((document) => document !== missing)) await uploadDocument(id, name);
  return id;
}
const getStage = async (id: string) => (await readShipment(id)).stage;
const listEvents = (id: string) =>
  query("select status, location from public.tracking_events where shipment_id = $1", [id]);
const sortById = (result: MoveResult[]) => [...result].sort((a, b) => String(a.id).localeCompare(String(b.id)));

test("A bulk move returns the reason for each shipment that cannot move, and moves all others.", async () => {
  const [first, second] = [await newCompleteShipment(), await newCompleteShipment()];
  const lacking = await newCompleteShipment("Packing List");
  const [closed, stale] = [await newCompleteShipment(), await newCompleteShipment()];
  const unknown = randomUUID();
  await callRpc("correct_stage", { shipment_id: closed, stage: 10, reason: "Done" });
  await callRpc("save_shipment_numbers", { shipment_id: stale, awb: "MEDUX4471203" }, lead.supabase);
  const moves = [
    { id: stale, expected_version: 0 },
    { id: first, expected_version: 0 },
    { id: unknown, expected_version: 0 },
    { id: lacking, expected_version: 0 },
    { id: closed, expected_version: 0 },
    { id: second, expected_version: 0 },
  ];
  const quiet = [lacking, closed, stale];
  const listHistories = () => Promise.all(quiet.map(async (id) => [await listAuditEntries(id), await listEvents(id)]));
  const before = await listHistories();
  const result = await moveAll(moves, { location: " Mombasa ", idempotency_key: randomUUID() });
  expect(sortById(result)).toEqual(
    sortById([
      { id: first, failure: null },
      { id: second, failure: null },
      { id: lacking, failure: "missing" },
      { id: closed, failure: "closed" },
      { id: stale, failure: "changed" },
      { id: unknown, failure: "unknown" },
    ]),
  );
  expect(await Promise.all([first, second, lacking, closed, stale].map(getStage))).toEqual([2, 2, 1, 10, 1]);
  for (const id of [first, second]) {
    expect(await listEvents(id)).toEqual([{ status: "Document Verification", location: "Mombasa" }]);
    expect(await listAuditEntries(id)).toEqual([
      expect.objectContaining({
        ...{ action: "shipment advance", actor_name: clerk.name, staff_id: clerk.id },
        ...{ before: { stage: 1 }, after: { stage: 2, location: "Mombasa" } },
      }),
    ]);
  }
  expect(await listHistories()).toEqual(before);
});

test("A bulk move closes no shipment with an amount due.", async () => {
  const [owing, paid] = [await newCompleteShipment(), await newCompleteShipment()];
  for (const id of [owing, paid]) {
    await callRpc("correct_stage", { shipment_id: id, stage: 9, reason: "All is done" });
    await callRpc("set_charge", { shipment_id: id, item: "duties", amount: 10, currency: "KES" });
  }
  await callRpc("set_charge_paid", { shipment_id: paid, item: "duties", paid: true });
  const versions = await Promise.all([owing, paid].map(async (id) => Number((await readShipment(id)).version)));
  const result = await moveAll([owing, paid].map((id, index) => ({ id, expected_version: versions[index] })));
  expect(sortById(result)).toEqual(
    sortById([
      { id: owing, failure: "due" },
      { id: paid, failure: null },
    ]),
  );
  expect([await getStage(owing), await getStage(paid)]).toEqual([9, 10]);
});

test("A bulk move form that is sent again moves only the shipments that were incomplete before.", async () => {
  const [ready, lacking] = [await newCompleteShipment(), await newCompleteShipment("Packing List")];
  const moves = [
    { id: ready, expected_version: 0 },
    { id: lacking, expected_version: 0 },
  ];
  const form = { idempotency_key: randomUUID(), location: "Mombasa" };
  const result = await moveAll(moves, form);
  expect(sortById(result)).toEqual(
    sortById([
      { id: ready, failure: null },
      { id: lacking, failure: "missing" },
    ]),
  );
  expect(await moveAll(moves, form)).toEqual(result);
  expect([await getStage(ready), await getStage(lacking)]).toEqual([2, 1]);
  await uploadDocument(lacking);
  expect((await moveAll(moves, form)).map(({ failure }) => failure)).toEqual([null, null]);
  expect([await getStage(ready), await getStage(lacking)]).toEqual([2, 2]);
  expect([await listAuditEntries(ready), await listEvents(ready)].map(({ length }) => length)).toEqual([1, 1]);
  // With a new idempotency key, the same expected versions are out of date.
  const outdated = await moveAll(moves, { idempotency_key: randomUUID() });
  expect(outdated.map(({ failure }) => failure)).toEqual(["changed", "changed"]);
});

test("A bulk move moves a shipment once if its list contains the shipment twice.", async () => {
  const id = await newCompleteShipment();
  expect(await moveAll(Array(3).fill({ id, expected_version: 0 }))).toEqual([{ id, failure: null }]);
  expect([await getStage(id), (await listAuditEntries(id)).length]).toEqual([2, 1]);
});

test("A bulk move accepts a list of at most 50 shipments.", async () => {
  const id = await newCompleteShipment();
  const fifty = Array.from({ length: 50 }, () => ({ id: randomUUID() }));
  const before = await readDeskState(testBackend);
  expect(await getRejection(moveAll([...fifty, { id }]))).toBe("400 Select at most 50 shipments.");
  for (const moves of [{ id }, "all", 7, [{ id: "%" }], [{ id, expected_version: "now" }]]) {
    expect(await getRejection(moveAll(moves as never)), JSON.stringify(moves)).toMatch(/^400 /);
  }
  expect(await moveAll([])).toEqual([]);
  expect(await moveAll([{ id: null }])).toEqual([{ id: null, failure: "unknown" }]);
  expect(await readDeskState(testBackend)).toEqual(before);
  const result = await moveAll([...fifty.slice(1), { id, expected_version: 0 }]);
  expect(result.filter(({ failure }) => failure === "unknown")).toHaveLength(49);
  expect(result).toContainEqual({ id, failure: null });
});

test("Two parallel bulk moves with overlapping lists finish and move each shipment once.", async () => {
  const ids: string[] = [];
  for (let count = 0; count < 6; count += 1) ids.push(await newCompleteShipment());
  await runWithSlowUpdates("public.shipments", 0.1, async () => {
    const moves = (some: string[]) => ({
      moves: some.map((id) => ({ id, expected_version: 0 })),
      idempotency_key: randomUUID(),
    });
    const results = await callConcurrently(testBackend, [
      { name: "move_shipments", args: moves(ids.slice(0, 5)), token: clerk.accessToken },
      { name: "move_shipments", args: moves([...ids.slice(1)].reverse()), token: lead.accessToken },
    ]);
    expect(results.map(({ rejection }) => rejection)).toEqual([undefined, undefined]);
    const moved = results.flatMap(({ result }) => result as MoveResult[]);
    expect(moved).toHaveLength(10);
    const failures = ids.map((id) => moved.filter((move) => move.id === id).map(({ failure }) => failure));
    expect(failures.map((list) => list.filter((failure) => failure === null))).toEqual(ids.map(() => [null]));
    expect(failures.flat().filter(Boolean)).toEqual(["changed", "changed", "changed", "changed"]);
  });
  for (const id of ids) {
    const parts = [await getStage(id), (await listAuditEntries(id)).length, (await listEvents(id)).length];
    expect(parts).toEqual([2, 1, 1]);
  }
});
