import { createHash, randomBytes, randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { newEndedSession, runWithSecondFactor } from "../support/client-sessions.ts";
import { callConcurrently, newStaffMember, runInSession } from "../support/staff-members.ts";
import { type AppSupabaseClient, startTestBackend, toUntypedClient } from "../support/test-backend.ts";

type TestClient = Awaited<ReturnType<typeof testBackend.newClient>>;
type DatabaseRow = Record<string, unknown>;
type ShipmentListFilter = { q?: string | null; stage?: number | null; waiting_on?: string | null };
type ShipmentListRow = { id: string; name: string; created_at: string };

let testBackend: Awaited<ReturnType<typeof startTestBackend>>;
let owner: TestClient;
let stranger: TestClient;
let clerk: Awaited<ReturnType<typeof newStaffMember>>;

beforeAll(async () => {
  testBackend = await startTestBackend();
  owner = await testBackend.newClient("owner@client.example");
  stranger = await testBackend.newClient("stranger@client.example");
  clerk = await newStaffMember(testBackend, "clerk", "clerk@company.example");
});
afterAll(() => testBackend.close());

const logInAgainError = "403 Log in again to do this.";
const unknownShipmentError = "404 There is no such shipment.";

describe("finding a shipment", () => {
  let finder: TestClient;
  const juba = "aaaa1111-2222-4333-8444-555555555501";
  const cotton = "aaaa1111-2222-4333-8444-555555555502";
  const theirs = "aaaa1111-2222-4333-8444-555555555503";
  const names = [
    "Pumps for Juba",
    "100% cotton",
    "100 bales",
    "tea_bags",
    "tea bags",
    "back\\slash",
    `O'Brien's "crate"`,
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
    await add(finder, "100% cotton", { id: cotton, awb: "MEDUX4471203" });
    for (const name of names.slice(2)) await add(finder, name);
    await add(finder, "Fourth", { stage: 4 });
    await add(finder, "Ours", { stage: 4 });
    await add(finder, "Past", { stage: 10 });
    // Nothing of it waits for its client any more.
    await query(
      "delete from public.documents where shipment_id = (select id from public.shipments where name = 'Ours')",
    );
    await query("update public.shipments set staff_action_at = now() where name = 'Ours'");
    await add(stranger, "Pumps for Juba", { id: theirs, awb: "706-51093844" });
  });
  const all = () => [...names, "Fourth", "Ours", "Past"].reverse();

  /** The names that a search finds, in their order: the same in the list and in the CSV. */
  async function found(filter: ShipmentListFilter, supabase: AppSupabaseClient = finder.supabase): Promise<string[]> {
    const [page, after] = [
      await callListRpc("portal_page", filter, supabase),
      await callListRpc("portal_shipments_export", filter, supabase),
    ];
    expect(after.shipments).toEqual(page.shipments);
    expect(after.viewer).toEqual(page.viewer);
    return page.shipments.map(({ name }) => name);
  }

  test.each([
    ["a name", "Pumps for Juba", ["Pumps for Juba"]],
    ["a part of it, however it is written", "  fOR ju ", ["Pumps for Juba"]],
    ["a part of several names, newest first", "tea", ["tea bags", "tea_bags"]],
    ["an AWB/BL", "706-51093844", ["Pumps for Juba"]],
    ["a part of it, however it is written", "medux44", ["100% cotton"]],
    ["an AWB/BL as it is spoken", "706 5109 3844", ["Pumps for Juba"]],
    ["an AWB/BL without its hyphen", "70651093844", ["Pumps for Juba"]],
    ["words of a name in another order", "juba  pumps", ["Pumps for Juba"]],
    ["a word of its name and a part of its AWB/BL", "pumps 5109", ["Pumps for Juba"]],
    ["two words of which it has one", "pumps kampala", []],
    ["the beginning of an id with its #", "#aaaa", ["100% cotton", "Pumps for Juba"]],
    ["the beginning of an id", "aaaa", ["100% cotton", "Pumps for Juba"]],
    ["more of it, in capitals and with spaces around", " AAAA1111-2222-4 ", ["100% cotton", "Pumps for Juba"]],
    ["a whole id", juba, ["Pumps for Juba"]],
    ["three characters of an id", "aaa", []],
    ["the end of an id", "555555555501", []],
    ["the whole id of a stranger's", theirs, []],
    ["words that nothing has", "gold", []],
  ])("by %s finds those of the client's own alone", async (_what, q, expected) => {
    expect(await found({ q })).toEqual(expected);
  });

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
    ["'", [`O'Brien's "crate"`]],
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
  ])("by %j looks for these very characters", async (q, expected) => {
    expect(await found({ q })).toEqual(expected);
  });

  test("by nothing, or by spaces however many, finds all, newest first", async () => {
    for (const q of [undefined, null, "", " ", "   ", " ".repeat(1_000_000)]) expect(await found({ q })).toEqual(all());
  });

  test("by more text than any name has finds nothing, by a megabyte of it within seconds", async () => {
    expect(await found({ q: "tea".padEnd(254) })).toEqual(["tea bags", "tea_bags"]);
    const begun = Date.now();
    for (const q of ["tea".padEnd(255), "x".repeat(1_000_000), "%".repeat(1_000_000), "\\_".repeat(500_000)]) {
      expect(await found({ q })).toEqual([]);
    }
    expect(Date.now() - begun).toBeLessThan(5_000);
  });

  test("at a stage and by whose move it is, alone, together and with words", async () => {
    expect(await found({ stage: 4 })).toEqual(["Ours", "Fourth"]);
    expect(await found({ stage: 10 })).toEqual(["Past"]);
    expect(await found({ waiting_on: "company" })).toEqual(["Ours"]);
    expect(await found({ waiting_on: "nobody" })).toEqual(["Past"]);
    expect(await found({ waiting_on: "client" })).toEqual(all().filter((name) => name !== "Ours" && name !== "Past"));
    expect(await found({ stage: 4, waiting_on: "client" })).toEqual(["Fourth"]);
    expect(await found({ stage: 4, waiting_on: "company", q: "our" })).toEqual(["Ours"]);
    expect(await found({ stage: 1, q: "our" })).toEqual([]);
    expect(await found({ stage: 1, waiting_on: "client", q: "aaaa1" })).toEqual(["100% cotton", "Pumps for Juba"]);
    for (const stage of [0, -1, 11, 40_000]) expect(await found({ stage })).toEqual([]);
    for (const waiting_on of ["", "closed", "client' or true --", "Client"])
      expect(await found({ waiting_on })).toEqual([]);
  });

  test("is for the person that asks: a stranger, a colleague, an ended session and one without its code find none", async () => {
    expect(await found({ q: "Pumps" }, stranger.supabase)).toEqual(["Pumps for Juba"]);
    expect((await callListRpc("portal_page", { q: "Pumps" }, stranger.supabase)).shipments.map(({ id }) => id)).toEqual(
      [theirs],
    );
    expect(await found({}, clerk.supabase)).toEqual([]);
    expect(await found({ q: juba }, clerk.supabase)).toEqual([]);
    const left = await newEndedSession(testBackend, finder.email);
    expect(await found({}, left)).toEqual([]);
    expect((await callListRpc("portal_shipments_export", {}, left)).viewer).toBeNull();
    await runWithSecondFactor(testBackend, finder.id, async () => {
      expect(await found({ q: "Pumps" })).toEqual([]);
      expect((await callListRpc("portal_shipments_export", {}, finder.supabase)).viewer).toMatchObject({
        email: finder.email,
      });
    });
    for (const name of ["portal_page", "portal_shipments_export"]) {
      expect((await toUntypedClient(testBackend.anonymous()).rpc(name, {})).error?.code).toBe("42501");
    }
  });
});

