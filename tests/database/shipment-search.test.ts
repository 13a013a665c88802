import { randomUUID } from "node:crypto";
import { beforeAll, describe, expect, test } from "vitest";
import { newEndedSession, runWithSecondFactor } from "../support/client-sessions.ts";
import { type DatabaseRow, setUpDesk, type TestClient } from "../support/database-suite.ts";
import { type AppSupabaseClient, toUntypedClient } from "../support/test-backend.ts";

type ShipmentListFilter = { q?: string | null; stage?: number | null; waiting_on?: string | null };
type ShipmentListRow = { id: string; name: string; created_at: string; email?: string };

const { testBackend, clerk, query, setUpClient } = setUpDesk();
const stranger = setUpClient("stranger@client.example");

describe("shipment search", () => {
  let finder: TestClient;
  const juba = "aaaa1111-2222-4333-8444-555555555501";
  const cotton = "aaaa1111-2222-4333-8444-555555555502";
  const foreignId = "aaaa1111-2222-4333-8444-555555555503";
  const names = [
    ...["Pumps for Juba", "100% cotton", "100 bales", "tea_bags", "tea bags", "back\\slash", `O'Brien's "crate"`],
    ...["Ng’ang’a’s Wanjirũ tea", "Cafe\u0301 Straße", "6″x2 pipes"],
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
    // Without missing documents the shipment waits for the company.
    await query(
      "delete from public.documents where shipment_id = (select id from public.shipments where name = 'Ours')",
    );
    await query("update public.shipments set staff_action_at = now() where name = 'Ours'");
    await add(stranger, "Pumps for Juba", { id: foreignId, awb: "706-51093844" });
  });
  const listAll = () => [...names, "Fourth", "Ours", "Past"].reverse();

  /** Returns the sorted names of the client's shipments that a search at the desk finds. */
  async function findAtDesk(q: string): Promise<string[]> {
    const { shipments } = await callListRpc("desk_shipments", { q }, clerk.supabase);
    return shipments.flatMap(({ name, email }) => (email === finder.email ? name : [])).sort();
  }

  /** Returns the names that a search finds. Expects the same names in the same order from the list and the CSV. */
  async function find(filter: ShipmentListFilter, supabase: AppSupabaseClient = finder.supabase): Promise<string[]> {
    const [page, csv] = [
      await callListRpc("portal_page", filter, supabase),
      await callListRpc("portal_shipments_export", filter, supabase),
    ];
    expect(csv.shipments).toEqual(page.shipments);
    expect(csv.viewer).toEqual(page.viewer);
    return page.shipments.map(({ name }) => name);
  }

  test.each([
    ["a whole name", "Pumps for Juba", ["Pumps for Juba"]],
    ["part of a name in any case", "  fOR ju ", ["Pumps for Juba"]],
    ["part of several names, newest first", "tea", ["Ng’ang’a’s Wanjirũ tea", "tea bags", "tea_bags"]],
    ["an AWB/BL", "706-51093844", ["Pumps for Juba"]],
    ["part of an AWB/BL in any case", "medux44", ["100% cotton"]],
    ["an AWB/BL with spaces", "706 5109 3844", ["Pumps for Juba"]],
    ["an AWB/BL without its hyphen", "70651093844", ["Pumps for Juba"]],
    ["words of a name in another order", "juba  pumps", ["Pumps for Juba"]],
    ["a word of its name and a part of its AWB/BL", "pumps 5109", ["Pumps for Juba"]],
    ["two words of which one is missing", "pumps kampala", []],
    ["the beginning of an ID after #", "#aaaa", ["100% cotton", "Pumps for Juba"]],
    ["the beginning of an ID", "aaaa", ["100% cotton", "Pumps for Juba"]],
    ["a longer beginning of an ID in capitals and spaces", " AAAA1111-2222-4 ", ["100% cotton", "Pumps for Juba"]],
    ["a whole ID", juba, ["Pumps for Juba"]],
    ["a container number", "CSQU3054383", ["Pumps for Juba"]],
    ["a container number in another spelling", "csqu 305438-3", ["Pumps for Juba"]],
    ["the digits of a container number", "305438", ["Pumps for Juba"]],
    ["three characters of an ID", "aaa", []],
    ["the end of an ID", "555555555501", []],
    ["the ID of a stranger's shipment", foreignId, []],
    ["the middle of an ID", "1111-2222", []],
    ["an unknown ID", "ffffffff", []],
    ["a name with a curly apostrophe, by a straight apostrophe", "Ng'ang'a", ["Ng’ang’a’s Wanjirũ tea"]],
    ["a name with an apostrophe, without it", "nganga", ["Ng’ang’a’s Wanjirũ tea"]],
    ["a name with a double prime, by itself", "6″x2", ["6″x2 pipes"]],
    ["a name with a straight apostrophe, by a curly apostrophe", "o’brien’s", [`O'Brien's "crate"`]],
    ["a name with an accent, without it", "wanjiru", ["Ng’ang’a’s Wanjirũ tea"]],
    ["a name with an accent, in two characters", "wanjiru\u0303", ["Ng’ang’a’s Wanjirũ tea"]],
    ["a name in composed letters, which is stored in two characters", "café", ["Cafe\u0301 Straße"]],
    ["a name with a letter of another alphabet", "STRASSE", ["Cafe\u0301 Straße"]],
    ["a name in characters of full width", "ｔｅａ＿", ["tea_bags"]],
    ["curly quotes", "“crate”", [`O'Brien's "crate"`]],
    ["an AWB/BL with an en dash", "706\u201351093844", ["Pumps for Juba"]],
    ["an AWB/BL in Arabic digits", "٧٠٦-٥١٠٩٣٨٤٤", ["Pumps for Juba"]],
    ["a container number with direction marks", "\u202aCSQU3054383\u202c", ["Pumps for Juba"]],
    ["the beginning of an ID with direction marks", "\u202a#aaaa1111\u202c", ["100% cotton", "Pumps for Juba"]],
    ["an unknown word", "gold", []],
  ])(
    "A client's search by %s finds only own shipments, and the desk finds the same shipments of this client.",
    async (_what, q, expected) => {
      expect(await find({ q })).toEqual(expected);
      expect(await findAtDesk(q)).toEqual([...expected].sort());
    },
  );

  test.each([
    ["%", ["100% cotton"]],
    ["100%", ["100% cotton"]],
    ["%%", []],
    ["1%n", []],
    ["_", ["tea_bags"]],
    ["tea_", ["tea_bags"]],
    ["____", []],
    ["\\", ["back\\slash"]],
    ["\\%", []],
    ["\\\\", []],
    ["'", []],
    ["''", []],
    ['"', [`O'Brien's "crate"`]],
    ["$1", []],
    ["%s", []],
    ["%I", []],
    ["' or true --", []],
    ["'; drop table public.shipments; --", []],
    ["{}", []],
    ["(", []],
    [".*", []],
  ])("A search for %j by a client or by the desk looks for these exact characters.", async (q, expected) => {
    expect(await find({ q })).toEqual(expected);
    expect(await findAtDesk(q)).toEqual([...expected].sort());
  });

  test("A client's search for nothing, or for spaces, finds all shipments, newest first.", async () => {
    for (const q of [undefined, null, "", " ", "   ", " ".repeat(1_000_000)])
      expect(await find({ q })).toEqual(listAll());
  });

  test("A client's search for a text longer than any name finds nothing, and takes only seconds even for a megabyte.", async () => {
    expect(await find({ q: "tea".padEnd(254) })).toEqual(["Ng’ang’a’s Wanjirũ tea", "tea bags", "tea_bags"]);
    const start = Date.now();
    for (const q of ["tea".padEnd(255), "x".repeat(1_000_000), "%".repeat(1_000_000), "\\_".repeat(500_000)]) {
      expect(await find({ q })).toEqual([]);
    }
    expect(Date.now() - start).toBeLessThan(5_000);
  });

  test("A client filters shipments by stage, by who they wait for, and by both together with words.", async () => {
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

  test("A client's shipments are not found by a stranger, a team member, an ended session or a session without the second factor's code.", async () => {
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

describe("a list of 1,100 shipments", () => {
  let many: TestClient;
  let ids: string[];

  beforeAll(async () => {
    many = await testBackend.newClient("many@client.example");
    await query(
      `insert into public.shipments (user_id, name, created_at)
       select $1, 'Crate ' || number, now() - (number / 7) * interval '1 hour' - interval '1.000001 seconds'
       from generate_series(1, 1100) as number`,
      [many.id],
    );
    const rows = await query<{ id: string }>(
      "select id from public.shipments where user_id = $1 order by created_at desc, id desc",
      [many.id],
    );
    ids = rows.map(({ id }) => id);
  });

  test("A client's shipment list has the newest shipment first, in pages of 20 rows plus one if a next page exists.", async () => {
    const pages: string[][] = [];
    for (let page = 1; page <= 56; page += 1) pages.push(await listIds({ page }));
    expect(pages.slice(0, 54).every((page) => page.length === 21)).toBe(true);
    expect(pages.slice(54).map(({ length }) => length)).toEqual([20, 0]);
    expect(pages.flatMap((page) => page.slice(0, 20))).toEqual(ids);
    for (const page of [0, -7]) expect(await listIds({ page })).toEqual(pages[0]);
    expect(await listIds({ page: 2, q: "crate 1099" })).toEqual([]);
    expect(await listIds({ page: 1, q: "crate 109" })).toHaveLength(11);
  });

  test("The CSV of a client's shipments is read in pages of 500 and has each shipment once, even if a shipment is created meanwhile.", async () => {
    const seen: string[] = [];
    let last: ShipmentListRow | undefined;
    for (const length of [500, 500, 100, 0]) {
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

/** Returns the viewer and the shipments that a database function lists. Throws if the call is rejected. */
async function callListRpc(
  name: string,
  args: object,
  supabase: AppSupabaseClient,
): Promise<{ viewer: DatabaseRow | null; shipments: ShipmentListRow[] }> {
  const { data, error } = await toUntypedClient(supabase).rpc(name, args);
  if (error) throw new Error(error.message);
  return data;
}
