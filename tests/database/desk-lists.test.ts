import { randomUUID } from "node:crypto";
import { beforeAll, describe, expect, test } from "vitest";
import { DEFAULT_DOCUMENTS } from "../../app/models/document.ts";
import { readPage, setUpDesk, sha256, type TestClient } from "../support/database-suite.ts";
import { toUntypedClient } from "../support/test-backend.ts";

const { testBackend, owner, clerk, query, callRpc, newShipment, uploadDocument } = setUpDesk();

/** A shipment of `owner` at stage 2, with an unverified document and a charge. */
let shipment: string;
beforeAll(async () => {
  shipment = await newShipment(owner);
  await uploadDocument(shipment);
  await callRpc("move_shipment", { shipment_id: shipment, despite_missing: true });
  await callRpc("set_charge", { shipment_id: shipment, item: "duties", amount: 99.5, currency: "KES" });
});

describe("Shipment list of the desk", () => {
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

  test("The desk finds shipments by their client's email, and by the words of the client's name in any order.", async () => {
    for (const q of ["client WANJIKU", "WANJIKU  client", "kamau@client.example"]) {
      expect(await find(`${q} cotton`, { stage: 10 }), q).toEqual(["Plain cotton"]);
      expect(await find(`nobody ${q}`)).toEqual([]);
      expect(await find(q, { stage: 2 })).toEqual(["Glass_ware"]);
      expect(await find(q)).toHaveLength(21);
    }
  });

  test("The desk finds the shipments of a client by the client's telephone number, also together with a filter.", async () => {
    await query("insert into private.client_phones (account_id, phone) values ($1, '+254722876543')", [client.id]);
    for (const q of ["0722 876543", "+254 722-876 543", "6543"]) {
      expect(await find(q), q).toHaveLength(21);
      expect(await find(q, { stage: 2 })).toEqual(["Glass_ware"]);
    }
    expect(await find("0722 876544")).toEqual([]);
    expect(await find("0722 876543 cotton")).toEqual([]);
    expect(await find("4471203")).toEqual(["Maize mill spares"]);
    await query("delete from private.client_phones");
  });

  test("The desk finds shipments by words of notes to the client, together with words of the name and the client.", async () => {
    const own = await newShipment(owner, "Roof sheets");
    await callRpc("send_note", { shipment_id: own, note: "The marine insurance expires on Friday: 50% paid" });
    for (const q of ["insurance", "FRIDAY marine", "sheets insurance", `${owner.email} expires`, "50%"])
      expect(await find(q), q).toEqual(["Roof sheets"]);
    expect(await find("insurance", { stage: 2 })).toEqual([]);
    expect(await find("insurance cotton")).toEqual([]);
    const { data } = await owner.supabase.rpc("portal_page", { q: "insurance" });
    expect(data).toMatchObject({ shipments: [] });
  });

  test("If nothing matches, the desk finds shipments with similar words, in any order, in names, notes and clients.", async () => {
    const own = await newShipment(client, "Tyres from Guangzhou");
    await callRpc("send_note", { shipment_id: own, note: "We await the phytosanitary certificate" });
    const search = (q: string, more = {}) => readPage(clerk.supabase, "desk_shipments", { q, ...more });
    for (const q of [
      "tires",
      "guangzhu",
      "Gaungzhou tyres",
      "guangzhu TIRES",
      "tires wanjeku",
      "phitosanitary",
      "fitosanitary tires",
    ]) {
      const { shipments, similar } = await search(q);
      expect([similar, shipments.map(({ name }: Row) => name)], q).toEqual([true, ["Tyres from Guangzhou"]]);
    }
    expect((await search("tires", { stage: 1, sort: "name" })).similar).toBe(true);
    for (const more of [{ stage: 2 }, { page: 2 }])
      expect(await search("tires", more)).toMatchObject({ shipments: [], similar: false });
    expect(await search("tyres")).toMatchObject({ shipments: [{ name: "Tyres from Guangzhou" }], similar: false });
    expect(await search("")).toMatchObject({ similar: false });
    for (const q of ["zyzzyva", "tires zyzzyva", "MEDUX4471204", "---", "'"])
      expect(await search(q), q).toMatchObject({ shipments: [], similar: false });
  });

  test("The desk filters shipments by stage, by who must act next, and by both together.", async () => {
    expect((await list({ stage: 3 })).map(({ name }) => name)).toEqual(["Cargo of drums"]);
    expect((await list({ waiting_on: "nobody" })).map(({ name }) => name)).toEqual(["Plain cotton"]);
    const waiting = (await list({ waiting_on: "client" })).map(({ waiting_on }) => waiting_on);
    expect(new Set(waiting)).toEqual(new Set(["client"]));
    expect(await list({ waiting_on: "company" })).toEqual([]);
    expect(await list({ waiting_on: "nobody", stage: 1 })).toEqual([]);
    expect(await find("cotton", { waiting_on: "client" })).toEqual(["100% cotton"]);
    expect(await find("cotton", { stage: 10, waiting_on: "nobody" })).toEqual(["Plain cotton"]);
  });

  test("The desk lists the latest changed shipment first, in pages of 20 rows. One more row shows that a next page exists.", async () => {
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

  /**
   * Returns the next shipments for the CSV with `filter`: the shipments after `last`, or the first shipments without
   * `last`.
   */
  async function listExport(last: Row | undefined, filter: ListFilter): Promise<Row[]> {
    const place = last && { before: last.created_at, before_id: last.id };
    return (await readPage(clerk.supabase, "desk_shipments_export", { ...filter, ...place })).shipments;
  }

  test("The desk's CSV, read in pages of 500, lists each shipment once, even if shipments change between two pages.", async () => {
    const many = await testBackend.newClient("many@client.example");
    // All shipments have the same creation time, so the CSV is sorted by ID.
    await query(
      "insert into public.shipments (user_id, name) select $1, 'Sack ' || number from generate_series(1, 620) as number",
      [many.id],
    );
    const filter = { q: many.email, waiting_on: "client" };
    expect(await listExport(undefined, { ...filter, waiting_on: "company" })).toEqual([]);
    const first = await listExport(undefined, filter);
    expect(first).toHaveLength(500);
    const seen = new Set(first.map(({ id }) => id));
    const newestFirst = "select id from public.shipments where user_id = $1 order by id desc";
    const unseen = (await query<{ id: string }>(newestFirst, [many.id])).filter(({ id }) => !seen.has(id));
    expect(unseen).toHaveLength(120);
    for (const { id } of [unseen[0], unseen[60], unseen[119], first[0], first[499]].filter((row) => !!row)) {
      await callRpc("send_note", { shipment_id: id, note: "It came" });
      await callRpc("move_shipment", { shipment_id: id, despite_missing: true });
    }
    const second = await listExport(first.at(-1), filter);
    expect(second.map(({ id }) => id)).toEqual(unseen.map(({ id }) => id));
    expect(await listExport(second.at(-1), filter)).toEqual([]);
  });

  test("The desk filters shipments with an unverified file, also together with other filters.", async () => {
    const importer = await testBackend.newClient("checked@client.example");
    const [tiles, paint] = [await newShipment(importer, "Checked tiles"), await newShipment(importer, "Checked paint")];
    const [first, second] = [await uploadDocument(tiles), await uploadDocument(paint)];
    const checked = async (more: ListFilter = {}) => find("Checked", { to_check: true, ...more });
    const listExported = () => listExport(undefined, { q: "Checked", to_check: true });
    const exported = async () => (await listExported()).map(({ name }) => name).sort();
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

  test("A search on the desk for a text of one megabyte finds nothing, and a search for spaces finds everything.", async () => {
    const searches: [page: string, field: string, rows: string][] = [
      ["desk_shipments", "q", "shipments"],
      ["desk_shipments_export", "q", "shipments"],
      ["desk_clients", "q", "clients"],
      ["desk_log", "actor_name", "audit_entries"],
      ["desk_log", "action", "audit_entries"],
      ["desk_log", "shipment_prefix", "audit_entries"],
    ];
    for (const q of ["%".repeat(1e6), `Crate${" ".repeat(1e6)}`]) {
      for (const [page, field, rows] of searches) {
        const { data, error } = await toUntypedClient(clerk.supabase).rpc(page, { [field]: q });
        expect([data?.[rows], error], `${page} ${field}`).toEqual([[], null]);
      }
    }
    expect(await list({ q: "   " })).toHaveLength(21);
  });

  test("The desk's list contains each shipment's client, and all details of the shipment that the team member opened.", async () => {
    const data = await readPage(clerk.supabase, "desk_shipments", { q: "Tea", opened_id: shipment });
    const clientColumns = {
      id: owner.id,
      name: `Client ${owner.email}`,
      email: owner.email,
      phone: null,
      closed: false,
    };
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
    expect(actions.slice(-2)).toEqual(["charge save", "shipment move"]);
    expect((await readPage(clerk.supabase, "desk_shipments", { opened_id: randomUUID() })).opened).toBeNull();
  });
});

test("After a bulk action, the desk lists up to 50 moved shipments with their current stage and missing documents.", async () => {
  const client = await testBackend.newClient("moved@client.example");
  const [second, first] = [await newShipment(client, "Moved second"), await newShipment(client, "Moved first")];
  const file = await uploadDocument(first);
  await testBackend.serviceRole.rpc("verify_document", { document_id: file.id, sha256, storage_version: file.version });
  const listMoved = async (shipments: string[]) =>
    (await readPage(clerk.supabase, "desk_move_result", { shipment_ids: shipments })).shipments;
  const columns = { stage: 1, status: "Client Onboarding", client_name: `Client ${client.email}`, version: 0 };
  const [firstRow, secondRow] = await listMoved([second, randomUUID(), first]);
  const allMissing = [...DEFAULT_DOCUMENTS].sort();
  const missing = allMissing.filter((name) => name !== "Packing List");
  expect(firstRow).toEqual({ id: first, name: "Moved first", ...columns, open: { missing } });
  expect(secondRow).toEqual({ id: second, name: "Moved second", ...columns, open: { missing: allMissing } });
  expect(await listMoved([])).toEqual([]);
  const fifty = Array.from({ length: 50 }, () => randomUUID());
  expect(await listMoved([...fifty.slice(1), first])).toHaveLength(1);
  expect(await listMoved([...fifty, first])).toEqual([]);
});

describe("Activity log", () => {
  const shipment = randomUUID();
  const account = randomUUID();
  beforeAll(async () => {
    const rows: [string, string, string | null, string][] = [
      ["Njeri", "shipment note", shipment, "2025-03-01T20:59:59Z"],
      ["Njeri", "shipment correct", shipment, "2025-03-01T21:00:00Z"],
      ["Ouma", "shipment note", null, "2025-03-02T09:00:00Z"],
      ["Njeri", "account reopen", null, "2025-03-02T20:59:59.999Z"],
      ["Njeri Wambui", "shipment note", null, "2025-03-02T21:00:00Z"],
      ["100%_Ali", "shipment note", null, "2025-03-09T21:00:00Z"],
    ];
    const insert = "insert into public.audit_log (actor_name, action, shipment_id, created_at) values ($1, $2, $3, $4)";
    for (const row of rows) await query(insert, row);
    await query(
      "insert into public.audit_log (actor_name, action, account_id, created_at) values ('Chebet', 'account close', $1, '2025-03-10')",
      [account],
    );
    await query(
      `insert into public.audit_log (actor_name, action, created_at)
       select 'Many', 'action ' || number, timestamptz '2024-01-01' + make_interval(hours => number)
       from generate_series(1, 120) as number`,
    );
  });
  type LogEntry = { id: string; created_at: string; actor_name: string; action: string };
  const listEntries = async (filter: object): Promise<LogEntry[]> =>
    (await readPage(clerk.supabase, "desk_log", filter)).audit_entries;
  const listLines = async (filter: object) =>
    (await listEntries(filter)).map(({ actor_name, action }) => `${actor_name}: ${action}`);
  const numbers = (first: number, last: number) =>
    Array.from({ length: first - last + 1 }, (_, index) => `Many: action ${first - index}`);

  test("The activity log can be filtered by part of a name, by action and by shipment.", async () => {
    const own = ["Njeri: account reopen", "Njeri: shipment correct", "Njeri: shipment note"];
    const all = ["Njeri Wambui: shipment note", ...own];
    for (const who of ["Njeri", "njer", " JERI ", "\u202aN’je\u0301ri\u202c"])
      expect(await listLines({ actor_name: who }), who).toEqual(all);
    expect(await listLines({ actor_name: "wamb" })).toEqual(["Njeri Wambui: shipment note"]);
    expect(await listLines({ actor_name: "Njeri", action: "shipment correct" })).toEqual(["Njeri: shipment correct"]);
    expect(await listLines({ shipment_prefix: shipment })).toEqual(["Njeri: shipment correct", "Njeri: shipment note"]);
    const corrections = await listLines({ shipment_prefix: shipment, action: "shipment correct" });
    expect(corrections).toEqual(["Njeri: shipment correct"]);
    expect(await listLines({ shipment_prefix: shipment, actor_name: "Wambui" })).toEqual([]);
  });

  test("The characters % and _ in a name filter of the activity log are plain text, not wildcards.", async () => {
    for (const who of ["%", "_", "0%_a"])
      expect(await listLines({ actor_name: who }), who).toEqual(["100%_Ali: shipment note"]);
    for (const who of ["\\", "Nje%i", "N_eri", "Nobody", "'"])
      expect(await listLines({ actor_name: who }), who).toEqual([]);
  });

  test("The activity log can be filtered by the first four or more characters of a shipment's id.", async () => {
    const both = ["Njeri: shipment correct", "Njeri: shipment note"];
    for (const length of [8, 9, 20, 36]) {
      const lines = await listLines({ shipment_prefix: shipment.slice(0, length), actor_name: "Njeri" });
      expect(lines, String(length)).toEqual(both);
    }
    expect(await listLines({ shipment_prefix: ` ${shipment.slice(0, 13).toUpperCase()} ` })).toEqual(both);
    for (const prefix of [shipment.slice(0, 3), shipment.slice(1, 12), `${shipment}0`, "%", "zebra", ""]) {
      expect(await listLines({ shipment_prefix: prefix }), prefix).toEqual([]);
    }
  });

  test("The activity log can be filtered by account, and names the account and the shipment as long as both exist.", async () => {
    expect(await listLines({ account_id: account })).toEqual(["Chebet: account close"]);
    expect(await listLines({ account_id: account, actor_name: "Njeri" })).toEqual([]);
    expect(await listLines({ account_id: randomUUID() })).toEqual([]);
    const unnamed = { account_id: account, account_name: null, is_client: false, shipment_name: null };
    expect(await listEntries({ account_id: account })).toMatchObject([unnamed]);
    const tea = await newShipment(owner);
    await callRpc("send_note", { shipment_id: tea, note: "It arrived" });
    const client = await testBackend.newClient("logged@client.example");
    await testBackend.serviceRole.rpc("close_account", { account_id: client.id, reason: "They asked" });
    const closing = { action: "account close", account_name: `Client ${client.email}`, is_client: true };
    expect(await listEntries({ account_id: client.id })).toMatchObject([closing]);
    expect(await listEntries({ shipment_prefix: tea })).toMatchObject([{ shipment_id: tea, shipment_name: "Tea" }]);
    expect((await listEntries({ shipment_prefix: shipment }))[0]).toMatchObject({ shipment_name: null });
  });

  test("The activity log filters days in East Africa Time.", async () => {
    expect(await listLines({ day: "2025-03-01" })).toEqual(["Njeri: shipment note"]);
    expect(await listLines({ day: "2025-03-02" })).toEqual([
      "Njeri: account reopen",
      "Ouma: shipment note",
      "Njeri: shipment correct",
    ]);
    expect(await listLines({ day: "2025-03-03" })).toEqual(["Njeri Wambui: shipment note"]);
    expect(await listLines({ day: "2025-03-02", actor_name: "Ouma" })).toEqual(["Ouma: shipment note"]);
    expect(await listLines({ day: "2025-03-04" })).toEqual([]);
  });

  test("The activity log lists the newest entries first, in pages of 50, and the export can continue after any entry.", async () => {
    expect(await listLines({ actor_name: "Many" })).toEqual(numbers(120, 70));
    expect(await listLines({ actor_name: "Many", page: 2 })).toEqual(numbers(70, 20));
    expect(await listLines({ actor_name: "Many", page: 3 })).toEqual(numbers(20, 1));
    const [, second] = await listEntries({ actor_name: "Many" });
    const rest = { actor_name: "Many", page: 0, before: second?.created_at, before_id: second?.id };
    expect(await listLines(rest)).toEqual(numbers(118, 1));
  });
});
