import { randomUUID } from "node:crypto";
import { beforeEach, describe, expect, test } from "vitest";
import { DEFAULT_DOCUMENTS } from "../../app/models/document.ts";
import { STAGES } from "../../app/models/shipment.ts";
import { getRejection, setUpDesk } from "../support/database-suite.ts";
import { callRepeatedly, readDeskState } from "../support/staff-members.ts";
import type { AppSupabaseClient } from "../support/test-backend.ts";

const desk = setUpDesk();
const { testBackend, owner, clerk, lead } = desk;
const { query, callRpc, newShipment, readShipment, listAuditEntries, uploadDocument, runConcurrently } = desk;
let shipment: string;
beforeEach(async () => {
  shipment = await newShipment(owner);
});

const staleVersionError = "409 Someone has changed this shipment. Check the new values, then try again.";

describe("moving a shipment", () => {
  const move = (more: object = {}, supabase: AppSupabaseClient = clerk.supabase) =>
    callRpc("move_shipment", { shipment_id: shipment, despite_missing: true, ...more }, supabase);

  test("The client sees a move with its place and note, and the audit log names the team member and both stages.", async () => {
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
        ...{ actor_name: clerk.name, staff_id: clerk.id, action: "shipment advance", shipment_id: shipment },
        ...{ reason: null, before: { stage: 1 }, after: { stage: 2, location: "Mombasa" } },
      }),
    ]);
    expect(JSON.stringify(await listAuditEntries(shipment))).not.toContain("original bill");
  });

  test("A move with missing documents returns the names of the documents and changes nothing without confirmation.", async () => {
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

  test("Closing a shipment with an amount due returns the amount and changes nothing without confirmation.", async () => {
    await callRpc("correct_stage", { shipment_id: shipment, stage: 9, reason: "All is done" });
    const charge = { shipment_id: shipment, item: "duties", amount: 1250.5, currency: "KES" };
    await callRpc("set_charge", charge);
    const before = await readDeskState(testBackend);
    const due = [{ currency: "KES", amount: 1250.5 }];
    for (const despite_due of [false, null]) expect(await move({ despite_due })).toEqual({ due });
    const all = await move({ despite_missing: false });
    expect(all).toEqual({ due, missing: [...DEFAULT_DOCUMENTS].sort() });
    const close = { shipment_id: shipment, stage: 10, reason: "Closed" };
    expect(await callRpc("correct_stage", close)).toEqual({ due });
    expect(await readDeskState(testBackend)).toEqual(before);

    expect(await callRpc("correct_stage", { ...close, despite_due: true })).toMatchObject({ stage: 10 });
    await callRpc("correct_stage", { ...close, stage: 9 });
    expect(await move({ despite_due: true })).toMatchObject({ stage: 10 });
    await callRpc("correct_stage", { ...close, stage: 9 });
    await callRpc("set_charge_paid", { shipment_id: shipment, item: "duties", paid: true });
    expect(await move()).toMatchObject({ stage: 10 });
  });

  const listStages = async () => {
    const sql = "select status from public.tracking_events where shipment_id = $1 order by created_at";
    return (await query(sql, [shipment])).map(({ status }) => status);
  };

  test("A shipment moves by one stage up to stage 10 and not further, and its client sees each stage.", async () => {
    for (let stage = 2; stage <= 10; stage += 1) expect(await move()).toEqual({ stage, status: STAGES[stage - 1] });
    expect(await listStages()).toEqual(STAGES.slice(1));
    expect(await getRejection(move())).toBe("409 This shipment is closed.");
    expect(await readShipment(shipment)).toMatchObject({ stage: 10, status: "Shipment Closed", waiting_on: "nobody" });
    expect(await listAuditEntries(shipment)).toHaveLength(9);
    expect(await getRejection(move({ shipment_id: randomUUID() }))).toBe("404 Shipment not found.");
  });

  test("A move, AWB, arrival or correction is rejected if another team member has changed the shipment since the page was opened.", async () => {
    const arrival = { storage_location: "nairobi", day: "2026-03-01", size: 40, free_storage_ends_on: "2026-03-05" };
    const changes: [string, object][] = [
      ["move_shipment", { despite_missing: true }],
      ["save_shipment_numbers", { awb: "MEDUX4471203" }],
      ["save_arrival", arrival],
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
    // After a note or a charge, a move form that was opened before is still valid.
    const { version } = await readShipment(shipment);
    await callRpc("send_note", { shipment_id: shipment, note: "Your container is at the yard" });
    await callRpc("set_charge", { shipment_id: shipment, item: "duties", amount: 1, currency: "KES" });
    expect(await move({ expected_version: version })).toMatchObject({ stage: 8 });
  });

  test("A move form that is sent twice moves the shipment once, and another form or another text moves the shipment again.", async () => {
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

  test("Twelve parallel moves by staff commands skip no stage, and stop at stage 10.", async () => {
    const args = { shipment_id: shipment, despite_missing: true };
    const results = await callRepeatedly(testBackend, 12, { name: "move_shipment", args });
    const outcomes = results.map(({ rejection }) => rejection ?? "done");
    const closed = "This shipment is closed.";
    expect(outcomes.sort()).toEqual([...Array(3).fill(closed), ...Array(9).fill("done")]);
    expect((await listStages()).sort()).toEqual(STAGES.slice(1).sort());
  });

  test("Only one of eight team members who saw the same stage moves the shipment; the others are rejected.", async () => {
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

test("A note appears in the client's history but not in the audit log.", async () => {
  const request = randomUUID();
  for (const note of [" Your container is at the yard ", " Your container is at the yard "]) {
    await callRpc("send_note", { shipment_id: shipment, note, idempotency_key: request });
  }
  const { data } = await owner.supabase.from("tracking_events").select("status, note").eq("shipment_id", shipment);
  expect(data).toEqual([{ status: "Note", note: "Your container is at the yard" }]);
  expect(await listAuditEntries(shipment)).toEqual([expect.objectContaining({ action: "shipment note", after: null })]);
  expect(await readShipment(shipment)).toMatchObject({ version: 0 });
});