describe("a list of 1,100 shipments, several opened in the same moment,", () => {
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

  test("comes in pages of 20, newest first, each with one more to tell whether another follows", async () => {
    const pages: string[][] = [];
    for (let page = 1; page <= 56; page += 1) pages.push(await idsOf({ page }));
    expect(pages.slice(0, 54).every((page) => page.length === 21)).toBe(true);
    expect(pages.slice(54).map(({ length }) => length)).toEqual([20, 0]);
    expect(pages.flatMap((page) => page.slice(0, 20))).toEqual(ids);
    for (const page of [0, -7]) expect(await idsOf({ page })).toEqual(pages[0]);
    expect(await idsOf({ page: 2, q: "crate 1099" })).toEqual([]);
    expect(await idsOf({ page: 1, q: "crate 109" })).toHaveLength(11);
  });

  test("comes in parts of 500 for the CSV, each shipment once, though one is opened meanwhile", async () => {
    const seen: string[] = [];
    let last: ShipmentListRow | undefined;
    for (const length of [500, 500, 100, 0]) {
      const after = last ? { before: last.created_at, before_id: last.id } : {};
      const { shipments } = await callListRpc("portal_shipments_export", after, many.supabase);
      expect(shipments).toHaveLength(length);
      seen.push(...shipments.map(({ id }) => id));
      last = shipments.at(-1) ?? last;
      const { error } = await many.supabase.from("shipments").insert({ name: "Crate of now", user_id: many.id });
      expect(error).toBeNull();
    }
    expect(seen).toEqual(ids);
  });

  async function idsOf(filter: ShipmentListFilter & { page: number }): Promise<string[]> {
    return (await callListRpc("portal_page", filter, many.supabase)).shipments.map(({ id }) => id);
  }
});

