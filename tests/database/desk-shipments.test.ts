import { randomUUID } from "node:crypto";
import { beforeAll, describe, expect, test } from "vitest";
import { readPage, setUpDesk, sha256, type TestClient } from "../support/database-suite.ts";
import { toUntypedClient } from "../support/test-backend.ts";

const { testBackend, owner, clerk, query, callRpc, newShipment, uploadDocument } = setUpDesk();
/** A shipment of the owner at stage 2, with a document to verify and a charge. */
let shipment: string;
beforeAll(async () => {
  shipment = await newShipment(owner);
  await uploadDocument(shipment);
  await callRpc("move_shipment", { shipment_id: shipment, despite_missing: true });
  await callRpc("set_charge", { shipment_id: shipment, item: "duties", amount: 99.5, currency: "KES" });
});

describe("desk shipment list", () => {
  type Row = { id: string; name: string; waiting_on: string; stage: number; created_at: string };
  let client: TestClient;
  beforeAll(async () => {
    client = await testBackend.newClient("wanjiku.kamau@client.example");
    const rows = [
      ["Maize mill spares", "MEDUX4471203", 1],
      ["100% cotton", null, 1],
      ["Glass_ware", "SAVE%50", 2],
      ["Cargo of drums", "A_1", 3],
      ["Plain cotton", "706-51093844", 10],
    ] as const;
    const insert = "insert into public.shipments (user_id, name, awb, stage) values ($1, $2, $3, $4)";
    for (const row of rows) await query(insert, [client.id, ...row]);
    await query(
      `insert into public.shipments (id, user_id, name, changed_at, created_at)
       select ('abcd' || to_char(number, 'FM0000') || '-0000-4000-8000-000000000000')::uuid, $1, 'Crate ' || number,
         now() - make_interval(hours => number), now() - make_interval(days => 100 - number)
       from generate_series(1, 45) as number`,
      [client.id],
    );
  });

  type ListFilter = { q?: string; stage?: number; waiting_on?: string; to_check?: boolean; page?: number };
  const list = async (filter: ListFilter): Promise<Row[]> =>
    (await readPage(clerk.supabase, "desk_shipments", filter)).shipments;
  const find = async (q: string, more = {}) => (await list({ q, ...more })).map(({ name }) => name).sort();
  const crates = (first: number, last: number) =>
    Array.from({ length: last - first + 1 }, (_, index) => `Crate ${first + index}`);

  test.each([
    ["name", "client WANJIKU"],
    ["email", "kamau@client.example"],
    ["name with its words in any order", "WANJIKU  client"],
  ])("The desk finds shipments by their client's %s.", async (_what, q) => {
    expect(await find(q, { stage: 10 })).toEqual(["Plain cotton"]);
    expect(await find(`${q} cotton`, { stage: 10 })).toEqual(["Plain cotton"]);
    expect(await find(`nobody ${q}`)).toEqual([]);
    expect(await find(q, { stage: 2 })).toEqual(["Glass_ware"]);
    expect(await find(q)).toHaveLength(21);
  });

  test("The desk filters shipments by stage, by who they wait for, and by both together.", async () => {
    expect((await list({ stage: 3 })).map(({ name }) => name)).toEqual(["Cargo of drums"]);
    expect((await list({ waiting_on: "nobody" })).map(({ name }) => name)).toEqual(["Plain cotton"]);
    const waiting = (await list({ waiting_on: "client" })).map(({ waiting_on }) => waiting_on);
    expect(new Set(waiting)).toEqual(new Set(["client"]));
    expect(await list({ waiting_on: "company" })).toEqual([]);
    expect(await list({ waiting_on: "nobody", stage: 1 })).toEqual([]);
    expect(await find("cotton", { waiting_on: "client" })).toEqual(["100% cotton"]);
    expect(await find("cotton", { stage: 10, waiting_on: "nobody" })).toEqual(["Plain cotton"]);
  });

  test("The desk's shipment list is ordered by latest change, in pages of 20 rows plus one if a next page exists.", async () => {
    const names = async (page: number) => (await list({ q: "Crate", page })).map(({ name }) => name);
    expect(await names(1)).toEqual(crates(1, 21));
    expect(await names(2)).toEqual(crates(21, 41));
    expect(await names(3)).toEqual(crates(41, 45));
    expect(await names(4)).toEqual([]);
    expect(await names(0)).toEqual(crates(1, 21));
    await callRpc("send_note", { shipment_id: "abcd0045-0000-4000-8000-000000000000", note: "It came" });
    expect((await names(1)).slice(0, 2)).toEqual(["Crate 45", "Crate 1"]);
    await query("update public.shipments set changed_at = now() - interval '45 hours' where name = 'Crate 45'");
  });

  /** Returns the shipments of the export that follow `last`, or all shipments without `last`. */
  async function listExport(last: Row | undefined, filter: ListFilter): Promise<Row[]> {
    const place = last && { before: last.created_at, before_id: last.id };
    return (await readPage(clerk.supabase, "desk_shipments_export", { ...filter, ...place })).shipments;
  }
  const toNames = (rows: Row[]) => rows.map(({ name }) => name);

  test("The shipment export can continue after any row, newest first, with the same filter.", async () => {
    const whole = await listExport(undefined, { q: "Crate" });
    expect(toNames(whole)).toEqual(crates(1, 45).reverse());
    const rest = { q: "Crate", waiting_on: "client", stage: 1 };
    expect(toNames(await listExport(whole[2], rest))).toEqual(crates(1, 42).reverse());
    expect(await listExport(whole[2], { ...rest, waiting_on: "company" })).toEqual([]);
    expect(await listExport(whole.at(-1), rest)).toEqual([]);
    expect(await listExport(undefined, { q: "cotton" })).toHaveLength(2);
  });

  test("The shipment export has each shipment once, even if some change between its pages of 500.", async () => {
    const many = await testBackend.newClient("many@client.example");
    // All shipments have the same creation time, so only their IDs define the order.
    await query(
      "insert into public.shipments (user_id, name) select $1, 'Sack ' || number from generate_series(1, 620) as number",
      [many.id],
    );
    const first = await listExport(undefined, { q: many.email });
    expect(first).toHaveLength(500);
    const seen = new Set(first.map(({ id }) => id));
    const newestFirst = "select id from public.shipments where user_id = $1 order by id desc";
    const unseen = (await query<{ id: string }>(newestFirst, [many.id])).filter(({ id }) => !seen.has(id));
    expect(unseen).toHaveLength(120);
    for (const { id } of [unseen[0], unseen[60], unseen[119], first[0], first[499]].filter((row) => !!row)) {
      await callRpc("send_note", { shipment_id: id, note: "It came" });
      await callRpc("move_shipment", { shipment_id: id, despite_missing: true });
    }
    const second = await listExport(first.at(-1), { q: many.email });
    expect(second.map(({ id }) => id)).toEqual(unseen.map(({ id }) => id));
    expect(await listExport(second.at(-1), { q: many.email })).toEqual([]);
  });

  test("The desk filters shipments with a document to check, also together with other filters.", async () => {
    const importer = await testBackend.newClient("checked@client.example");
    const [tiles, paint] = [await newShipment(importer, "Checked tiles"), await newShipment(importer, "Checked paint")];
    const [first, second] = [await uploadDocument(tiles), await uploadDocument(paint)];
    const checked = async (more: ListFilter = {}) => find("Checked", { to_check: true, ...more });
    const exported = async () => toNames(await listExport(undefined, { q: "Checked", to_check: true })).sort();
    expect(await find("Checked")).toEqual(["Checked paint", "Checked tiles"]);
    expect(await checked()).toEqual(["Checked paint", "Checked tiles"]);
    expect(await exported()).toEqual(await checked());
    expect(await checked({ stage: 2 })).toEqual([]);
    expect(await checked({ waiting_on: "company" })).toEqual([]);
    const file = { sha256, storage_version: first.version };
    await callRpc("verify_document", { document_id: first.id, ...file });
    expect([await checked(), await exported()]).toEqual([["Checked paint"], ["Checked paint"]]);
    await callRpc("reject_document", { document_id: second.id, reason: "Blurred" });
    expect([await checked(), await exported()]).toEqual([[], []]);
    expect(await find("Checked", { to_check: false })).toEqual(["Checked paint", "Checked tiles"]);
    expect((await list({ to_check: true })).map(({ id }) => id)).toEqual([shipment]);
  });

  test("A desk search of a megabyte finds nothing, and a search of spaces finds everything.", async () => {
    for (const q of ["x".repeat(1e6), "%".repeat(1e6), `Crate${" ".repeat(1e6)}`, "Crate ".repeat(2e5)]) {
      const { data, error } = await toUntypedClient(clerk.supabase).rpc("desk_shipments", { q });
      expect([data?.shipments, error]).toEqual([[], null]);
      const exported = await toUntypedClient(clerk.supabase).rpc("desk_shipments_export", { q });
      expect([exported.data?.shipments, exported.error]).toEqual([[], null]);
      const clients = await toUntypedClient(clerk.supabase).rpc("desk_clients", { q });
      expect([clients.data?.clients, clients.error]).toEqual([[], null]);
      for (const filter of [{ actor_name: q }, { action: q }, { shipment_prefix: q }]) {
        const log = await toUntypedClient(clerk.supabase).rpc("desk_log", filter);
        expect([log.data?.audit_entries, log.error]).toEqual([[], null]);
      }
    }
    expect(await list({ q: "   " })).toHaveLength(21);
  });

  test("The desk's shipment list names each client and contains the opened shipment with all its details.", async () => {
    const data = await readPage(clerk.supabase, "desk_shipments", { q: "Tea", opened_id: shipment });
    const clientColumns = { id: owner.id, name: `Client ${owner.email}`, email: owner.email, closed: false };
    expect(data.shipments).toMatchObject([{ client_name: clientColumns.name, email: clientColumns.email }]);
    expect(data.opened).toMatchObject({ id: shipment, name: "Tea", stage: 2, waiting_on: "client", arrival: null });
    expect(data.opened.client).toEqual(clientColumns);
    expect(data.opened.documents).toHaveLength(4);
    expect(data.opened.documents).toContainEqual(
      expect.objectContaining({ name: "Packing List", uploaded: true, verified: false, file_name: "list.pdf" }),
    );
    expect(data.opened.charges).toEqual([expect.objectContaining({ item: "duties", amount: 99.5, paid_at: null })]);
    expect(data.opened.tracking_events).toEqual([expect.objectContaining({ status: "Document Verification" })]);
    const actions = data.opened.audit_entries.map(({ action }: { action: string }) => action);
    expect(actions.slice(-2)).toEqual(["charge set", "shipment advance"]);
    expect((await readPage(clerk.supabase, "desk_shipments", { opened_id: randomUUID() })).opened).toBeNull();
  });
});

