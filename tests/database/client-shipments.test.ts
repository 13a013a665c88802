import { randomUUID } from "node:crypto";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { newEndedSession, runWithSecondFactor } from "../support/client-sessions.ts";
import { type DatabaseRow, setUpDesk, type TestClient } from "../support/database-suite.ts";
import { type AppSupabaseClient, toUntypedClient } from "../support/test-backend.ts";

const { testBackend, clerk, query, setUpClient } = setUpDesk();

type ShipmentListFilter = { q?: string | null; stage?: number | null; waiting_on?: string | null };
type ShipmentListRow = { id: string; name: string; created_at: string; email?: string };

const stranger = setUpClient("stranger@client.example");

describe("Shipment search", () => {
  let finder: TestClient;
  const juba = "aaaa1111-2222-4333-8444-555555555501";
  const cotton = "aaaa1111-2222-4333-8444-555555555502";
  const foreignId = "aaaa1111-2222-4333-8444-555555555503";
  const names = [
    ...["Pumps for Juba", "100% cotton", "100 bales", "tea_bags", "tea bags", "back\\slash", `O'Brien's "crate"`],
    ...["Ng’ang’a’s Wanjirũ tea", "Cafe\u0301 Straße", "6″x2 pipes", "Þórður Καφές"],
  ];

  beforeAll(async () => {
    finder = await testBackend.newClient("finder@client.example");
    const add = (client: TestClient, name: string, more: { id?: string; awb?: string; stage?: number } = {}) =>
      query(
        `insert into public.shipments (id, user_id, name, awb, stage, created_at)
         values ($1, $2, $3, $4, $5, clock_timestamp())`,
        [more.id ?? randomUUID().replace(/^..../, "0000"), client.id, name, more.awb ?? null, more.stage ?? 1],
      );
    await add(finder, "Pumps for Juba", { id: juba, awb: "706-51093844" });
    await query("update public.shipments set container_numbers = '{TOLU4734787,CSQU3054383}' where id = $1", [juba]);
    await add(finder, "100% cotton", { id: cotton, awb: "MEDUX4471203" });
    for (const name of names.slice(2)) await add(finder, name);
    await add(finder, "Fourth", { stage: 4 });
    await add(finder, "Ours", { stage: 4 });
    await add(finder, "Past", { stage: 10 });
    // No document is missing, so the shipment is waiting on the company.
    await query(
      "delete from public.documents where shipment_id = (select id from public.shipments where name = 'Ours')",
    );
    await query("update public.shipments set staff_action_at = now() where name = 'Ours'");
    await add(stranger, "Pumps for Juba", { id: foreignId, awb: "706-51093844" });
  });
  const listAll = () => [...names, "Fourth", "Ours", "Past"].reverse();

  /** Returns the names of the client's shipments that a search for `q` on the desk finds, sorted by name. */
  async function findAtDesk(q: string): Promise<string[]> {
    const { shipments } = await callListRpc("desk_shipments", { q }, clerk.supabase);
    return shipments.flatMap(({ name, email }) => (email === finder.email ? name : [])).sort();
  }

  /**
   * Returns the names of the shipments that match `filter`. Checks that the list and the CSV have the names in the same
   * order.
   */
  async function find(filter: ShipmentListFilter, supabase: AppSupabaseClient = finder.supabase): Promise<string[]> {
    const [page, csv] = [
      await callListRpc("portal_page", filter, supabase),
      await callListRpc("portal_shipments_export", filter, supabase),
    ];
    expect(csv.shipments).toEqual(page.shipments);
    expect(csv.viewer).toEqual(page.viewer);
    return page.shipments.map(({ name }) => name);
  }

  const tea = "Ng’ang’a’s Wanjirũ tea";
  test.each([
    [["Pumps for Juba"], ["Pumps for Juba", "  fOR ju ", "juba  pumps", "pumps 5109"]],
    [["Pumps for Juba"], ["706-51093844", "706 5109 3844", "70651093844", "706\u201351093844", "٧٠٦-٥١٠٩٣٨٤٤"]],
    [["Pumps for Juba"], ["CSQU3054383", "csqu 305438-3", "305438", "\u202aCSQU3054383\u202c", juba]],
    [
      ["100% cotton", "Pumps for Juba"],
      ["#aaaa", "aaaa", " AAAA1111-2222-4 ", "\u202a#aaaa1111\u202c"],
    ],
    [["100% cotton"], ["medux44"]],
    [[tea, "tea bags", "tea_bags"], ["tea"]],
    [["tea_bags"], ["ｔｅａ＿"]],
    [[tea], ["Ng'ang'a", "nganga", "wanjiru", "wanjiru\u0303"]],
    [[`O'Brien's "crate"`], ["o’brien’s", "“crate”"]],
    [["Cafe\u0301 Straße"], ["café", "STRASSE"]],
    [["6″x2 pipes"], ["6″x2"]],
    [["Þórður Καφές"], ["thordur", "καφεσ"]],
    [[], ["pumps kampala", "gold", "aaa", "555555555501", "1111-2222", "ffffffff", foreignId]],
  ])(
    "A search in the portal or on the desk finds the shipments %j with names, numbers and IDs in other spellings: %j",
    async (expected, searches) => {
      for (const q of searches) {
        expect(await find({ q }), q).toEqual(expected);
        expect(await findAtDesk(q), q).toEqual([...expected].sort());
      }
    },
  );

  test("A search in the portal or on the desk treats wildcards and SQL as plain text.", async () => {
    const cotton = ["100% cotton"];
    const found = {
      ...{ "%": cotton, "100%": cotton, _: ["tea_bags"], tea_: ["tea_bags"], "\\": ["back\\slash"] },
      '"': [`O'Brien's "crate"`],
    };
    const nothing = [
      ...["%%", "1%n", "____", "\\%", "\\\\", "'", "''", "$1", "%s", "%I", "{}", "(", ".*"],
      ...["' or true --", "'; drop table public.shipments; --"],
    ];
    for (const [q, expected] of [...Object.entries(found), ...nothing.map((q) => [q, []] as const)]) {
      expect(await find({ q }), q).toEqual(expected);
      expect(await findAtDesk(q), q).toEqual(expected);
    }
  });

  test("A client's search with an empty text or only spaces finds all the client's shipments, newest first.", async () => {
    for (const q of [undefined, null, "", " ", "   ", " ".repeat(1_000_000)])
      expect(await find({ q })).toEqual(listAll());
  });

  test("A client's search for a text that is longer than any name finds nothing, and a text of one megabyte takes only seconds.", async () => {
    expect(await find({ q: "tea".padEnd(254) })).toEqual(["Ng’ang’a’s Wanjirũ tea", "tea bags", "tea_bags"]);
    const start = Date.now();
    for (const q of ["tea".padEnd(255), "x".repeat(1_000_000), "\\_".repeat(500_000)]) {
      expect(await find({ q })).toEqual([]);
    }
    expect(Date.now() - start).toBeLessThan(5_000);
  });

  test("A client can filter shipments by stage, by who must act next, and by both together with search words.", async () => {
    expect(await find({ stage: 4 })).toEqual(["Ours", "Fourth"]);
    expect(await find({ stage: 10 })).toEqual(["Past"]);
    expect(await find({ waiting_on: "company" })).toEqual(["Ours"]);
    expect(await find({ waiting_on: "nobody" })).toEqual(["Past"]);
    expect(await find({ waiting_on: "client" })).toEqual(
      listAll().filter((name) => name !== "Ours" && name !== "Past"),
    );
    expect(await find({ stage: 4, waiting_on: "client" })).toEqual(["Fourth"]);
    expect(await find({ stage: 4, waiting_on: "company", q: "our" })).toEqual(["Ours"]);
    expect(await find({ stage: 1, q: "our" })).toEqual([]);
    expect(await find({ stage: 1, waiting_on: "client", q: "aaaa1" })).toEqual(["100% cotton", "Pumps for Juba"]);
    for (const stage of [0, -1, 11, 40_000]) expect(await find({ stage })).toEqual([]);
    for (const waiting_on of ["", "closed", "client' or true --", "Client"])
      expect(await find({ waiting_on })).toEqual([]);
  });

  test("The portal's search finds a client's shipments only for this client, in a valid session that has passed the second factor.", async () => {
    expect(await find({ q: "Pumps" }, stranger.supabase)).toEqual(["Pumps for Juba"]);
    const { shipments } = await callListRpc("portal_page", { q: "Pumps" }, stranger.supabase);
    expect(shipments.map(({ id }) => id)).toEqual([foreignId]);
    expect(await find({}, clerk.supabase)).toEqual([]);
    expect(await find({ q: juba }, clerk.supabase)).toEqual([]);
    const ended = await newEndedSession(testBackend, finder.email);
    expect(await find({}, ended)).toEqual([]);
    expect((await callListRpc("portal_shipments_export", {}, ended)).viewer).toBeNull();
    await runWithSecondFactor(testBackend, finder.id, async () => {
      expect(await find({ q: "Pumps" })).toEqual([]);
      expect((await callListRpc("portal_shipments_export", {}, finder.supabase)).viewer).toMatchObject({
        email: finder.email,
      });
    });
  });
});

