import { beforeEach, describe, expect, test } from "vitest";
import { DEFAULT_DOCUMENTS } from "../../app/models/document.ts";
import { getRejection, setUpDesk } from "../support/database-suite.ts";
import { readDeskState } from "../support/staff-members.ts";

const desk = setUpDesk();
const { testBackend, owner, clerk, lead } = desk;
const { query, callRpc, newShipment, readShipment, listAuditEntries, uploadDocument, runConcurrently } = desk;
let shipment: string;
beforeEach(async () => {
  shipment = await newShipment(owner);
});

describe("charges", () => {
  const set = (more: object = {}) =>
    callRpc("set_charge", { shipment_id: shipment, item: "duties", amount: 1250.5, currency: "KES", ...more });
  const mark = (paid: boolean, more: object = {}) =>
    callRpc("set_charge_paid", { shipment_id: shipment, item: "duties", paid, ...more });
  const readCharge = async () => (await query("select * from public.charges where shipment_id = $1", [shipment]))[0];
  const changed = "409 Someone has changed this charge. Check the new values, then try again.";

  test("A shipment waits for the client until a charge is paid, and again after the payment is revoked.", async () => {
    for (const name of DEFAULT_DOCUMENTS) await uploadDocument(shipment, name);
    expect(await readShipment(shipment)).toMatchObject({ waiting_on: "company" });
    await set({ due_on: "2026-04-01", note: " KRA e-slip " });
    expect(await readShipment(shipment)).toMatchObject({ waiting_on: "client" });
    const stored = { currency: "KES", due_on: "2026-04-01", note: "KRA e-slip", paid_at: null };
    expect(await readCharge()).toMatchObject(stored);
    await mark(true);
    expect(await readShipment(shipment)).toMatchObject({ waiting_on: "company" });
    expect(await getRejection(mark(true))).toBe("409 This charge is already marked as paid.");
    expect(await getRejection(mark(false))).toMatch(/^400 /);
    await mark(false, { reason: "The cheque bounced" });
    expect(await readShipment(shipment)).toMatchObject({ waiting_on: "client" });
    expect(await getRejection(mark(false, { reason: "Again" }))).toBe("409 This charge is already marked as unpaid.");
    expect((await listAuditEntries(shipment)).map(({ action, reason }) => [action, reason])).toEqual([
      ["charge set", null],
      ["charge paid", null],
      ["charge unpaid", "The cheque bounced"],
    ]);
  });

  test("A paid charge cannot change its amount or payment; its due date and note can change.", async () => {
    await set({ due_on: "2026-04-01", note: "KRA e-slip" });
    await mark(true);
    const paid = await readCharge();
    const before = await readDeskState(testBackend);
    const unpaidFirst = "409 This charge is paid. Mark the charge as unpaid first.";
    for (const change of [{ amount: 1300 }, { currency: "USD" }, { amount: 1250.51, currency: "USD" }, { amount: 0 }]) {
      expect(await getRejection(set({ due_on: "2026-05-01", ...change })), JSON.stringify(change)).toBe(unpaidFirst);
    }
    expect(await readDeskState(testBackend)).toEqual(before);

    await set({ amount: "1250.500", due_on: "2026-05-01", note: "Receipt 7", expected_version: 1 });
    expect(await readCharge()).toEqual({ ...paid, due_on: "2026-05-01", note: "Receipt 7", version: 2 });
    await set({});
    expect(await readCharge()).toEqual({ ...paid, due_on: null, note: null, version: 3 });
    expect((await listAuditEntries(shipment)).slice(2)).toEqual([
      expect.objectContaining({
        action: "charge set",
        before: { item: "duties", amount: 1250.5, currency: "KES", due_on: "2026-04-01" },
        after: { item: "duties", amount: 1250.5, currency: "KES", due_on: "2026-05-01" },
      }),
      expect.objectContaining({ action: "charge set" }),
    ]);
  });

  test("A charge can get another amount after its payment is revoked, and the log has both amounts.", async () => {
    await set();
    await mark(true);
    await mark(false, { reason: "The cheque bounced" });
    await set({ amount: 1300, currency: "USD" });
    expect(await readCharge()).toMatchObject({ currency: "USD", paid_at: null });
    expect((await listAuditEntries(shipment)).at(-1)).toMatchObject({
      before: { item: "duties", amount: 1250.5, currency: "KES" },
      after: { item: "duties", amount: 1300, currency: "USD" },
    });
  });

  test("A charge is rejected if another team member has changed the charge or its payment since the page was opened.", async () => {
    await set({ expected_version: -1 });
    expect(await getRejection(set({ expected_version: -1, amount: 2 }))).toBe(changed);
    await set({ expected_version: 0, amount: 2 });
    expect(await getRejection(mark(true, { expected_version: 0 }))).toBe(changed);
    await mark(true, { expected_version: 1 });
    expect(await getRejection(set({ expected_version: 1, amount: 3 }))).toBe(changed);
    expect(await getRejection(mark(false, { expected_version: 1, reason: "No" }))).toBe(changed);
    expect(await listAuditEntries(shipment)).toHaveLength(3);
  });

  test.each([
    ...[{ amount: 0 }, { amount: -5 }, { currency: "XXX" }, { item: "bribe" }],
    ...["NaN", "Infinity", "-Infinity", "1000000000000", "1e13"].map((amount) => ({ amount })),
    ...["infinity", "-infinity", "1999-12-31", "2100-01-02", "20260401-01-01"].map((due_on) => ({ due_on })),
  ])("A charge with %j is rejected.", async (wrong) => {
    expect(await getRejection(set(wrong))).toMatch(/^400 /);
    expect(await readCharge()).toBeUndefined();
    expect(await listAuditEntries(shipment)).toEqual([]);
  });

  test("A charge that does not exist cannot be marked as paid.", async () => {
    expect(await getRejection(mark(true))).toBe("404 There is no charge for this item yet. Add the charge first.");
  });

  test("Of two parallel charges for the same item, only one is accepted.", async () => {
    const args = { shipment_id: shipment, item: "duties", currency: "KES", expected_version: -1 };
    const results = await runConcurrently([
      ["set_charge", { ...args, amount: 1 }, clerk],
      ["set_charge", { ...args, amount: 2 }, lead],
    ]);
    expect(results.sort()).toEqual(["Someone has changed this charge. Check the new values, then try again.", "done"]);
  });
});