test("The result of a bulk move lists up to 50 shipments with their current stage and missing documents.", async () => {
  const client = await testBackend.newClient("moved@client.example");
  const [second, first] = [await newShipment(client, "Moved second"), await newShipment(client, "Moved first")];
  const file = await uploadDocument(first);
  await testBackend.serviceRole.rpc("verify_document", { document_id: file.id, sha256, storage_version: file.version });
  const listMoved = async (shipments: string[]) =>
    (await readPage(clerk.supabase, "desk_move_result", { shipment_ids: shipments })).shipments;
  const all = ["Bill of Lading", "Commercial Invoice", "Packing List"];
  const columns = { stage: 1, status: "Client Onboarding", client_name: `Client ${client.email}`, due: [] };
  const [firstRow, secondRow] = await listMoved([second, randomUUID(), first]);
  expect(firstRow).toEqual({ id: first, name: "Moved first", ...columns, missing: expect.any(Array) });
  expect(secondRow).toEqual({ id: second, name: "Moved second", ...columns, missing: expect.arrayContaining(all) });
  expect(secondRow.missing.filter((name: string) => !firstRow.missing.includes(name))).toEqual(["Packing List"]);
  expect(await listMoved([])).toEqual([]);
  const fifty = Array.from({ length: 50 }, () => randomUUID());
  expect(await listMoved([...fifty.slice(1), first])).toHaveLength(1);
  expect(await listMoved([...fifty, first])).toEqual([]);
});