describe("what waits for a client", () => {
  let waiter: TestClient;
  beforeEach(async () => {
    waiter = await testBackend.newClient(`${randomUUID()}@client.example`);
  });

  type Made = { since?: string; stage?: number; sentBack?: string; documents?: number; due?: string; items?: string[] };
  /**
   * A shipment that waits since a day, with so many documents (or one) sent back on a day, and a charge for each item
   * (duties) that is due on a day. Days are YYYY-MM-DD.
   */
  async function add(name: string, more: Made = {}, { id: user } = waiter): Promise<void> {
    const { since = "2026-05-01", stage = 1, sentBack, documents = 1, due, items = ["duties"] } = more;
    const id = randomUUID();
    await query(
      "insert into public.shipments (id, user_id, name, created_at, waiting_since) values ($1, $2, $3, $4, $4)",
      [id, user, name, since],
    );
    if (sentBack)
      await query(
        `update public.documents set rejected_at = $2::timestamptz + number * interval '1 minute', rejection_reason = 'Torn'
         from (select id, row_number() over (order by id) as number from public.documents where shipment_id = $1) as one
         where one.id = documents.id and number <= $3`,
        [id, sentBack, documents],
      );
    if (due)
      await query(
        `insert into public.charges (shipment_id, item, amount, currency, due_on)
         select $1, item, 5, 'KES', nullif($2, 'no day')::date from unnest(string_to_array($3, ' ')) as item`,
        [id, due, items.join(" ")],
      );
    if (stage !== 1) await query("update public.shipments set stage = $2 where id = $1", [id, stage]);
  }

  /** What the list without an open shipment shows: the names of what waits, in their order, and the counts. */
  async function work(supabase: AppSupabaseClient = waiter.supabase) {
    const { data, error } = await toUntypedClient(supabase).rpc("portal_page", {});
    if (error) throw new Error(error.message);
    const { waiting, ...counts } = data.work as { waiting: DatabaseRow[] } & DatabaseRow;
    return { names: waiting.map(({ name }) => name), waiting, counts };
  }

  test("is told in the order of what was sent back, what is due, and what waits longest", async () => {
    await add("Waits", { since: "2026-04-03" });
    await add("Due later", { since: "2026-01-02", due: "2026-07-01" });
    await add("Sent back later", { sentBack: "2026-06-02" });
    await add("Waits longest", { since: "2026-04-02" });
    await add("Due first", { due: "2026-06-30" });
    await add("Sent back first", { sentBack: "2026-06-01" });
    expect((await work()).names).toEqual([
      ...["Sent back first", "Sent back later", "Due first", "Due later", "Waits longest", "Waits"],
    ]);
  });

  test("names each shipment once, by the most urgent thing of it, with all of its documents and charges", async () => {
    await add("Due alone", { due: "2026-01-01" });
    await add("All of it", { since: "2026-01-01", sentBack: "2026-06-01", documents: 3, due: "2026-06-30" });
    const { names, waiting, counts } = await work();
    expect(names).toEqual(["All of it", "Due alone"]);
    expect(counts).toEqual({ client: 2, company: 0, nobody: 0 });
    const [{ documents, charges } = {}] = waiting as { documents?: DatabaseRow[]; charges?: DatabaseRow[] }[];
    expect(documents?.map(({ rejected_at }) => rejected_at !== null).sort()).toEqual([false, true, true, true]);
    expect(charges).toEqual([{ item: "duties", due_on: "2026-06-30", paid_at: null }]);
  });

  test("is at most six shipments, also when all of each are sent back; the rest is counted", async () => {
    for (const day of [8, 7, 6, 5, 4, 3, 2]) {
      const due = `2026-07-0${day}`;
      await add(`Sent back ${day}`, { sentBack: `2026-06-0${day}`, documents: 4, due });
      await add(`Due ${day}`, { due, items: ["idf-fee", "duties", "agent-fee"] });
      await add(`Waits ${day}`, { since: `2026-04-0${day}` });
    }
    const { names, counts } = await work();
    expect(names).toEqual([2, 3, 4, 5, 6, 7].map((day) => `Sent back ${day}`));
    expect(counts).toEqual({ client: 21, company: 0, nobody: 0 });
    await query("delete from public.shipments where user_id = $1 and name ~ 'Sent'", [waiter.id]);
    expect((await work()).names).toEqual([2, 3, 4, 5, 6, 7].map((day) => `Due ${day}`));
    await query("delete from public.shipments where user_id = $1 and name ~ 'Due'", [waiter.id]);
    expect((await work()).names).toEqual([2, 3, 4, 5, 6, 7].map((day) => `Waits ${day}`));
  });

  test("is not hurried by a charge that is paid or has no day, and leaves out what is closed or with the company", async () => {
    await add("Paid", { since: "2026-05-04", due: "2026-01-01" });
    await query(
      "update public.charges set paid_at = now() where shipment_id = (select id from public.shipments where name = 'Paid')",
    );
    await add("Without a day", { since: "2026-05-03", due: "no day" });
    await add("Waits", { since: "2026-05-02" });
    await add("Closed", { stage: 10, sentBack: "2026-01-01", due: "2026-01-01" });
    await add("With the company");
    await query(
      "delete from public.documents where shipment_id in (select id from public.shipments where name = 'With the company')",
    );
    await query("update public.shipments set staff_action_at = now() where name = 'With the company'");
    const { names, waiting, counts } = await work();
    expect(names).toEqual(["Waits", "Without a day", "Paid"]);
    expect(counts).toEqual({ client: 3, company: 1, nobody: 1 });
    expect(waiting.at(-1)?.charges).toEqual([]);
  });

  test("is the client's own: nothing of it is told to another client or a colleague, or of an open shipment", async () => {
    const urgent = { since: "2026-01-01", sentBack: "2026-01-02", due: "2026-01-03" };
    await add("Mine", { since: "2026-06-01" });
    const other = await testBackend.newClient(`${randomUUID()}@client.example`);
    await add("Theirs", urgent, other);
    expect(await work()).toMatchObject({ names: ["Mine"], counts: { client: 1, company: 0, nobody: 0 } });
    expect(await work(other.supabase)).toMatchObject({
      names: ["Theirs"],
      counts: { client: 1, company: 0, nobody: 0 },
    });
    const nothing = { names: [], waiting: [], counts: { client: 0, company: 0, nobody: 0 } };
    expect(await work(clerk.supabase)).toEqual(nothing);
    const [{ id } = { id: "" }] = await query<{ id: string }>("select id from public.shipments where user_id = $1", [
      waiter.id,
    ]);
    expect((await toUntypedClient(waiter.supabase).rpc("portal_page", { opened_id: id })).data.work).toBeNull();
    await runWithSecondFactor(testBackend, waiter.id, async () => expect(await work()).toEqual(nothing));
  });

  test("is as urgent as it was, however much of what is closed was sent back or never marked as paid", async () => {
    await add("Waits", { since: "2026-01-01" });
    await add("Due", { due: "2026-07-01" });
    await add("Sent back", { sentBack: "2026-06-01" });
    await query(
      `insert into public.shipments (user_id, name, stage, waiting_since)
       select $1, 'Closed', 10, '2025-01-01' from generate_series(1, 40)`,
      [waiter.id],
    );
    await query(
      `update public.documents set rejected_at = '2025-01-01', rejection_reason = 'Torn'
       from public.shipments where shipments.id = shipment_id and shipments.user_id = $1 and shipments.name = 'Closed'`,
      [waiter.id],
    );
    await query(
      `insert into public.charges (shipment_id, item, amount, currency, due_on)
       select id, item, 5, 'KES', '2025-01-01' from public.shipments, unnest('{idf-fee,duties,agent-fee}'::text[]) as item
       where user_id = $1 and name = 'Closed'`,
      [waiter.id],
    );
    await query("update public.shipments set stage = 10 where user_id = $1 and name = 'Closed'", [waiter.id]);
    const { names, counts } = await work();
    expect(names).toEqual(["Sent back", "Due", "Waits"]);
    expect(counts).toEqual({ client: 3, company: 0, nobody: 40 });
  });
});

