import { beforeEach, describe, expect, test } from "vitest";
import { createChargeArgs, setUpShipmentEmails } from "../support/shipment-email-suite.ts";
import { callRepeatedly } from "../support/staff-members.ts";

const suite = setUpShipmentEmails();
const { testBackend, owner } = suite;
const { query, callRpc, newShipment, uploadDocument, listQueuedUpdates } = suite;
const { claimEmails, finishEmails, makeDue, setFreeStorageEnd } = suite;
let shipment: string;
beforeEach(async () => {
  shipment = await newShipment(owner);
});

const createRejectionArgs = async () => ({ document_id: (await uploadDocument(shipment)).id, reason: "Blurred" });

describe("free storage", () => {
  test.each([0, 1, 2])(
    "Free storage that ends in %i days queues one update, and a second update if the last day changes.",
    async (days) => {
      const day = await setFreeStorageEnd(shipment, days);
      for (let round = 0; round < 3; round += 1) await claimEmails();
      expect(await listQueuedUpdates(shipment)).toEqual([{ kind: "storage", detail: day, reason: null }]);
      await makeDue(shipment);
      const [email] = await claimEmails();
      expect(email?.events).toMatchObject([{ kind: "storage", detail: day, reason: null }]);
      await finishEmails(email, true);
      await claimEmails();
      expect(await listQueuedUpdates(shipment)).toEqual([]);
      const nextDay = await setFreeStorageEnd(shipment, (days + 1) % 3);
      await claimEmails();
      expect(await listQueuedUpdates(shipment)).toEqual([{ kind: "storage", detail: nextDay, reason: null }]);
    },
  );

  test.each([-1, 3])("Free storage that ends in %i days queues no update.", async (days) => {
    await setFreeStorageEnd(shipment, days);
    await claimEmails();
    expect(await listQueuedUpdates(shipment)).toEqual([]);
  });

  test("The end of free storage queues an update up to stage 8, but not at stages 9 and 10.", async () => {
    const counts: Record<number, number> = {};
    for (const stage of [10, 9, 8]) {
      await setFreeStorageEnd(shipment, 2, stage);
      await claimEmails();
      counts[stage] = (await listQueuedUpdates(shipment)).length;
    }
    expect(counts).toEqual({ 8: 1, 9: 0, 10: 0 });
  });

  test("Eight parallel claims queue one update about free storage.", async () => {
    await setFreeStorageEnd(shipment, 1);
    const results = await callRepeatedly(testBackend, 8, { name: "claim_shipment_emails", args: {} });
    expect(results.flatMap(({ rejection }) => rejection ?? [])).toEqual([]);
    expect(await listQueuedUpdates(shipment)).toHaveLength(1);
  });
});

describe("outdated updates", () => {
  test("If the end of free storage changes, the update about the old day is replaced.", async () => {
    const oldDay = await setFreeStorageEnd(shipment, 1);
    await claimEmails();
    await makeDue(shipment);
    const day = await setFreeStorageEnd(shipment, 2);
    expect(await claimEmails()).toMatchObject([{ events: [{ kind: "storage", detail: day }] }]);
    expect(await query("select detail from public.email_outbox")).toEqual([{ detail: day }]);
    expect(day).not.toBe(oldDay);
  });

  test("The update about free storage is deleted if the cargo has left the port.", async () => {
    await setFreeStorageEnd(shipment, 1);
    await claimEmails();
    await makeDue(shipment);
    await setFreeStorageEnd(shipment, 1, 9);
    expect(await claimEmails()).toEqual([]);
    expect(await listQueuedUpdates(shipment)).toEqual([]);
  });

  test("The update about a rejected document is deleted if a new file is uploaded.", async () => {
    await callRpc("reject_document", await createRejectionArgs());
    await makeDue(shipment);
    await uploadDocument(shipment);
    expect(await claimEmails()).toEqual([]);
    expect(await listQueuedUpdates(shipment)).toEqual([]);
  });

  test("The update about a charge is deleted if the charge is paid, but not if the payment was revoked.", async () => {
    const setPaid = (paid: boolean) =>
      callRpc("set_charge_paid", { shipment_id: shipment, item: "duties", paid, reason: paid ? null : "It bounced" });
    await callRpc("set_charge", createChargeArgs(shipment));
    await setPaid(true);
    await setPaid(false);
    await makeDue(shipment);
    const [email] = await claimEmails();
    expect(email?.events).toMatchObject([{ kind: "charge", detail: "duties", reason: null }]);
    await callRpc("set_charge", { ...createChargeArgs(shipment), amount: 7 });
    await makeDue(shipment);
    await setPaid(true);
    expect(await claimEmails()).toEqual([]);
    expect(await query("select from public.email_outbox where claimed_at is null")).toEqual([]);
  });

  test("Outdated updates are deleted while other updates of the shipment and of other shipments are claimed.", async () => {
    const otherShipment = await newShipment(owner);
    await callRpc("reject_document", await createRejectionArgs());
    await callRpc("send_note", { shipment_id: shipment, note: "It came" });
    await callRpc("set_charge", createChargeArgs(shipment));
    await callRpc("set_charge", { ...createChargeArgs(shipment), item: "idf-fee" });
    await callRpc("set_charge", { ...createChargeArgs(shipment), shipment_id: otherShipment });
    await uploadDocument(shipment);
    await callRpc("set_charge_paid", { shipment_id: shipment, item: "duties", paid: true });
    for (const id of [shipment, otherShipment]) await makeDue(id);
    const claimed = (await claimEmails()).map(({ shipment_id, events }) => [
      shipment_id,
      events.map(({ kind, detail }) => `${kind} ${detail}`),
    ]);
    expect(new Map(claimed as [string, string[]][])).toEqual(
      new Map([
        [shipment, ["note note", "charge idf-fee"]],
        [otherShipment, ["charge duties"]],
      ]),
    );
    expect(await query("select from public.email_outbox")).toHaveLength(3);
  });

  test("If the first shipments have only outdated updates, the same call claims the next shipment.", async () => {
    const shipments = [shipment, await newShipment(owner), await newShipment(owner)];
    for (const [index, id] of shipments.entries()) {
      await callRpc("set_charge", { ...createChargeArgs(shipment), shipment_id: id });
      if (index < 2) await callRpc("set_charge_paid", { shipment_id: id, item: "duties", paid: true });
      const makeOverdue = "update public.email_outbox set due_at = now() - $2::interval where shipment_id = $1";
      await query(makeOverdue, [id, `${3 - index} minutes`]);
    }
    expect((await claimEmails(1)).map(({ shipment_id }) => shipment_id)).toEqual([shipments[2]]);
    expect(await query("select shipment_id from public.email_outbox")).toEqual([{ shipment_id: shipments[2] }]);
    expect(await claimEmails(1)).toEqual([]);
  });
});