describe("List of 520 shipments", () => {
  let many: TestClient;
  let ids: string[];

  beforeAll(async () => {
    many = await testBackend.newClient("many@client.example");
    await query(
      `insert into public.shipments (user_id, name, created_at)
       select $1, 'Crate ' || number, now() - (number / 7) * interval '1 hour' - interval '1.000001 seconds'
       from generate_series(1, 520) as number`,
      [many.id],
    );
    const rows = await query<{ id: string }>(
      "select id from public.shipments where user_id = $1 order by created_at desc, id desc",
      [many.id],
    );
    ids = rows.map(({ id }) => id);
  });

  test("A client's shipments are listed newest first, in pages of 20 rows. One more row shows that a next page exists.", async () => {
    const pages = await Promise.all(Array.from({ length: 27 }, (_, index) => listIds({ page: index + 1 })));
    expect(pages.map(({ length }) => length)).toEqual([...Array(25).fill(21), 20, 0]);
    expect(pages.flatMap((page) => page.slice(0, 20))).toEqual(ids);
    for (const page of [0, -7]) expect(await listIds({ page })).toEqual(pages[0]);
    expect(await listIds({ page: 2, q: "crate 519" })).toEqual([]);
    expect(await listIds({ page: 1, q: "crate 51" })).toHaveLength(15);
  });

  test("The CSV of a client's shipments, read in pages of 500, lists each shipment once, even if the client adds a shipment meanwhile.", async () => {
    const seen: string[] = [];
    let last: ShipmentListRow | undefined;
    for (const length of [500, 20, 0]) {
      const position = last ? { before: last.created_at, before_id: last.id } : {};
      const { shipments } = await callListRpc("portal_shipments_export", position, many.supabase);
      expect(shipments).toHaveLength(length);
      seen.push(...shipments.map(({ id }) => id));
      last = shipments.at(-1) ?? last;
      const { error } = await many.supabase.from("shipments").insert({ name: "Crate of now", user_id: many.id });
      expect(error).toBeNull();
    }
    expect(seen).toEqual(ids);
  });

  async function listIds(filter: ShipmentListFilter & { page: number }): Promise<string[]> {
    return (await callListRpc("portal_page", filter, many.supabase)).shipments.map(({ id }) => id);
  }
});