describe("a link to a shipment", () => {
  let shipment: string;
  beforeEach(async () => {
    shipment = await newShipment();
  });
  const full = "409 This shipment has five links, as many as there can be. End one first.";
  const newToken = () => randomBytes(20).toString("base64url");
  const hashOf = (token: string) => createHash("sha256").update(token).digest("hex");
  const form = (token = newToken(), more: object = {}) => ({
    ...{ id: randomUUID(), shipment_id: shipment, token_hash: hashOf(token) },
    ...more,
  });
  const make = (args: object = form(), supabase: AppSupabaseClient = owner.supabase) =>
    callRpc("create_share_link", args, supabase);
  const end = (id: string, supabase: AppSupabaseClient = owner.supabase) =>
    callRpc("revoke_share_link", { id }, supabase);
  const open = async (token: string | null) =>
    (await toUntypedClient(testBackend.serviceRole).rpc("shared_shipment", { token })).data;
  const shares = () =>
    query<DatabaseRow>("select * from private.share_links where shipment_id = $1 order by created_at, id", [shipment]);
  const expire = (id: string) =>
    query("update private.share_links set expires_at = now() - interval '1 second' where id = $1", [id]);

  test("is made by the owner, known by the hash of its token, and shown to the owner for 30 days", async () => {
    const token = newToken();
    const asked = form(token);
    expect(await make(asked)).toBeNull();
    expect(await open(token)).toMatchObject({ name: "Tea", stage: 1, status: "Client Onboarding" });
    expect(JSON.stringify(await shares())).not.toContain(token);
    const { shipment: page } = (await toUntypedClient(owner.supabase).rpc("portal_page", { opened_id: shipment })).data;
    expect(page.share_links).toEqual([
      { id: asked.id, token_hash: asked.token_hash, created_at: expect.any(String), expires_at: expect.any(String) },
    ]);
    const [{ days } = { days: "" }] = await query<{ days: string }>(
      "select (expires_at - created_at)::text as days from private.share_links where id = $1",
      [asked.id],
    );
    expect(days).toBe("30 days");
  });

  test("is made by nobody else, nor without a session that is good for the account", async () => {
    for (const supabase of [stranger.supabase, clerk.supabase])
      expect(await make(form(), supabase)).toBe(unknownShipmentError);
    expect(await make(form(newToken(), { shipment_id: randomUUID() }))).toBe(unknownShipmentError);
    expect(await make(form(), testBackend.anonymous())).toMatch(/^401 /);
    expect(await make(form(), testBackend.serviceRole)).toMatch(/^40[13] /);
    expect(await make(form(), clerk.aal1)).toBe(logInAgainError);
    expect(await make(form(), await newEndedSession(testBackend, owner.email))).toBe(logInAgainError);
    await runWithSecondFactor(testBackend, owner.id, async () => expect(await make()).toBe(logInAgainError));
    expect(await shares()).toEqual([]);
  });

  test("is one for a form that is sent again, ten times at once too", async () => {
    const asked = form();
    const calls = Array.from({ length: 10 }, () => ({
      name: "create_share_link",
      args: asked,
      token: owner.accessToken,
    }));
    expect((await callConcurrently(testBackend, calls)).map(({ rejection }) => rejection)).toEqual(
      calls.map(() => undefined),
    );
    const before = await shares();
    expect(before).toHaveLength(1);
    expect(await make(asked)).toBeNull();
    // The id of one link makes no other, of no shipment.
    const other = await newShipment(stranger);
    expect(await make({ ...asked, token_hash: hashOf("another") })).toMatch(/^409 /);
    expect(await make({ ...asked, shipment_id: other }, stranger.supabase)).toMatch(/^409 /);
    expect(await make(form(newToken(), { token_hash: asked.token_hash }))).toMatch(/^409 /);
    expect(await shares()).toEqual(before);
    expect(await query("select from private.share_links where shipment_id = $1", [other])).toEqual([]);
  });

  test("has a hash for its token, and an id", async () => {
    for (const token_hash of ["", "x", "0".repeat(63), "0".repeat(65), "G".repeat(64), `${"0".repeat(64)}\n`, null]) {
      expect(await make(form(newToken(), { token_hash }))).toMatch(/^400 /);
    }
    expect(await make(form(newToken(), { id: null }))).toMatch(/^400 /);
    expect(await shares()).toEqual([]);
  });

  test("is one of five at most; those that have ended do not count", async () => {
    const made = Array.from({ length: 5 }, () => form());
    for (const asked of made) expect(await make(asked)).toBeNull();
    expect(await make()).toBe(full);
    expect(await make(made[0])).toBeNull();
    await end(made[0]?.id ?? "");
    // Its form, sent again, does not make it anew.
    expect(await make(made[0])).toMatch(/^409 The link of this form has ended\./);
    expect(await make()).toBeNull();
    expect(await make()).toBe(full);
    await expire(made[1]?.id ?? "");
    const { shipment: page } = (await toUntypedClient(owner.supabase).rpc("portal_page", { opened_id: shipment })).data;
    expect(page.share_links).toHaveLength(4);
    expect(page.share_links).not.toContainEqual(expect.objectContaining({ id: made[1]?.id }));
    expect(await make()).toBeNull();
    expect(await make()).toBe(full);
    const { shipment: then } = (await toUntypedClient(owner.supabase).rpc("portal_page", { opened_id: shipment })).data;
    expect(then.share_links).toHaveLength(5);
    // Another shipment has five of its own.
    const before = shipment;
    shipment = await newShipment();
    expect(await make()).toBeNull();
    shipment = before;
  });

  test("is made five times when ten are made at once", async () => {
    const calls = Array.from({ length: 10 }, () => ({
      name: "create_share_link",
      args: form(),
      token: owner.accessToken,
    }));
    const rejection = (await callConcurrently(testBackend, calls)).flatMap((one) => one.rejection ?? []);
    expect(rejection).toEqual(Array(5).fill(full.slice(4)));
    expect(await shares()).toHaveLength(5);
  });

  test("is ended by the owner alone, once and again, and opens nothing from then on", async () => {
    const token = newToken();
    const { id, ...more } = form(token);
    await make({ id, ...more });
    const before = await shares();
    for (const supabase of [stranger.supabase, clerk.supabase]) expect(await end(id, supabase)).toBeNull();
    expect(await end(id, testBackend.anonymous())).toMatch(/^401 /);
    expect(await end(id, await newEndedSession(testBackend, owner.email))).toBe(logInAgainError);
    await runWithSecondFactor(testBackend, owner.id, async () => expect(await end(id)).toBe(logInAgainError));
    expect(await end(randomUUID())).toBeNull();
    expect(await shares()).toEqual(before);
    expect(await open(token)).not.toBeNull();
    for (const _twice of [1, 2]) expect(await end(id)).toBeNull();
    const { shipment: page } = (await toUntypedClient(owner.supabase).rpc("portal_page", { opened_id: shipment })).data;
    expect(page.share_links).toEqual([]);
    expect(await open(token)).toBeNull();
  });

  test("opens nothing when it is wrong, when its 30 days are over, and while the account is closed", async () => {
    const token = newToken();
    const asked = form(token);
    await make(asked);
    for (const wrong of [newToken(), "", asked.token_hash, asked.id, `${token} `, token.slice(1), "%", null]) {
      expect(await open(wrong)).toBeNull();
    }
    const closed = { account_id: owner.id, reason: "They asked" };
    expect(await callRpc("close_account", closed, clerk.supabase)).toBeNull();
    try {
      expect(await open(token)).toBeNull();
    } finally {
      await callRpc("reopen_account", closed, clerk.supabase);
      // Closing has ended the session.
      await owner.supabase.auth.signInWithPassword({ email: owner.email, password: "a good password" });
      const { data } = await owner.supabase.auth.getSession();
      owner = { ...owner, accessToken: data.session?.access_token ?? "" };
    }
    expect(await open(token)).not.toBeNull();
    await expire(asked.id);
    expect(await open(token)).toBeNull();
  });

  test("shows name, stage, last change and moves, and no document, charge, note, number or person", async () => {
    const act = async (name: string, args: object) => {
      const said = await callRpc(name, { shipment_id: shipment, ...args }, clerk.supabase);
      expect(String(said), name).not.toMatch(/^4/);
    };
    await act("send_note", { note: "Secret before anything moved" });
    await act("save_awb", { awb: "MEDUX4471203" });
    await act("move_shipment", { despite_missing: true, location: "Mombasa", note: "Secret beside a move" });
    await act("send_note", { note: "Secret note" });
    await act("send_note", { note: "Secret note again" });
    await act("correct_stage", { stage: 6, reason: "Secret reason" });
    await act("move_shipment", { despite_missing: true, note: "Secret beside another move" });
    await act("send_note", { note: "Secret last note" });
    await act("set_charge", { item: "duties", amount: 1234.5, currency: "KES", note: "Secret charge" });
    await act("save_arrival", { place: "naivasha", day: "2026-03-01", size: 40, free_storage_ends_on: "2026-03-05" });
    const token = newToken();
    await make(form(token));
    const shown = await open(token);
    expect(shown).toEqual({
      ...{ name: "Tea", stage: 7, status: "Inspection & Release", changed_at: expect.any(String) },
      tracking_events: [
        { status: "Inspection & Release", location: null, created_at: expect.any(String) },
        { status: "Corrected: Cargo Tracking", location: null, created_at: expect.any(String) },
        { status: "Document Verification", location: "Mombasa", created_at: expect.any(String) },
      ],
    });
    const said = JSON.stringify(shown);
    for (const hidden of ["Secret", "Note", "MEDUX", "duties", "1234", "Packing", "naivasha", "2026-03", shipment]) {
      expect(said).not.toContain(hidden);
    }
    for (const { id, email } of [owner, clerk]) {
      for (const hidden of [id, email, email.split("@")[0] ?? ""]) expect(said).not.toContain(hidden);
    }
  });

  test("shows the 15 newest moves", async () => {
    await query(
      `insert into public.tracking_events (shipment_id, kind, location, note, created_at)
       select $1, case when number % 3 = 0 then 'note' else 'stage' end, 'Place ' || number,
         case when number % 3 = 0 then 'A note' end, now() - number * interval '1 hour'
       from generate_series(1, 60) as number`,
      [shipment],
    );
    const token = newToken();
    await make(form(token));
    const { tracking_events: events } = (await open(token)) as unknown as { tracking_events: { location: string }[] };
    const kept = Array.from({ length: 60 }, (_, index) => index + 1).filter((number) => number % 3 !== 0);
    expect(events.map(({ location }) => location)).toEqual(kept.slice(0, 15).map((number) => `Place ${number}`));
  });

  test("is opened by the site alone, and listed by nobody", async () => {
    const token = newToken();
    await make(form(token));
    for (const supabase of [owner.supabase, stranger.supabase, clerk.supabase, testBackend.anonymous()]) {
      expect((await toUntypedClient(supabase).rpc("shared_shipment", { token })).error?.code).toBe("42501");
    }
    for (const supabase of [owner.supabase, clerk.supabase, testBackend.anonymous(), testBackend.serviceRole]) {
      expect((await toUntypedClient(supabase).from("share_links").select("*")).data).toBeNull();
      expect((await toUntypedClient(supabase).schema("private").from("share_links").select("*")).data).toBeNull();
      expect((await toUntypedClient(supabase).rpc("list_share_links", { shipment_id: shipment })).data).toBeNull();
    }
    const [row] = await query<{ may: boolean }>(
      `select bool_or(has_table_privilege(role, 'private.share_links', 'select, insert, update, delete, truncate')
         or has_any_column_privilege(role, 'private.share_links', 'select, insert, update')) as may
       from unnest(array['anon', 'authenticated', 'service_role']) as role`,
    );
    expect(row?.may).toBe(false);
    // What the page of a shipment shows of them is the owner's alone.
    for (const supabase of [stranger.supabase, clerk.supabase]) {
      const { data } = await toUntypedClient(supabase).rpc("portal_page", { opened_id: shipment });
      expect(JSON.stringify(data)).not.toContain(hashOf(token));
    }
    const listed = [];
    for (const { accessToken } of [owner, stranger, clerk]) listed.push(await listedBy(accessToken));
    expect(listed).toEqual([[expect.objectContaining({ token_hash: hashOf(token) })], [], []]);
    await runWithSecondFactor(testBackend, owner.id, async () => expect(await listedBy(owner.accessToken)).toEqual([]));
  });

  /** What the function behind the page of a shipment answers to the holder of a token. */
  const listedBy = (token: string) =>
    runInSession(testBackend, async (session) => {
      const claims = Buffer.from(token.split(".")[1] ?? "", "base64url").toString("utf8");
      await session`
        select set_config('request.jwt.claims', ${claims}, true),
          set_config('request.jwt.claim.sub', ${JSON.parse(claims).sub}, true),
          set_config('role', 'authenticated', true)`;
      const [row] = await session`select private.list_share_links(${shipment}) as shares`;
      return row?.shares;
    });

  test("goes with its shipment", async () => {
    const token = newToken();
    await make(form(token));
    await query("delete from public.shipments where id = $1", [shipment]);
    expect(await shares()).toEqual([]);
    expect(await open(token)).toBeNull();
  });
});

