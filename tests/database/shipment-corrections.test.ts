import { randomUUID } from "node:crypto";
import { beforeEach, describe, expect, test } from "vitest";
import { getRejection, setUpDesk } from "../support/database-suite.ts";
import { readDeskState } from "../support/staff-members.ts";

const { testBackend, owner, callRpc, newShipment, readShipment, listAuditEntries, uploadDocument } = setUpDesk();
let shipment: string;
beforeEach(async () => {
  shipment = await newShipment(owner);
});

describe("stage correction", () => {
  const correct = (stage: number, more: object = {}) =>
    callRpc("correct_stage", { shipment_id: shipment, stage, reason: "Clicked twice", ...more });

  test("A correction moves a shipment back or forward; the log has the reason and the client sees the new stage.", async () => {
    await correct(5);
    expect(await correct(3)).toEqual({ stage: 3, status: "IDF Application" });
    expect(await readShipment(shipment)).toMatchObject({ stage: 3, status: "IDF Application" });
    const events = owner.supabase.from("tracking_events").select("status").eq("shipment_id", shipment);
    expect((await events.order("created_at")).data).toEqual([
      { status: "Moved to Payment Clearance" },
      { status: "Moved back to IDF Application" },
    ]);
    expect((await listAuditEntries(shipment)).at(-1)).toMatchObject({
      ...{ action: "shipment correct", before: { stage: 5 }, after: { stage: 3 }, reason: "Clicked twice" },
    });
  });

  test("A correction reopens a closed shipment.", async () => {
    await correct(10);
    expect(await readShipment(shipment)).toMatchObject({ waiting_on: "nobody" });
    await correct(9);
    expect(await readShipment(shipment)).toMatchObject({ stage: 9, waiting_on: "client" });
    await uploadDocument(shipment, "Packing List");
  });

  test("A correction needs another existing stage.", async () => {
    expect(await getRejection(correct(1))).toBe("409 The shipment is already at this stage.");
    for (const stage of [0, 11, -1]) expect(await getRejection(correct(stage))).toMatch(/^400 /);
    expect(await listAuditEntries(shipment)).toEqual([]);
  });
});

describe("AWB/BL", () => {
  const save = (awb: string, more: object = {}) =>
    callRpc("save_shipment_numbers", { shipment_id: shipment, awb, ...more });
  const reasonMissing = "400 Enter a reason.";

  test("An AWB/BL is added, changed and removed; the log has the previous number and the reason.", async () => {
    expect(await save(" MEDUX4471203 ")).toBeNull();
    expect(await save("MEDUX4471204", { reason: " A digit was wrong " })).toBeNull();
    const unchanged = "409 The shipment already has these numbers.";
    expect(await getRejection(save("MEDUX4471204", { reason: "Again" }))).toBe(unchanged);
    expect(await save("", { reason: "Another shipment's" })).toBeNull();
    expect(await getRejection(save(" ", { reason: "Again" }))).toBe(unchanged);
    const request = randomUUID();
    await save("706-51093844", { idempotency_key: request, expected_version: 3 });
    await save("706-51093844", { idempotency_key: request, expected_version: 3 });
    expect(await readShipment(shipment)).toMatchObject({ awb: "706-51093844", version: 4 });
    expect(
      (await listAuditEntries(shipment)).map(({ action, before, after, reason }) => [action, before, after, reason]),
    ).toEqual([
      ["shipment set-numbers", { awb: null }, { awb: "MEDUX4471203" }, null],
      ["shipment set-numbers", { awb: "MEDUX4471203" }, { awb: "MEDUX4471204" }, "A digit was wrong"],
      ["shipment set-numbers", { awb: "MEDUX4471204" }, { awb: null }, "Another shipment's"],
      ["shipment set-numbers", { awb: null }, { awb: "706-51093844" }, null],
    ]);
  });

  test("An existing AWB/BL cannot be changed or removed without a reason.", async () => {
    await save("MEDUX4471203", { reason: "  " });
    const before = await readDeskState(testBackend);
    for (const awb of ["MEDUX4471204", "", "   "]) {
      for (const reason of [undefined, null, "", "   "])
        expect(await getRejection(save(awb, { reason }))).toBe(reasonMissing);
    }
    const tooLong = { reason: "x".repeat(501) };
    expect(await getRejection(save("MEDUX4471204", tooLong))).toBe("400 Use at most 500 characters.");
    expect(await readDeskState(testBackend)).toEqual(before);
  });
});

test("An arrival is recorded and changed as a whole, the log has the previous arrival, and an invalid arrival is rejected.", async () => {
  const save = (storage_location: string, day: string, size: number, free_storage_ends_on: string) =>
    callRpc("save_arrival", { shipment_id: shipment, storage_location, day, size, free_storage_ends_on });
  await save("mombasa", "2026-03-01", 20, "2026-03-05");
  await save("naivasha", "2026-03-02", 40, "2026-03-06");
  const saved = { storage_location: "naivasha", arrived_on: "2026-03-02", container_size: 40, version: 2 };
  expect(await readShipment(shipment)).toMatchObject({ ...saved, free_storage_ends_on: "2026-03-06" });
  expect((await listAuditEntries(shipment)).at(-1)).toMatchObject({
    action: "shipment arrived",
    before: { storage_location: "mombasa", day: "2026-03-01", size: 20 },
    after: { storage_location: "naivasha", day: "2026-03-02", size: 40 },
  });
  const wrongArrivals: Parameters<typeof save>[] = [
    ["eldoret", "2026-03-02", 40, "2026-03-06"],
    ["nairobi", "2026-03-02", 30, "2026-03-06"],
    ["nairobi", "2026-02-30", 40, "2026-03-06"],
    ["nairobi", "infinity", 40, "2026-03-06"],
    ["nairobi", "-infinity", 40, "2026-03-06"],
    ["nairobi", "infinity", 40, "infinity"],
    ["nairobi", "2026-03-02", 40, "infinity"],
    ["nairobi", "1999-12-31", 40, "2000-01-05"],
    ["nairobi", "2100-01-02", 40, "2100-01-05"],
    ["nairobi", "2026-03-02", 40, "2026-03-01"],
    ["nairobi", "2026-03-02", 40, "2027-03-04"],
  ];
  for (const wrong of wrongArrivals) expect(await getRejection(save(...wrong))).toMatch(/^400 /);
  expect(await listAuditEntries(shipment)).toHaveLength(2);
  expect(await readShipment(shipment)).toMatchObject({ ...saved, free_storage_ends_on: "2026-03-06" });
});
