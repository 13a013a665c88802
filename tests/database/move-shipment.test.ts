import { randomUUID } from "node:crypto";
import { beforeEach, describe, expect, test } from "vitest";
import { DEFAULT_DOCUMENTS } from "../../app/models/document.ts";
import { getOpenItems, STAGES } from "../../app/models/shipment.ts";
import { getRejection, setUpDesk } from "../support/database-suite.ts";
import { callConcurrently, callRepeatedly, readDeskState } from "../support/staff-members.ts";
import type { AppSupabaseClient } from "../support/test-backend.ts";

const suite = setUpDesk();
const { testBackend, owner, clerk, lead, query, callRpc, newShipment, readShipment, listAuditEntries } = suite;
const { uploadDocument, runConcurrently, runWithSlowUpdates } = suite;

const staleVersionError = "409 Someone has changed this shipment. Check the new values, then try again.";

let shipment: string;
beforeEach(async () => {
  shipment = await newShipment(owner);
});

describe("Moving a shipment", () => {
  const move = (more: object = {}, supabase: AppSupabaseClient = clerk.supabase) =>
    callRpc("move_shipment", { shipment_id: shipment, despite_missing: true, ...more }, supabase);

  test("The client sees a stage change with its place and note. The audit log names the team member and both stages.", async () => {
    expect(await move({ location: " Mombasa ", note: " Bring the original bill " })).toEqual({
      stage: 2,
      status: "Document Verification",
    });
    expect(await readShipment(shipment)).toMatchObject({ stage: 2, status: "Document Verification", version: 1 });
    const { data } = await owner.supabase.from("tracking_events").select("*").eq("shipment_id", shipment);
    const event = { status: "Document Verification", location: "Mombasa", note: "Bring the original bill" };
    expect(data).toEqual([expect.objectContaining(event)]);
    expect(await listAuditEntries(shipment)).toEqual([
      expect.objectContaining({
        ...{ actor_name: clerk.name, staff_id: clerk.id, action: "shipment move", shipment_id: shipment },
        ...{ reason: null, before: { stage: 1 }, after: { stage: 2, location: "Mombasa" } },
      }),
    ]);
    expect(JSON.stringify(await listAuditEntries(shipment))).not.toContain("original bill");
  });

  test("Moving a shipment with missing documents changes nothing without confirmation, and returns the documents' names.", async () => {
    await uploadDocument(shipment, "Packing List");
    const before = await readDeskState(testBackend);
    const missing = DEFAULT_DOCUMENTS.filter((name) => name !== "Packing List").sort();
    const request = randomUUID();
    for (const despite_missing of [false, null]) {
      expect(await move({ despite_missing, idempotency_key: request })).toEqual({ missing });
    }
    expect(await callRpc("move_shipment", { shipment_id: shipment, idempotency_key: request })).toEqual({ missing });
    expect(await readDeskState(testBackend)).toEqual(before);
    expect(await move({ idempotency_key: request })).toMatchObject({ stage: 2 });
    for (const name of missing) await uploadDocument(shipment, name);
    expect(await move({ despite_missing: false })).toMatchObject({ stage: 3 });
  });

  test("Closing a shipment with an amount due or missing documents changes nothing without confirmation, and returns both.", async () => {
    await callRpc("correct_stage", { shipment_id: shipment, stage: 9, reason: "All is done" });
    const charge = { shipment_id: shipment, item: "duties", amount: 1250.5, currency: "KES" };
    await callRpc("set_charge", charge);
    const before = await readDeskState(testBackend);
    const due = [{ item: "duties", currency: "KES", amount: 1250.5 }];
    const missing = [...DEFAULT_DOCUMENTS].sort();
    for (const despite_due of [false, null]) expect(await move({ despite_due })).toEqual({ due });
    expect(await move({ despite_missing: false })).toEqual({ due, missing });
    const close = { shipment_id: shipment, stage: 10, reason: "Closed" };
    expect(await callRpc("correct_stage", close)).toEqual({ due, missing });
    expect(await callRpc("correct_stage", { ...close, despite_missing: true })).toEqual({ due });
    expect(await readDeskState(testBackend)).toEqual(before);

    const despiteAll = { despite_missing: true, despite_due: true };
    expect(await callRpc("correct_stage", { ...close, ...despiteAll })).toMatchObject({ stage: 10 });
    await callRpc("correct_stage", { ...close, stage: 9 });
    expect(await move({ despite_due: true })).toMatchObject({ stage: 10 });
    await callRpc("correct_stage", { ...close, stage: 9 });
    await callRpc("set_charge_paid", { shipment_id: shipment, item: "duties", paid: true });
    expect(await move()).toMatchObject({ stage: 10 });
  });

  test("A confirmation of open items is valid until another document is missing or an amount changes.", async () => {
    await query("update public.shipments set stage = 5 where id = $1", [shipment]);
    const charge = { shipment_id: shipment, item: "duties", currency: "KES" };
    await callRpc("set_charge", { ...charge, amount: 10 });
    await uploadDocument(shipment, "Packing List");
    const listItems = async (more = {}) => (await move({ despite_missing: false, ...more })) as object;
    const first = await listItems();
    const missing = DEFAULT_DOCUMENTS.filter((name) => name !== "Packing List").sort();
    expect(first).toEqual({ missing, due: [{ item: "duties", currency: "KES", amount: 10 }] });
    await callRpc("set_charge", { ...charge, amount: 10.5 });
    const second = await listItems({ confirmed: first });
    expect(second).toEqual({ missing, due: [{ item: "duties", currency: "KES", amount: 10.5 }] });
    const wrong = [{ ...second, missing: missing.slice(1) }, { due: [] }, [], "yes", null, { ...second, due: "all" }];
    for (const confirmed of wrong) expect(await listItems({ confirmed }), JSON.stringify(confirmed)).toEqual(second);
    // With one more uploaded file, less is open than the team member has confirmed.
    await uploadDocument(shipment, missing[0]);
    expect(await listItems({ confirmed: second })).toMatchObject({ stage: 6 });
  });

  test("For every old and new stage, the site and the database agree on the items that need a confirmation.", async () => {
    const charge = { shipment_id: shipment, item: "duties", amount: 10, currency: "KES" };
    await callRpc("set_charge", charge);
    const all = { missing: [...DEFAULT_DOCUMENTS].sort(), due: [{ item: "duties", currency: "KES", amount: 10 }] };
    const asked: string[] = [];
    for (let stage = 1; stage <= 10; stage += 1) {
      await query("update public.shipments set stage = $2 where id = $1", [shipment, stage]);
      const rows = await query<{ stage: number; items: Partial<typeof all> | null }>(
        `select new_stage as stage, private.open_items(shipment, new_stage) as items
         from public.shipments as shipment, generate_series(1, 10) as new_stage where id = $1 order by new_stage`,
        [shipment],
      );
      for (const { stage: newStage, items } of rows) {
        expect({ missing: [], due: [], ...items }).toEqual(getOpenItems(stage, all, newStage));
        if (items?.due && newStage <= stage + 1) asked.push(`${stage} to ${newStage}`);
      }
    }
    expect(asked).toEqual(["5 to 6", "9 to 10", "10 to 10"]);
  });

  const listStages = async () => {
    const sql = "select status from public.tracking_events where shipment_id = $1 order by created_at";
    return (await query(sql, [shipment])).map(({ status }) => status);
  };

  test("A shipment moves one stage at a time up to stage 10, and its client sees each stage.", async () => {
    for (let stage = 2; stage <= 10; stage += 1) expect(await move()).toEqual({ stage, status: STAGES[stage - 1] });
    expect(await listStages()).toEqual(STAGES.slice(1));
    expect(await getRejection(move())).toBe("409 This shipment is closed.");
    expect(await readShipment(shipment)).toMatchObject({ stage: 10, status: "Shipment Closed", waiting_on: "nobody" });
    expect(await listAuditEntries(shipment)).toHaveLength(9);
    expect(await getRejection(move({ shipment_id: randomUUID() }))).toBe("404 Shipment not found.");
  });

  test("Moving or changing a shipment fails if another team member has changed the shipment since the page was opened.", async () => {
    const arrival = {
      storage_location: "nairobi",
      day: "2026-03-01",
      cargo: "container-40",
      free_storage_ends_on: "2026-03-05",
    };
    const changes: [string, object][] = [
      ["move_shipment", { despite_missing: true }],
      ["save_shipment_numbers", { awb: "MEDUX4471203" }],
      ["save_arrival", arrival],
      ["remove_arrival", { reason: "Another ship" }],
      ["correct_stage", { stage: 7, reason: "It is there" }],
    ];
    for (const [name, change] of changes) {
      const { version } = await readShipment(shipment);
      await callRpc(name, { shipment_id: shipment, ...change, expected_version: version }, lead.supabase);
      const before = await readDeskState(testBackend);
      expect(await getRejection(move({ expected_version: version }))).toBe(staleVersionError);
      for (const [action, args] of changes) {
        const staleArgs = { shipment_id: shipment, ...args, expected_version: version };
        expect(await getRejection(callRpc(action, staleArgs))).toBe(staleVersionError);
      }
      expect(await readDeskState(testBackend)).toEqual(before);
    }
    // After a new note or charge, an older form can still move the shipment.
    const { version } = await readShipment(shipment);
    await callRpc("send_note", { shipment_id: shipment, note: "Your container is at the yard" });
    await callRpc("set_charge", { shipment_id: shipment, item: "duties", amount: 1, currency: "KES" });
    expect(await move({ expected_version: version })).toMatchObject({ stage: 8 });
  });

  test("A form that is sent twice moves the shipment once. A new form, or the same form with another text, moves it again.", async () => {
    const request = randomUUID();
    const first = { idempotency_key: request, location: "Mombasa" };
    expect(await move({ ...first, expected_version: 0 })).toMatchObject({ stage: 2 });
    expect(await move({ ...first, expected_version: 0 })).toEqual({ stage: 2, status: "Document Verification" });
    expect(await listAuditEntries(shipment)).toHaveLength(1);
    expect(await move({ idempotency_key: randomUUID(), location: "Mombasa" })).toMatchObject({ stage: 3 });
    expect(await move({ idempotency_key: request, note: "Mombasa" })).toMatchObject({ stage: 4 });
    expect(await move({ idempotency_key: request, location: "Mombasa|" })).toMatchObject({ stage: 5 });
    const nextShipment = await newShipment(owner);
    expect(await move({ ...first, shipment_id: nextShipment })).toMatchObject({ stage: 2 });
    expect(await listAuditEntries(shipment)).toHaveLength(4);
  });

  test("Twelve parallel staff commands move a shipment through each stage up to stage 10.", async () => {
    const args = { shipment_id: shipment, despite_missing: true };
    const results = await callRepeatedly(testBackend, 12, { name: "move_shipment", args });
    const outcomes = results.map(({ rejection }) => rejection ?? "done");
    const closed = "This shipment is closed.";
    expect(outcomes.sort()).toEqual([...Array(3).fill(closed), ...Array(9).fill("done")]);
    expect((await listStages()).sort()).toEqual(STAGES.slice(1).sort());
  });

  test("If eight team members move a shipment from the same stage in parallel, one succeeds and seven are rejected.", async () => {
    const args = { shipment_id: shipment, despite_missing: true, expected_version: 0 };
    const outcomes = await runConcurrently(
      Array.from({ length: 8 }, (_, index) => [
        "move_shipment",
        { ...args, idempotency_key: randomUUID() },
        index % 2 ? clerk : lead,
      ]),
    );
    expect(outcomes.sort()).toEqual([...Array(7).fill(staleVersionError.slice(4)), "done"]);
    expect(await readShipment(shipment)).toMatchObject({ stage: 2 });
    expect(await listAuditEntries(shipment)).toHaveLength(1);
  });
});