describe("a client who changes a shipment", () => {
  let shipment: string;
  beforeEach(async () => {
    shipment = await newShipment();
  });
  const changed = "409 This shipment has changed since you opened the form. Look at it again.";
  const movedOn = "409 This shipment has moved on: call us to change its name or its AWB/BL.";
  const change = (more: object = {}, supabase: AppSupabaseClient = owner.supabase) =>
    callRpc(
      "change_shipment",
      { shipment_id: shipment, name: "Coffee", awb: "706-51093844", expected_version: 0, ...more },
      supabase,
    );
  const now = async () =>
    (await query<DatabaseRow>("select * from public.shipments where id = $1", [shipment]))[0] ?? {};

  test("changes its name and its AWB/BL at stage 1, and nothing else", async () => {
    await query("update public.shipments set changed_at = now() - interval '1 day' where id = $1", [shipment]);
    const before = await now();
    expect(await change({ awb: " 706-51093844 " })).toBeNull();
    const { changed_at, ...after } = await now();
    expect(after).toEqual({ ...withoutChangedAt(before), name: "Coffee", awb: "706-51093844", version: 1 });
    expect(Math.abs(new Date(String(changed_at)).getTime() - Date.now())).toBeLessThan(60_000);
    const { data } = await toUntypedClient(owner.supabase).rpc("portal_page", { opened_id: shipment });
    expect(data.shipment).toMatchObject({ name: "Coffee", awb: "706-51093844", version: 1 });
  });

  test("changes the version that was seen, be it of a name or of a number; what was done is not refused again", async () => {
    expect(await change({ name: "Coffee", awb: "" })).toBeNull();
    expect(await now()).toMatchObject({ name: "Coffee", awb: null, version: 1 });
    expect(await change({ name: "Sugar", awb: "" })).toBe(changed);
    for (const seen of [null, -1, 2]) expect(await change({ name: "Sugar", expected_version: seen })).toBe(changed);
    // The same form again, after a lost answer.
    expect(await change({ name: "Coffee", awb: "" })).toBeNull();
    expect(await now()).toMatchObject({ name: "Coffee", awb: null, version: 1 });
    expect(await change({ name: "Coffee", awb: "1", expected_version: 1 })).toBeNull();
    expect(await change({ name: "Coffee", awb: "2", expected_version: 1 })).toBe(changed);
    expect(await now()).toMatchObject({ name: "Coffee", awb: "1", version: 2 });
  });

  test("makes a form old that a colleague has open", async () => {
    expect(await change({ name: "Coffee", awb: "" })).toBeNull();
    const move = { shipment_id: shipment, despite_missing: true, expected_version: 0 };
    expect(await callRpc("move_shipment", move, clerk.supabase)).toBe(
      "409 This shipment has changed since you opened it.",
    );
  });

  test("changes it once when four forms come at once, and the others are told", async () => {
    const calls = ["Coffee", "Sugar", "Salt", "Soap"].map((name) => ({
      ...{ name: "change_shipment", token: owner.accessToken },
      args: { shipment_id: shipment, name, awb: "", expected_version: 0 },
    }));
    const rejection = (await callConcurrently(testBackend, calls)).flatMap((one) => one.rejection ?? []);
    expect(rejection).toEqual(Array(3).fill(changed.slice(4)));
    expect(await now()).toMatchObject({ version: 1 });
  });

  test("changes their own, with a session that is good for the account, and nobody else's", async () => {
    const before = await now();
    for (const supabase of [stranger.supabase, clerk.supabase])
      expect(await change({}, supabase)).toBe(unknownShipmentError);
    expect(await change({ shipment_id: randomUUID() })).toBe(unknownShipmentError);
    expect(await change({}, testBackend.anonymous())).toMatch(/^401 /);
    expect(await change({}, clerk.aal1)).toBe(logInAgainError);
    expect(await change({}, await newEndedSession(testBackend, owner.email))).toBe(logInAgainError);
    await runWithSecondFactor(testBackend, owner.id, async () => expect(await change()).toBe(logInAgainError));
    expect(await now()).toEqual(before);
  });

  test("changes none that has moved on, and one that was taken back to stage 1", async () => {
    for (const stage of [2, 10]) {
      await query("update public.shipments set stage = $2 where id = $1", [shipment, stage]);
      const before = await now();
      for (const seen of [0, 1, 2]) expect(await change({ expected_version: seen })).toBe(movedOn);
      expect(await now()).toEqual(before);
    }
    await query("update public.shipments set stage = 1 where id = $1", [shipment]);
    expect(await change({ expected_version: (await now()).version })).toBeNull();
  });

  test.each(["", " ", " Gold", "Gold ", "x".repeat(121), "Gold\nGold", "Gold\u202eGold", "Gold\u009bGold", null])(
    "cannot name it %j",
    async (name) => {
      const before = await now();
      expect(await change({ name })).toMatch(/^400 /);
      expect(await now()).toEqual(before);
    },
  );

  test.each(["x".repeat(65), "706\n510", "706\t510", "706\u202e510", "706\u2028510"])(
    "cannot give it the AWB/BL %j",
    async (awb) => {
      const before = await now();
      expect(await change({ awb })).toMatch(/^400 /);
      expect(await now()).toEqual(before);
    },
  );

  test.each(["", "   ", null])("takes the AWB/BL off with %j", async (awb) => {
    expect(await change({ awb: "x".repeat(64), name: "x".repeat(120) })).toBeNull();
    expect(await now()).toMatchObject({ awb: "x".repeat(64), name: "x".repeat(120) });
    expect(await change({ awb, expected_version: 1 })).toBeNull();
    expect(await now()).toMatchObject({ name: "Coffee", awb: null, version: 2 });
  });
});

const withoutChangedAt = ({ changed_at: _, ...row }: DatabaseRow) => row;

/** Who asks and the shipments of a list. Throws when it is refused. */
async function callListRpc(
  name: string,
  args: object,
  supabase: AppSupabaseClient,
): Promise<{ viewer: DatabaseRow | null; shipments: ShipmentListRow[] }> {
  const { data, error } = await toUntypedClient(supabase).rpc(name, args);
  if (error) throw new Error(error.message);
  return data;
}

/** What a function answers, or the status and the words with which it refuses. */
async function callRpc(name: string, args: object, supabase: AppSupabaseClient): Promise<unknown> {
  const { data, error, status } = await toUntypedClient(supabase).rpc(name, args);
  return error ? `${status} ${error.message}` : data;
}

async function newShipment(client = owner): Promise<string> {
  const made = await query<{ id: string }>(
    "insert into public.shipments (user_id, name) values ($1, 'Tea') returning id",
    [client.id],
  );
  return made[0]?.id ?? "";
}

async function query<T = DatabaseRow>(text: string, values: unknown[] = []): Promise<T[]> {
  return (await testBackend.backend.db.query<T>(text, values)).rows;
}