/**
 * Calls the database function `name`, which lists shipments. Returns the viewer and the shipments. Throws if the call
 * fails.
 */
async function callListRpc(
  name: string,
  args: object,
  supabase: AppSupabaseClient,
): Promise<{ viewer: DatabaseRow | null; shipments: ShipmentListRow[] }> {
  const { data, error } = await toUntypedClient(supabase).rpc(name, args);
  if (error) throw new Error(error.message);
  return data;
}

describe("Waiting shipments", () => {
  let waiter: TestClient;
  beforeEach(async () => {
    waiter = await testBackend.newClient(`${randomUUID()}@client.example`);
  });

  type ShipmentState = {
    since: string;
    stage: number;
    rejected: string;
    documents: number;
    due: string;
    items: string[];
  };
  /**
   * Adds a shipment that has waited since `since`. `rejected` is the day on which its documents were rejected. `due` is
   * the due date of its charges.
   */
  async function add(name: string, state: Partial<ShipmentState> = {}, { id: user } = waiter): Promise<void> {
    const { since = "2026-05-01", stage = 1, rejected, documents = 1, due, items = ["duties"] } = state;
    const id = randomUUID();
    await query(
      "insert into public.shipments (id, user_id, name, created_at, waiting_since) values ($1, $2, $3, $4, $4)",
      [id, user, name, since],
    );
    if (rejected)
      await query(
        `update public.documents set rejected_at = $2::timestamptz + number * interval '1 minute', rejection_reason = 'Torn'
         from (select id, row_number() over (order by id) as number from public.documents where shipment_id = $1) as numbered
         where numbered.id = documents.id and number <= $3`,
        [id, rejected, documents],
      );
    if (due)
      await query(
        `insert into public.charges (shipment_id, item, amount, currency, due_on)
         select $1, item, 5, 'KES', nullif($2, 'no day')::date from unnest(string_to_array($3, ' ')) as item`,
        [id, due, items.join(" ")],
      );
    if (stage !== 1) await query("update public.shipments set stage = $2 where id = $1", [id, stage]);
  }

  /**
   * Returns the names of the shipments that wait for the client, in the portal's order, and the numbers of shipments.
   */
  async function readWork(supabase: AppSupabaseClient = waiter.supabase) {
    const { data, error } = await toUntypedClient(supabase).rpc("portal_page", {});
    if (error) throw new Error(error.message);
    const { waiting, ...counts } = data.work as { waiting: DatabaseRow[] } & DatabaseRow;
    return { names: waiting.map(({ name }) => name), waiting, counts };
  }

  test("The portal lists shipments that wait for the client: rejected documents first, then due charges, then the longest waiting.", async () => {
    await add("Waits", { since: "2026-04-03" });
    await add("Due later", { since: "2026-01-02", due: "2026-07-01" });
    await add("Rejected later", { rejected: "2026-06-02" });
    await add("Waits longest", { since: "2026-04-02" });
    await add("Due first", { due: "2026-06-30" });
    await add("Rejected first", { rejected: "2026-06-01" });
    const ordered = ["Rejected first", "Rejected later", "Due first", "Due later", "Waits longest", "Waits"];
    expect((await readWork()).names).toEqual(ordered);
  });

  test("The portal lists a shipment with several reasons to wait once, at its most urgent position, with all documents and charges.", async () => {
    await add("Only due", { due: "2026-01-01" });
    await add("Rejected and due", { since: "2026-01-01", rejected: "2026-06-01", documents: 3, due: "2026-06-30" });
    const { names, waiting, counts } = await readWork();
    expect(names).toEqual(["Rejected and due", "Only due"]);
    expect(counts).toEqual({ client: 2, company: 0, nobody: 0 });
    const [{ documents, charges } = {}] = waiting as { documents?: DatabaseRow[]; charges?: DatabaseRow[] }[];
    expect(documents?.map(({ rejected_at }) => rejected_at !== null).sort()).toEqual([false, true, true, true]);
    expect(charges).toEqual([{ item: "duties", due_on: "2026-06-30", paid_at: null }]);
  });

  test("The portal lists at most six shipments that wait for the client, and shows the number of the others.", async () => {
    for (const day of [8, 7, 6, 5, 4, 3, 2]) {
      const due = `2026-07-0${day}`;
      await add(`Rejected ${day}`, { rejected: `2026-06-0${day}`, documents: 4, due });
      await add(`Due ${day}`, { due, items: ["idf-fee", "duties", "agent-fee"] });
      await add(`Waits ${day}`, { since: `2026-04-0${day}` });
    }
    const { names, counts } = await readWork();
    expect(names).toEqual([2, 3, 4, 5, 6, 7].map((day) => `Rejected ${day}`));
    expect(counts).toEqual({ client: 21, company: 0, nobody: 0 });
    await query("delete from public.shipments where user_id = $1 and name ~ 'Rejected'", [waiter.id]);
    expect((await readWork()).names).toEqual([2, 3, 4, 5, 6, 7].map((day) => `Due ${day}`));
    await query("delete from public.shipments where user_id = $1 and name ~ 'Due'", [waiter.id]);
    expect((await readWork()).names).toEqual([2, 3, 4, 5, 6, 7].map((day) => `Waits ${day}`));
  });

  test("A paid charge, or a charge without a due date, does not move a shipment up in the list of waiting shipments.", async () => {
    await add("Paid", { since: "2026-05-04", due: "2026-01-01" });
    await query(
      "update public.charges set paid_at = now() where shipment_id = (select id from public.shipments where name = 'Paid')",
    );
    await add("Without a day", { since: "2026-05-03", due: "no day" });
    await add("Waits", { since: "2026-05-02" });
    const { names, waiting } = await readWork();
    expect(names).toEqual(["Waits", "Without a day", "Paid"]);
    expect(waiting.at(-1)?.charges).toEqual([]);
  });

  test("The portal's list of waiting shipments contains no closed shipments, and no shipments that wait for the company.", async () => {
    await add("Waits", { since: "2026-01-01" });
    await add("Due", { due: "2026-07-01" });
    await add("Rejected", { rejected: "2026-06-01" });
    const closed = { stage: 10, rejected: "2025-01-01", documents: 4, due: "2025-01-01" };
    // The list reads at most 100 documents and charges. Documents and charges of closed shipments must not count.
    const items = ["idf-fee", "duties", "agent-fee"];
    await Promise.all(Array.from({ length: 34 }, () => add("Closed", { ...closed, items })));
    await add("With the company");
    await query(
      "delete from public.documents where shipment_id in (select id from public.shipments where name = 'With the company')",
    );
    await query("update public.shipments set staff_action_at = now() where name = 'With the company'");
    const { names, counts } = await readWork();
    expect(names).toEqual(["Rejected", "Due", "Waits"]);
    expect(counts).toEqual({ client: 3, company: 1, nobody: 34 });
  });

  test("Only the client sees the list of waiting shipments, in a session that has passed the second factor and not on a shipment's page.", async () => {
    const urgent = { since: "2026-01-01", rejected: "2026-01-02", due: "2026-01-03" };
    await add("Own", { since: "2026-06-01" });
    const foreignClient = await testBackend.newClient(`${randomUUID()}@client.example`);
    await add("Foreign", urgent, foreignClient);
    expect(await readWork()).toMatchObject({ names: ["Own"], counts: { client: 1, company: 0, nobody: 0 } });
    expect((await readWork(foreignClient.supabase)).names).toEqual(["Foreign"]);
    const nothing = { names: [], waiting: [], counts: { client: 0, company: 0, nobody: 0 } };
    expect(await readWork(clerk.supabase)).toEqual(nothing);
    const [{ id } = {}] = await query("select id from public.shipments where user_id = $1", [waiter.id]);
    expect((await toUntypedClient(waiter.supabase).rpc("portal_page", { opened_id: id })).data.work).toBeNull();
    await runWithSecondFactor(testBackend, waiter.id, async () => expect(await readWork()).toEqual(nothing));
  });
});