test("The text of a note appears in the shipment's history, but not in the audit log.", async () => {
  const request = randomUUID();
  for (const note of [" Your container is at the yard ", " Your container is at the yard "]) {
    await callRpc("send_note", { shipment_id: shipment, note, idempotency_key: request });
  }
  const { data } = await owner.supabase.from("tracking_events").select("status, note").eq("shipment_id", shipment);
  expect(data).toEqual([{ status: "Note", note: "Your container is at the yard" }]);
  expect(await listAuditEntries(shipment)).toEqual([expect.objectContaining({ action: "shipment note", after: null })]);
  expect(await readShipment(shipment)).toMatchObject({ version: 0 });
});

describe("Bulk actions that move shipments", () => {
  type Move = { id: string | null; expected_version?: number; confirmed?: object };
  type MoveResult = { id: string | null; failure: string | null };
  const moveAll = (moves: Move[], more: object = {}, supabase?: AppSupabaseClient) =>
    callRpc("move_shipments", { moves, ...more }, supabase) as Promise<MoveResult[]>;
  /** Creates a shipment with files for all documents except `missing`. */
  async function newCompleteShipment(missing?: string): Promise<string> {
    const id = await newShipment(owner);
    for (const name of DEFAULT_DOCUMENTS.filter((document) => document !== missing)) await uploadDocument(id, name);
    return id;
  }
  const getStage = async (id: string) => (await readShipment(id)).stage;
  const listEvents = (id: string) =>
    query("select status, location from public.tracking_events where shipment_id = $1", [id]);
  const toFailures = (result: MoveResult[]) => Object.fromEntries(result.map(({ id, failure }) => [id, failure]));

  test("A bulk action moves all shipments that can move, and returns the reason for each other shipment.", async () => {
    const [first, second, lacking] = [
      await newCompleteShipment(),
      await newCompleteShipment(),
      await newShipment(owner),
    ];
    const [closed, stale, unknown] = [await newCompleteShipment(), await newCompleteShipment(), randomUUID()];
    await callRpc("correct_stage", { shipment_id: closed, stage: 10, reason: "Done" });
    await callRpc("save_shipment_numbers", { shipment_id: stale, awb: "MEDUX4471203" }, lead.supabase);
    const moves = [stale, first, unknown, lacking, closed, second].map((id) => ({ id, expected_version: 0 }));
    const quiet = [lacking, closed, stale];
    const listHistories = () =>
      Promise.all(quiet.map(async (id) => [await listAuditEntries(id), await listEvents(id)]));
    const before = await listHistories();
    const result = await moveAll(moves, { location: " Mombasa ", idempotency_key: randomUUID() });
    expect(toFailures(result)).toEqual({
      ...{ [first]: null, [second]: null, [lacking]: "open" },
      ...{ [closed]: "closed", [stale]: "changed", [unknown]: "unknown" },
    });
    expect(await Promise.all([first, second, lacking, closed, stale].map(getStage))).toEqual([2, 2, 1, 10, 1]);
    for (const id of [first, second]) {
      expect(await listEvents(id)).toEqual([{ status: "Document Verification", location: "Mombasa" }]);
      expect(await listAuditEntries(id)).toEqual([
        expect.objectContaining({
          ...{ action: "shipment move", actor_name: clerk.name, staff_id: clerk.id },
          ...{ before: { stage: 1 }, after: { stage: 2, location: "Mombasa" } },
        }),
      ]);
    }
    expect(await listHistories()).toEqual(before);
  });

  test("A bulk action closes a shipment with an amount due only if the amount was confirmed.", async () => {
    const [owing, paid] = [await newCompleteShipment(), await newCompleteShipment()];
    for (const id of [owing, paid]) {
      await callRpc("correct_stage", { shipment_id: id, stage: 9, reason: "All is done" });
      await callRpc("set_charge", { shipment_id: id, item: "duties", amount: 10, currency: "KES" });
    }
    await callRpc("set_charge_paid", { shipment_id: paid, item: "duties", paid: true });
    const versions = await Promise.all([owing, paid].map(async (id) => Number((await readShipment(id)).version)));
    const result = await moveAll([owing, paid].map((id, index) => ({ id, expected_version: versions[index] })));
    expect(toFailures(result)).toEqual({ [owing]: "open", [paid]: null });
    expect([await getStage(owing), await getStage(paid)]).toEqual([9, 10]);
    const confirmAmount = (amount: number) => {
      const confirmed = { missing: [], due: [{ item: "duties", currency: "KES", amount }] };
      return moveAll([{ id: owing, expected_version: versions[0], confirmed }]);
    };
    expect(toFailures(await confirmAmount(9))).toEqual({ [owing]: "open" });
    expect(toFailures(await confirmAmount(10))).toEqual({ [owing]: null });
    expect(await getStage(owing)).toBe(10);
  });

  test("Sending the form of a bulk action again moves only the shipments that could not move the first time.", async () => {
    const [ready, lacking] = [await newCompleteShipment(), await newCompleteShipment("Packing List")];
    const moves = [ready, lacking].map((id) => ({ id, expected_version: 0 }));
    const form = { idempotency_key: randomUUID(), location: "Mombasa" };
    const result = await moveAll(moves, form);
    expect(toFailures(result)).toEqual({ [ready]: null, [lacking]: "open" });
    expect(await moveAll(moves, form)).toEqual(result);
    expect([await getStage(ready), await getStage(lacking)]).toEqual([2, 1]);
    await uploadDocument(lacking);
    expect((await moveAll(moves, form)).map(({ failure }) => failure)).toEqual([null, null]);
    expect([await getStage(ready), await getStage(lacking)]).toEqual([2, 2]);
    expect([await listAuditEntries(ready), await listEvents(ready)].map(({ length }) => length)).toEqual([1, 1]);
    // With a new idempotency key, the form counts as a new form, so its expected versions are outdated.
    const outdated = await moveAll(moves, { idempotency_key: randomUUID() });
    expect(outdated.map(({ failure }) => failure)).toEqual(["changed", "changed"]);
  });

  test("A bulk action accepts at most 50 shipments, and moves a shipment that the list contains twice only once.", async () => {
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
    const result = await moveAll([...fifty.slice(2), ...Array(2).fill({ id, expected_version: 0 })]);
    expect(result.filter(({ failure }) => failure === "unknown")).toHaveLength(48);
    expect(result.filter((move) => move.id === id)).toEqual([{ id, failure: null }]);
    expect([await getStage(id), (await listAuditEntries(id)).length]).toEqual([2, 1]);
  });

  test("Two parallel bulk actions with overlapping lists finish without a deadlock and move each shipment once.", async () => {
    const ids: string[] = [];
    for (let count = 0; count < 6; count += 1) ids.push(await newCompleteShipment());
    await runWithSlowUpdates("public.shipments", 0.1, async () => {
      const createCall = (some: string[], token: string) => {
        const moves = some.map((id) => ({ id, expected_version: 0 }));
        return { name: "move_shipments", args: { moves, idempotency_key: randomUUID() }, token };
      };
      const results = await callConcurrently(testBackend, [
        createCall(ids.slice(0, 5), clerk.accessToken),
        createCall(ids.slice(1).reverse(), lead.accessToken),
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
});
