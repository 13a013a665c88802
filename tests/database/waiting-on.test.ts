import { beforeEach, expect, test } from "vitest";
import { DEFAULT_DOCUMENTS } from "../../app/models/document.ts";
import { setUpDesk } from "../support/database-suite.ts";

const { owner, query, callRpc, newShipment, readShipment, getDocumentId, uploadDocument } = setUpDesk();
let shipment: string;
beforeEach(async () => {
  shipment = await newShipment(owner);
});

test("Documents, charges and stage decide who a shipment waits for and since when, in every combination.", async () => {
  const states: string[] = [];
  const names = [...DEFAULT_DOCUMENTS];
  const documents: [string, () => Promise<unknown>][] = [
    ["none", async () => undefined],
    ["some", async () => uploadDocument(shipment, names[0])],
    ["all", async () => Promise.all(names.slice(1).map((name) => uploadDocument(shipment, name)))],
    [
      "sent back",
      async () =>
        callRpc("reject_document", { document_id: await getDocumentId(shipment, names[2] ?? ""), reason: "Blurred" }),
    ],
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
  const check = async (uploads: string, due: string) => {
    for (const stage of [10, 1]) {
      if ((await readShipment(shipment)).stage !== stage) {
        await callRpc("correct_stage", { shipment_id: shipment, stage, despite_due: true, reason: "To compare" });
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

test("A new shipment waits for its client, and a closed shipment waits for nobody.", async () => {
  const rows = await query<{ stage: number; waiting_on: string }>(
    `insert into public.shipments (user_id, name, stage) values ($1, 'A', 10), ($1, 'B', 6), ($1, 'C', 1)
     returning stage, waiting_on`,
    [owner.id],
  );
  expect(rows.map(({ stage, waiting_on }) => `${stage} ${waiting_on}`)).toEqual(["10 nobody", "6 client", "1 client"]);
});
