import { randomUUID } from "node:crypto";
import { beforeAll, expect, test } from "vitest";
import { readPage, setUpDesk, sha256 } from "../support/database-suite.ts";

const { owner, clerk, lead, query, callRpc, newShipment, uploadDocument, getDocumentId, listAuditEntries } =
  setUpDesk();

type Review = {
  document: { name: string; version: number };
  shipment: { name: string };
  client: { id: string };
  next: { id: string; shipment_id: string; name: string; shipment_name: string; count: number } | null;
};

/** The documents of two shipments, in the order of their uploads. */
let queue: { id: string; shipment: string; name: string; version: string }[];
let tea: string;
beforeAll(async () => {
  tea = await newShipment(owner);
  const salt = await newShipment(owner, "Salt");
  queue = [];
  for (const [shipment, name] of [
    [tea, "Packing List"],
    [salt, "Packing List"],
    [tea, "Bill of Lading"],
  ] as const)
    queue.push({ ...(await uploadDocument(shipment, name)), shipment, name });
});

const readReview = async (document_id: string, shipment_id: string): Promise<Review | null> =>
  (await readPage(clerk.supabase, "desk_document", { document_id, shipment_id })).opened;
const findNext = async (index: number) => {
  const { id = "", shipment = "" } = queue[index] ?? {};
  const { next } = (await readReview(id, shipment)) ?? {};
  return next && [next.id, next.shipment_id, next.name, next.shipment_name, next.count];
};

test("The review page has a document's facts, and is empty for an unknown document or a document of another shipment.", async () => {
  const [first, second] = queue;
  expect(await readReview(first?.id ?? "", tea)).toMatchObject({
    ...{ document: { name: "Packing List", version: 1 }, shipment: { name: "Tea" }, client: { id: owner.id } },
  });
  const empty = await readReview(await getDocumentId(tea, "Commercial Invoice"), tea);
  expect(empty?.next?.id).toBe(first?.id);
  expect(await readReview(second?.id ?? "", tea)).toBeNull();
  expect(await readReview(randomUUID(), tea)).toBeNull();
});

test("The next document to check is the next upload of all shipments. The oldest upload follows after the newest upload.", async () => {
  const [first, second, third] = queue;
  expect(await findNext(0)).toEqual([second?.id, second?.shipment, "Packing List", "Salt", 2]);
  expect(await findNext(1)).toEqual([third?.id, tea, "Bill of Lading", "Tea", 2]);
  expect(await findNext(2)).toEqual([first?.id, tea, "Packing List", "Tea", 2]);
  const verify = { document_id: second?.id, sha256, storage_version: second?.version };
  await callRpc("verify_document", verify);
  expect(await findNext(0)).toEqual([third?.id, tea, "Bill of Lading", "Tea", 1]);
  expect(await findNext(1)).toEqual([third?.id, tea, "Bill of Lading", "Tea", 2]);
  await callRpc("reject_document", { document_id: third?.id, reason: "Blurred" });
  expect(await findNext(0)).toBeNull();
  expect(await findNext(2)).toEqual([first?.id, tea, "Packing List", "Tea", 1]);
  await callRpc("withdraw_shipment", { shipment_id: tea, reason: "Created twice" });
  expect(await findNext(2)).toBeNull();
});

test("The views of a file by one team member within an hour are one audit entry. A new file or another hour adds an entry.", async () => {
  const shipment = await newShipment(owner);
  const { id } = await uploadDocument(shipment);
  const view = async (member = clerk) =>
    member.supabase.rpc("open_document", { document_id: id, shipment_id: shipment, is_view: true });
  const countEntries = async () =>
    (await listAuditEntries(shipment)).filter(({ action }) => action === "document open").length;
  for (const [member, count] of [[clerk, 1] as const, [clerk, 1] as const, [lead, 2] as const]) {
    expect((await view(member)).error).toBeNull();
    expect(await countEntries()).toBe(count);
  }
  await clerk.supabase.rpc("open_document", { document_id: id, shipment_id: shipment });
  expect(await countEntries()).toBe(3);
  await callRpc("reject_document", { document_id: id, reason: "Blurred" });
  await uploadDocument(shipment);
  await view();
  expect(await countEntries()).toBe(4);
  await query("set session_replication_role = replica");
  await query("update public.audit_log set created_at = created_at - interval '61 minutes' where shipment_id = $1", [
    shipment,
  ]);
  await query("update public.documents set uploaded_at = uploaded_at - interval '61 minutes' where id = $1", [id]);
  await query("set session_replication_role = origin");
  await view();
  expect(await countEntries()).toBe(5);
});
