import { beforeEach, describe, expect, test } from "vitest";
import { DEFAULT_DOCUMENTS } from "../../app/models/document.ts";
import { getRejection, setUpDesk } from "../support/database-suite.ts";
import { readDeskState } from "../support/staff-members.ts";

const suite = setUpDesk();
const { testBackend, owner, clerk, lead, query, callRpc, newShipment, readShipment, listAuditEntries } = suite;
const { uploadDocument, runConcurrently, getDocumentId } = suite;

let shipment: string;
beforeEach(async () => {
  shipment = await newShipment(owner);
});

describe("Charges", () => {
  const set = (more: object = {}) =>
    callRpc("set_charge", { shipment_id: shipment, item: "duties", amount: 1250.5, currency: "KES", ...more });
  const mark = (paid: boolean, more: object = {}) =>
    callRpc("set_charge_paid", { shipment_id: shipment, item: "duties", paid, ...more });
  const readCharge = async () => (await query("select * from public.charges where shipment_id = $1", [shipment]))[0];
  const changed = "409 Someone has changed this charge. Check the new values, then try again.";

  test("A shipment with an unpaid charge waits for the client, also after a payment is marked as unpaid again.", async () => {
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
      ["charge save", null],
      ["charge paid", null],
      ["charge unpaid", "The cheque bounced"],
    ]);
  });

  test("A team member can change the due date and note of a paid charge, but not its amount until the charge is unpaid again.", async () => {
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
    await mark(false, { reason: "The cheque bounced" });
    await set({ amount: 1300, currency: "USD" });
    const stored = { item: "duties", amount: 1250.5, currency: "KES" };
    const entries = (await listAuditEntries(shipment)).filter(({ action }) => action === "charge save");
    expect(entries.slice(1)).toMatchObject([
      { before: { ...stored, due_on: "2026-04-01" }, after: { ...stored, due_on: "2026-05-01" } },
      { before: stored },
      { before: stored, after: { item: "duties", amount: 1300, currency: "USD" } },
    ]);
  });

  test("A change or payment of a charge is rejected if the charge does not exist or has changed since the page was opened.", async () => {
    expect(await getRejection(mark(true))).toBe(
      "404 There is no charge for this payment item yet. Add the charge first.",
    );
    await set({ expected_version: -1 });
    expect(await getRejection(set({ expected_version: -1, amount: 2 }))).toBe(changed);
    await set({ expected_version: 0, amount: 2 });
    expect(await getRejection(mark(true, { expected_version: 0 }))).toBe(changed);
    await mark(true, { expected_version: 1 });
    expect(await getRejection(set({ expected_version: 1, amount: 3 }))).toBe(changed);
    expect(await getRejection(mark(false, { expected_version: 1, reason: "No" }))).toBe(changed);
    expect(await listAuditEntries(shipment)).toHaveLength(3);
  });

  test("A charge with an invalid amount, currency, item or due date is rejected.", async () => {
    for (const wrong of [
      ...[{ amount: 0 }, { amount: -5 }, { currency: "XXX" }, { item: "bribe" }],
      ...["NaN", "Infinity", "-Infinity", "1000000000000", "1e13"].map((amount) => ({ amount })),
      ...["infinity", "-infinity", "1999-12-31", "2100-01-02", "20260401-01-01"].map((due_on) => ({ due_on })),
    ]) {
      expect(await getRejection(set(wrong)), JSON.stringify(wrong)).toMatch(/^400 /);
    }
    expect(await readCharge()).toBeUndefined();
    expect(await listAuditEntries(shipment)).toEqual([]);
  });

  test("Only one of two parallel charges for the same payment item is accepted.", async () => {
    const args = { shipment_id: shipment, item: "duties", currency: "KES", expected_version: -1 };
    const results = await runConcurrently([
      ["set_charge", { ...args, amount: 1 }, clerk],
      ["set_charge", { ...args, amount: 2 }, lead],
    ]);
    expect(results.sort()).toEqual(["Someone has changed this charge. Check the new values, then try again.", "done"]);
  });
});

test("In every combination, documents, charges and stage determine who a shipment is waiting on and since when.", async () => {
  const states: string[] = [];
  const names = [...DEFAULT_DOCUMENTS];
  const rejectedId = () => getDocumentId(shipment, names[2] ?? "");
  const documents: [string, () => Promise<unknown>][] = [
    ["none", async () => undefined],
    ["some", async () => uploadDocument(shipment, names[0])],
    ["all", async () => Promise.all(names.slice(1).map((name) => uploadDocument(shipment, name)))],
    ["sent back", async () => callRpc("reject_document", { document_id: await rejectedId(), reason: "Blurred" })],
    ["all", async () => uploadDocument(shipment, names[2])],
  ];
  const charge = { shipment_id: shipment, item: "duties" };
  const agentFee = { shipment_id: shipment, item: "agent-fee" };
  const charges: [string, () => Promise<unknown>][] = [
    ["due", () => callRpc("set_charge", { ...charge, amount: 5, currency: "KES" })],
    ["paid", () => callRpc("set_charge_paid", { ...charge, paid: true })],
    ["paid and due", () => callRpc("set_charge", { ...agentFee, amount: 5, currency: "USD" })],
    ["paid", () => callRpc("set_charge_paid", { ...agentFee, paid: true })],
  ];
  const despiteAll = { despite_missing: true, despite_due: true };
  const check = async (uploads: string, due: string) => {
    for (const stage of [10, 1]) {
      if ((await readShipment(shipment)).stage !== stage) {
        await callRpc("correct_stage", { shipment_id: shipment, stage, ...despiteAll, reason: "To compare" });
      }
      const { waiting_on } = await readShipment(shipment);
      const expected = stage === 10 ? "nobody" : uploads === "all" && !due.includes("due") ? "company" : "client";
      states.push(`${uploads}, ${due}, ${stage}: ${waiting_on === expected ? "agrees" : waiting_on}`);
    }
  };
  for (const [uploads, change] of documents) {
    await change();
    await check(uploads, "nothing");
    for (const [due, charged] of charges) {
      await charged();
      await check(uploads, due);
    }
    await query("delete from public.charges where shipment_id = $1", [shipment]);
  }
  expect(states.filter((state) => !state.endsWith("agrees"))).toEqual([]);
  expect(states).toHaveLength(50);

  await query("update public.shipments set waiting_since = '2026-01-01' where id = $1", [shipment]);
  const readWaitingSince = async () => String((await readShipment(shipment)).waiting_since).slice(0, 10);
  await callRpc("send_note", { shipment_id: shipment, note: "Still the company's" });
  expect(await readWaitingSince()).toBe("2026-01-01");
  await callRpc("set_charge", { ...charge, amount: 5, currency: "KES" });
  expect(await readWaitingSince()).not.toBe("2026-01-01");
});

test("A new shipment is waiting on its client, and a closed shipment is waiting on nobody.", async () => {
  const rows = await query<{ stage: number; waiting_on: string }>(
    `insert into public.shipments (user_id, name, stage) values ($1, 'A', 10), ($1, 'B', 6), ($1, 'C', 1)
     returning stage, waiting_on`,
    [owner.id],
  );
  expect(rows.map(({ stage, waiting_on }) => `${stage} ${waiting_on}`)).toEqual(["10 nobody", "6 client", "1 client"]);
});
