import { randomUUID } from "node:crypto";
import type { SupabaseClient } from "@supabase/supabase-js";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Authenticator } from "../support/authenticator.ts";
import { colleagueWithoutFactor, deskState, newColleague } from "../support/colleague.ts";
import { type Handle, memoryBackend, raw } from "../support/memory-backend.ts";

type Person = { handle: Handle; id: string; email: string };

let world: Awaited<ReturnType<typeof memoryBackend>>;
let people: Record<string, Handle>;
let owner: Awaited<ReturnType<typeof world.newClient>>;
let clerk: Awaited<ReturnType<typeof newColleague>>;
let lead: Awaited<ReturnType<typeof newColleague>>;
/** A colleague who never set a second factor up. */
let newcomer: Person;
/** The owner's shipment with something of everything, its Packing List and the path of its file. */
let shipment: string;
let packingList: string;
let path: string;
/** A client ID that nobody has used, issued for an address. */
let sendable: string;
/** A notice that is due. */
let notice: string;

/** Signed in, and nobody of the company who has given a code. */
const outsiders = [
  "a client",
  "a client with a second factor",
  "a clerk before the code",
  "a lead before the code",
  "a clerk without a second factor",
  "a removed clerk",
];
const colleagues = ["a clerk", "a lead"];
const everybody = ["a visitor", ...outsiders, ...colleagues, "the company"];

beforeAll(async () => {
  world = await memoryBackend();
  owner = await world.newClient("owner@client.example");
  const stranger = await world.newClient("stranger@client.example");
  const careful = await world.newClient("careful@client.example");
  await enrol(careful.handle);
  clerk = await newColleague(world, "clerk", "clerk@company.example");
  lead = await newColleague(world, "lead", "lead@company.example");
  newcomer = await colleagueWithoutFactor(world, "clerk", "newcomer@company.example");
  const removed = await newColleague(world, "clerk", "removed@company.example");
  // The mark alone: the session lives, at AAL2.
  await query("update public.colleagues set removed_at = now() where account = $1", [removed.id]);
  people = {
    "a visitor": world.anonymous(),
    "a client": stranger.handle,
    "a client with a second factor": careful.handle,
    "a clerk before the code": clerk.aal1,
    "a lead before the code": lead.aal1,
    "a clerk without a second factor": newcomer.handle,
    "a removed clerk": removed.handle,
    "a clerk": clerk.handle,
    "a lead": lead.handle,
    "the company": world.company,
  };

  shipment = await newShipment(owner, "Tea");
  const { data } = await owner.handle.from("documents").select("id").eq("name", "Packing List").single();
  packingList = data?.id ?? "";
  path = `${owner.id}/${shipment}/packing-list-0123456789ab-list.pdf`;
  const stored = await world.company.storage
    .from("documents")
    .upload(path, Buffer.from("%PDF-1.7"), { contentType: "application/pdf" });
  if (stored.error) throw stored.error;
  const file = { sha256: "0".repeat(64), file_name: "list.pdf", file_size: 8, media_type: "application/pdf" };
  const marked = await world.company
    .from("documents")
    .update({ uploaded: true, storage_path: path, ...file })
    .eq("id", packingList);
  if (marked.error) throw marked.error;
  for (const { error } of [
    await world.company.rpc("move_shipment", { shipment_id: shipment, despite_missing: true }),
    await world.company.rpc("set_charge", { shipment_id: shipment, item: "duties", amount: 99.5, currency: "KES" }),
    await world.company.rpc("announce", { text: "Customs system down since 09:10" }),
    await world.company.rpc("note_undelivered", { kind: "client ID", sent_to: "nobody@client.example" }),
  ]) {
    if (error) throw error;
  }
  const issued = await world.company.rpc("issue_client_ids", { sent_to: "invited@client.example" });
  sendable = issued.data?.[0]?.client_id ?? "";
  const [due] = await query<{ id: string }>(
    "update public.notices set due_at = now() where kind = 'stage' returning id",
  );
  notice = due?.id ?? "";
});
afterAll(() => world.close());

const ofColleagues = ["colleagues", "undelivered_mails", "acts"] as const;
const ofClients = ["shipments", "documents", "tracking_events", "charges"] as const;
const added = ["colleagues", "charges", "announcements", "undelivered_mails", "acts", "notices"] as const;

describe.each([...ofColleagues, ...ofClients])("of the table %s", (table) => {
  test.each([...colleagues, "the company"])("%s reads every row", async (who) => {
    const { data, error } = await handleOf(who).from(table).select("*");
    expect(error).toBeNull();
    expect(data?.length).toBeGreaterThan(0);
    expect(data).toHaveLength((await contents(table)).length);
  });

  test.each(outsiders)("%s reads no row, nor how many there are", async (who) => {
    const { data, error, count } = await handleOf(who).from(table).select("*", { count: "exact" });
    expect([data, error, count]).toEqual([[], null, 0]);
  });

  test("a visitor is refused", async () => {
    const { data, error } = await handleOf("a visitor").from(table).select("*");
    expect([data, error?.code]).toEqual([null, "42501"]);
  });
});

test("clients read the charges of their own shipments, and before the code of their factor none", async () => {
  const { data } = await owner.handle.from("charges").select("shipment_id, item");
  expect(data).toEqual([{ shipment_id: shipment, item: "duties" }]);
  const client = await world.newClient("charged@client.example");
  const theirs = await newShipment(client, "Cement");
  await world.company.rpc("set_charge", { shipment_id: theirs, item: "duties", amount: 1, currency: "USD" });
  await enrol(client.handle);
  expect((await client.handle.from("charges").select("shipment_id")).data).toEqual([{ shipment_id: theirs }]);
  const half = world.anonymous();
  await half.auth.signInWithPassword({ email: client.email, password: "a good password" });
  expect((await half.from("charges").select("shipment_id")).data).toEqual([]);
});

test("what is announced is read by everybody who is signed in as their account asks, and by no visitor", async () => {
  const read: Record<string, unknown> = {};
  for (const who of everybody) {
    const { data, error } = await handleOf(who).from("announcements").select("text");
    read[who] = error?.code ?? data?.length;
  }
  expect(read).toEqual({
    ...Object.fromEntries(everybody.map((who) => [who, 1])),
    "a visitor": "42501",
    "a clerk before the code": 0,
    "a lead before the code": 0,
  });
});

test.each(everybody)("%s reads no notice of the table itself", async (who) => {
  expect(await contents("notices")).not.toEqual([]);
  const { data, error } = await handleOf(who).from("notices").select("*");
  expect([data, error?.code]).toEqual([null, "42501"]);
});

test.each(everybody.filter((who) => who !== "the company"))("%s reads no client ID", async (who) => {
  const { data, error } = await handleOf(who).from("client_ids").select("*");
  expect([data, error?.code]).toEqual([null, "42501"]);
});

describe("of the stored files", () => {
  const bucketOf = (who: string) => handleOf(who).storage.from("documents");

  test("the company opens each", async () => {
    const { data } = await bucketOf("the company").download(path);
    expect(await data?.text()).toBe("%PDF-1.7");
    expect((await bucketOf("the company").info(path)).data?.version).toBeTruthy();
  });

  test.each(everybody.filter((who) => who !== "the company"))("%s reads, lists and signs none", async (who) => {
    const bucket = bucketOf(who);
    const head = { method: "HEAD", headers: { Authorization: `Bearer ${await tokenOf(who)}` } };
    for (const file of [path, `${owner.id}/${shipment}/packing-list-0123456789ab-none.pdf`]) {
      const { data, error } = await bucket.download(file);
      expect([data, error?.name]).toEqual([null, "StorageApiError"]);
      expect((await bucket.info(file)).data).toBeNull();
      expect((await bucket.exists(file)).data).toBe(false);
      for (const at of ["object/documents", "object/authenticated/documents", "object/info/documents"]) {
        const answer = await world.backend.fetch(new Request(`http://backend.local/storage/v1/${at}/${file}`, head));
        expect(answer.ok, at).toBe(false);
      }
      expect((await bucket.createSignedUrl(file, 60)).data).toBeNull();
      const many = await bucket.createSignedUrls([file], 60);
      expect((many.data ?? []).filter(({ signedUrl }) => signedUrl)).toEqual([]);
    }
    for (const prefix of ["", owner.id, `${owner.id}/${shipment}`]) {
      expect((await bucket.list(prefix)).data ?? [], prefix).toEqual([]);
      expect((await bucket.list(prefix, { search: "packing" })).data ?? [], prefix).toEqual([]);
    }
  });

  test("a colleague reads none in the schema of the store either, which the data API does not show", async () => {
    for (const who of colleagues) {
      const { data, error } = await handleOf(who).schema("storage").from("objects").select("name");
      expect([data, error === null], who).toEqual([null, false]);
    }
  });

  test.each(colleagues)("%s stores, exchanges, moves and removes none", async (who) => {
    const before = await query("select name, version from storage.objects order by name");
    const pdf = { contentType: "application/pdf" };
    const other = `${owner.id}/${shipment}/bill-of-lading-0123456789ab-b.pdf`;
    expect((await bucketOf(who).upload(other, Buffer.from("%PDF-"), pdf)).error).not.toBeNull();
    expect((await bucketOf(who).upload(path, Buffer.from("%PDF-"), { ...pdf, upsert: true })).error).not.toBeNull();
    await bucketOf(who).move(path, other);
    await bucketOf(who).remove([path]);
    expect(await query("select name, version from storage.objects order by name")).toEqual(before);
    expect(await (await bucketOf("the company").download(path)).data?.text()).toBe("%PDF-1.7");
  });
});

describe("written by the functions of the desk alone:", () => {
  const rows: Record<string, { at: Record<string, string>; change: object; row: () => object }> = {
    colleagues: {
      at: { role: "clerk" },
      change: { role: "lead", removed_at: null },
      row: () => ({ account: owner.id, name: "Forged", role: "lead" }),
    },
    charges: {
      at: { item: "duties" },
      change: { amount: 1, paid_at: new Date().toISOString() },
      row: () => ({ shipment_id: shipment, item: "idf-fee", amount: 1, currency: "KES" }),
    },
    announcements: {
      at: { text: "Customs system down since 09:10" },
      change: { text: "Pay to this account" },
      row: () => ({ text: "Pay to this account", ended_at: new Date().toISOString() }),
    },
    undelivered_mails: {
      at: { kind: "client ID" },
      change: { sent_to: "other@client.example" },
      row: () => ({ kind: "client ID", sent_to: "other@client.example" }),
    },
    notices: {
      at: { kind: "stage" },
      change: { due_at: new Date().toISOString(), what: "Lost", sent_at: null },
      row: () => ({
        account: owner.id,
        shipment_id: shipment,
        kind: "sent back",
        what: "Pay",
        reason: "to this account",
      }),
    },
    acts: { at: { by_name: "the company" }, change: { by_name: "x" }, row: () => ({ by_name: "x", act: "forged" }) },
    shipments: {
      at: { name: "Tea" },
      change: { stage: 9 },
      row: () => ({ name: "Gold", user_id: clerk.id }),
    },
    documents: {
      at: { name: "Packing List" },
      change: { verified: true },
      row: () => ({ shipment_id: shipment, user_id: owner.id, name: "Permit" }),
    },
    tracking_events: {
      at: { status: "Document Verification" },
      change: { status: "Lost" },
      row: () => ({ shipment_id: shipment, status: "Lost" }),
    },
    client_ids: {
      at: { claimed_by: "" },
      change: { issued_for: "x" },
      row: () => ({ client_id: "MY0W-N000-C11E-NT1D" }),
    },
  };
  const tables = [
    ...added.map((table) => ({ table, attackers: ["a visitor", "a client", "a lead", "the company"] })),
    ...["shipments", "documents", "tracking_events", "client_ids"].map((table) => ({ table, attackers: colleagues })),
  ];

  test.each(tables)("$table, which nobody inserts, changes or deletes by themselves", async ({ table, attackers }) => {
    const { at = {}, change = {}, row } = rows[table] ?? {};
    if (table === "client_ids") at.claimed_by = owner.id;
    const before = await contents(table);
    expect(before.some((one) => Object.entries(at).every(([name, value]) => one[name] === value))).toBe(true);
    for (const who of attackers) {
      const rest = handleOf(who).from(table);
      for (const [verb, attempt] of [
        ["insert", rest.insert(row?.() ?? {})],
        ["update", rest.update(change).match(at)],
        ["delete", rest.delete().match(at)],
      ] as const) {
        expect((await attempt).error?.code, `${who}: ${verb}`).toBe("42501");
      }
    }
    expect(await contents(table)).toEqual(before);
  });
});

test("a colleague is no client: the portal shows them nothing, and takes no shipment or file from them", async () => {
  for (const who of ["a clerk without a second factor", "a clerk", "a lead", "a removed clerk"]) {
    const page = await handleOf(who).rpc("portal_page", { opened: shipment }, { get: true });
    expect(page.data, who).toMatchObject({ shipments: [], shipment: null });
    const asked = await handleOf(who).rpc("require_awaited_file", { document_id: packingList });
    expect(asked.error?.code, who).toBe("PT404");
  }
  for (const { handle, id } of [newcomer, clerk, lead]) {
    expect((await handle.from("shipments").insert({ name: "Tea", user_id: id })).error?.code).toBe("42501");
    expect((await handle.from("shipments").insert({ name: "Tea", user_id: owner.id })).error?.code).toBe("42501");
  }
});

describe("an act of the desk", () => {
  const reason = "Because";
  const nobody = randomUUID();
  type Asked = [string, () => object, (() => object)?];
  /** Each with something real to outsiders, who change nothing by it, and with what has no effect to those who may. */
  const ofClerks: Asked[] = [
    ["move_shipment", () => ({ shipment_id: shipment, despite_missing: true }), () => ({ shipment_id: nobody })],
    [
      "correct_stage",
      () => ({ shipment_id: shipment, stage: 9, reason }),
      () => ({ shipment_id: nobody, stage: 9, reason }),
    ],
    [
      "move_shipments",
      () => ({ moves: [{ id: shipment }], request: randomUUID() }),
      () => ({ moves: [{ id: nobody }] }),
    ],
    [
      "save_awb",
      () => ({ shipment_id: shipment, awb: "1", reason }),
      () => ({ shipment_id: nobody, awb: "1", reason }),
    ],
    [
      "save_arrival",
      () => ({ shipment_id: shipment, place: "mombasa", day: "2026-01-01", size: 20, free_until: "2026-01-05" }),
      () => ({ shipment_id: nobody, place: "mombasa", day: "2026-01-01", size: 20, free_until: "2026-01-05" }),
    ],
    ["send_note", () => ({ shipment_id: shipment, note: "Pay" }), () => ({ shipment_id: nobody, note: "Pay" })],
    [
      "set_charge",
      () => ({ shipment_id: shipment, item: "duties", amount: 1, currency: "KES" }),
      () => ({ shipment_id: nobody, item: "duties", amount: 1, currency: "KES" }),
    ],
    [
      "mark_charge",
      () => ({ shipment_id: shipment, item: "duties", paid: true }),
      () => ({ shipment_id: nobody, item: "duties", paid: true }),
    ],
    [
      "verify_document",
      () => ({ document_id: packingList, sha256: "0".repeat(64), file_version: "1" }),
      () => ({ document_id: nobody, sha256: "0".repeat(64), file_version: "1" }),
    ],
    ["unverify_document", () => ({ document_id: packingList, reason }), () => ({ document_id: nobody, reason })],
    ["send_back_document", () => ({ document_id: packingList, reason }), () => ({ document_id: nobody, reason })],
    [
      "open_document",
      () => ({ document_id: packingList, shipment_id: shipment }),
      () => ({ document_id: packingList, shipment_id: nobody }),
    ],
    ["announce", () => ({ text: "Pay to this account" }), () => ({ text: " " })],
    ["end_announcement", () => ({})],
    ["close_account", () => ({ account: owner.id, reason }), () => ({ account: nobody, reason })],
    ["open_account", () => ({ account: owner.id, reason })],
    ["remove_second_factors", () => ({ account: owner.id })],
    ["ask_password_link", () => ({ account: owner.id }), () => ({ account: nobody })],
    ["begin_erasure", () => ({ account: owner.id, reason })],
    ["issue_client_ids", () => ({ how_many: 1 }), () => ({ how_many: 0 })],
    ["send_client_id", () => ({ client_id: sendable }), () => ({ client_id: "N0TH-1NG0-0F1T-HERE" })],
    ["withdraw_client_id", () => ({ client_id: "N0TH-1NG0-0F1T-HERE", reason })],
    ["dismiss_undelivered", () => ({ mail: nobody })],
  ];
  const ofLeads: Asked[] = [
    [
      "invite_colleague",
      () => ({ email: "accomplice@client.example", name: "Accomplice", role: "lead" }),
      () => ({ email: owner.email, name: "Client", role: "lead" }),
    ],
    ["change_role", () => ({ account: newcomer.id, role: "lead" }), () => ({ account: nobody, role: "lead" })],
    ["remove_colleague", () => ({ account: lead.id, reason }), () => ({ account: nobody, reason })],
    ["remove_second_factors", () => ({ account: newcomer.id })],
    ["ask_password_link", () => ({ account: newcomer.id })],
  ];

  test.each([...ofClerks, ...ofLeads])("%s is nothing to a visitor or an outsider", async (name, args) => {
    const before = await deskState(world);
    for (const who of outsiders) {
      const { data, error, status } = await handleOf(who).rpc(name, args());
      expect([data, error?.code, status], who).toEqual([null, "PT403", 403]);
      expect(error?.message).toBe("Only a colleague of the company can do this.");
    }
    expect((await handleOf("a visitor").rpc(name, args())).error?.code).toBe("42501");
    expect(await deskState(world)).toEqual(before);
  });

  // What is announced is ended below.
  const others = ofClerks.filter(([name]) => name !== "end_announcement");
  test.each(others)("%s is a clerk's, a lead's and the company's", async (name, args, harmless = args) => {
    for (const who of [...colleagues, "the company"]) {
      const { error } = await handleOf(who).rpc(name, harmless());
      expect(["PT403", "42501", "PGRST202"], who).not.toContain(error?.code);
    }
  });

  test.each(ofLeads)(
    "%s of the colleagues is a lead's and the company's, not a clerk's",
    async (name, args, ok = args) => {
      const before = await deskState(world);
      const { data, error } = await handleOf("a clerk").rpc(name, args());
      expect([data, error?.code, error?.message]).toEqual([null, "PT403", "Only a lead can do this."]);
      expect(await deskState(world)).toEqual(before);
      for (const who of ["a lead", "the company"]) {
        const answer = await handleOf(who).rpc(name, ok());
        expect(["PT403", "42501", "PGRST202"], who).not.toContain(answer.error?.code);
      }
    },
  );

  const ofTheCompany: [string, () => object][] = [
    ["issue_password_link", () => ({ account: clerk.id, hours: 1 })],
    ["password_link", () => ({ token: "x" })],
    ["spend_password_link", () => ({ token: "x" })],
    ["unspend_password_link", () => ({ token: "x" })],
    ["claim_mail", () => ({ request: randomUUID(), sent_to: "a@client.example" })],
    ["release_mail", () => ({ request: randomUUID(), sent_to: "a@client.example" })],
    ["list_colleagues", () => ({})],
    ["note_undelivered", () => ({ kind: "client ID", sent_to: "a@client.example" })],
    ["keep_shipment", () => ({ shipment_id: shipment, day: "2099-01-01" })],
    ["record_act", () => ({ by_name: "Lead", act: "forged" })],
    ["past_acts", () => ({})],
    ["delete_past_acts", () => ({})],
    ["claim_notices", () => ({})],
    ["settle_notices", () => ({ ids: [notice], sent: true })],
    ["want_notices", () => ({ account: owner.id, wanted: false })],
  ];
  test.each(ofTheCompany)("%s is the company's alone, not a lead's", async (name, args) => {
    const before = await deskState(world);
    for (const who of everybody.filter((one) => one !== "the company")) {
      const { data, error } = await handleOf(who).rpc(name, args());
      expect([data, error?.code], who).toEqual([null, "42501"]);
    }
    expect(await deskState(world)).toEqual(before);
    expect((await handleOf("the company").rpc(name, args())).error).toBeNull();
  });
});

describe("a page of the desk", () => {
  type Page = [string, () => object];
  const ofAll: Page[] = [
    ["desk_today", () => ({})],
    ["desk_shipments", () => ({ opened: shipment })],
    ["desk_shipments_after", () => ({})],
    ["desk_moved", () => ({ shipments: [shipment] })],
    ["desk_clients", () => ({ opened: owner.id })],
    ["desk_invitations", () => ({})],
    ["desk_log", () => ({})],
  ];
  const pages: Page[] = [...ofAll, ["desk_colleagues", () => ({})]];

  test.each(pages)("%s tells outsiders who they are and nothing more", async (name, args) => {
    for (const who of outsiders) {
      const { data, error } = await handleOf(who).rpc(name, args(), { get: true });
      expect(error).toBeNull();
      expect(Object.keys(data), who).toEqual(["caller"]);
      const [role = null] = /(?<=^a )(clerk|lead)\b/.exec(who) ?? [];
      expect(data.caller.colleague?.role ?? null, who).toBe(role);
    }
    for (const who of ["a visitor", "the company"]) {
      expect((await handleOf(who).rpc(name, args(), { get: true })).error?.code, who).toBe("42501");
    }
  });

  test.each(ofAll)("%s shows colleagues more, with who they are", async (name, args) => {
    for (const [who, role] of [
      ["a clerk", "clerk"],
      ["a lead", "lead"],
    ] as const) {
      const { data, error } = await handleOf(who).rpc(name, args(), { get: true });
      expect(error).toBeNull();
      expect(Object.keys(data).length, who).toBeGreaterThan(1);
      expect(data.caller.colleague).toEqual({ name: expect.stringMatching(/^Colleague/), role });
    }
  });

  test("desk_colleagues shows a lead those who work here, and a clerk who they are and nothing more", async () => {
    const seen = async (who: string) => (await handleOf(who).rpc("desk_colleagues", {}, { get: true })).data;
    expect(Object.keys(await seen("a lead")).sort()).toEqual(["caller", "colleagues"]);
    const { caller, ...more } = await seen("a clerk");
    expect([caller.colleague.role, more]).toEqual(["clerk", {}]);
  });

  test.each(["clerk", "lead"] as const)(
    "shows nothing more to a %s whose session has ended, though their token lives",
    async (role) => {
      const ended = await newColleague(world, role, `ended-${role}@company.example`);
      const left = raw(world.withToken(ended.accessToken));
      const theirs = role === "lead" ? pages : ofAll;
      const seen = async () => {
        const answers = await Promise.all(theirs.map(([name, args]) => left.rpc(name, args(), { get: true })));
        return answers.map(({ data }) => (data.caller ? Object.keys(data).length : data));
      };
      expect((await seen()).every((parts) => parts > 1)).toBe(true);
      await ended.handle.auth.signOut({ scope: "local" });
      expect(await seen()).toEqual(theirs.map(() => ({ caller: null })));
      expect((await left.rpc("send_note", { shipment_id: shipment, note: "Pay" })).error?.code).toBe("PT403");
      expect((await left.from("acts").select("id")).data).toEqual([]);
    },
  );
});

describe("the list of shipments", () => {
  type Row = { id: string; name: string; turn: string; stage: number; created_at: string };
  let client: Person;
  beforeAll(async () => {
    client = await world.newClient("wanjiku.kamau@client.example");
    const made = [
      ["Maize mill spares", "MEDUX4471203", 1],
      ["100% cotton", null, 1],
      ["Glass_ware", "SAVE%50", 2],
      ["Cargo C:\\drums", "A_1", 3],
      ["Plain cotton", "706-51093844", 10],
    ] as const;
    for (const [name, awb, stage] of made) {
      await query("insert into public.shipments (user_id, name, awb, stage) values ($1, $2, $3, $4)", [
        client.id,
        name,
        awb,
        stage,
      ]);
    }
    await query(
      `insert into public.shipments (id, user_id, name, changed_at, created_at)
       select ('abcd' || to_char(number, 'FM0000') || '-0000-4000-8000-000000000000')::uuid, $1, 'Crate ' || number,
         now() - make_interval(hours => number), now() - make_interval(days => 100 - number)
       from generate_series(1, 45) as number`,
      [client.id],
    );
  });

  type Asked = { q?: string; stage?: number; turn?: string; to_check?: boolean; page?: number };
  async function list(asked: Asked): Promise<Row[]> {
    const { data, error } = await raw(clerk.handle).rpc("desk_shipments", asked, { get: true });
    if (error) throw error;
    return data.shipments;
  }
  const find = async (q: string, more = {}) => (await list({ q, ...more })).map(({ name }) => name).sort();
  const crates = (first: number, last: number) =>
    Array.from({ length: last - first + 1 }, (_, index) => `Crate ${first + index}`);

  test.each([
    ["a part of the name, in any case", "  MAIZE mill ", ["Maize mill spares"]],
    ["a part of the AWB/BL, in any case", "duX44", ["Maize mill spares"]],
    ["the first 8 characters of the id", "abcd0007", ["Crate 7"]],
    ["more of the id, in capitals", "ABCD0007-0000-4", ["Crate 7"]],
    ["the whole id", "abcd0007-0000-4000-8000-000000000000", ["Crate 7"]],
    ["words of the name in any order, with any blanks", "spares \t mill  maize", ["Maize mill spares"]],
    ["a word and a part of the AWB/BL", "spares x44", ["Maize mill spares"]],
    ["the AWB/BL as it is spoken", "me du-X4 4", ["Maize mill spares"]],
    ["a word of which one is missing", "maize zebra", []],
    ["the beginning of the id with its #", "#abcd0007", ["Crate 7"]],
    ["nothing that there is", "zebra", []],
    ["an id of no shipment", "ffffffff", []],
    ["the middle of an id", "0007-0000", []],
  ])("is searched by %s", async (_what, q, found) => {
    expect(await find(q)).toEqual(found);
  });

  test.each([
    ["name", "client WANJIKU"],
    ["e-mail", "kamau@client.example"],
    ["name, its words in any order", "WANJIKU  client"],
  ])("is searched by the client's %s", async (_what, q) => {
    expect(await find(q, { stage: 10 })).toEqual(["Plain cotton"]);
    expect(await find(`${q} cotton`, { stage: 10 })).toEqual(["Plain cotton"]);
    expect(await find(`nobody ${q}`)).toEqual([]);
    expect(await find(q, { stage: 2 })).toEqual(["Glass_ware"]);
    expect(await find(q)).toHaveLength(21);
  });

  test.each([
    ["%", ["100% cotton", "Glass_ware"]],
    ["_", ["Cargo C:\\drums", "Glass_ware"]],
    ["\\", ["Cargo C:\\drums"]],
    ["0% c", ["100% cotton"]],
    ["\\d", ["Cargo C:\\drums"]],
    ["\\%", []],
    ["C_arate", []],
    ["cotton%", []],
    ["'", []],
  ])("takes %s for itself in a search", async (q, found) => {
    expect(await find(q)).toEqual(found);
  });

  test("is filtered by stage and by whose move it is, both at once", async () => {
    expect((await list({ stage: 3 })).map(({ name }) => name)).toEqual(["Cargo C:\\drums"]);
    expect((await list({ turn: "closed" })).map(({ name }) => name)).toEqual(["Plain cotton"]);
    expect(new Set((await list({ turn: "client" })).map(({ turn }) => turn))).toEqual(new Set(["client"]));
    expect(await list({ turn: "company" })).toEqual([]);
    expect(await list({ turn: "closed", stage: 1 })).toEqual([]);
    expect(await find("cotton", { turn: "client" })).toEqual(["100% cotton"]);
    expect(await find("cotton", { stage: 10, turn: "closed" })).toEqual(["Plain cotton"]);
  });

  test("comes newest change first in pages of twenty, each with one row more when there is a next page", async () => {
    const names = async (page: number) => (await list({ q: "Crate", page })).map(({ name }) => name);
    expect(await names(1)).toEqual(crates(1, 21));
    expect(await names(2)).toEqual(crates(21, 41));
    expect(await names(3)).toEqual(crates(41, 45));
    expect(await names(4)).toEqual([]);
    expect(await names(0)).toEqual(crates(1, 21));
    await world.company.rpc("send_note", { shipment_id: "abcd0045-0000-4000-8000-000000000000", note: "It came" });
    expect((await names(1)).slice(0, 2)).toEqual(["Crate 45", "Crate 1"]);
    await query("update public.shipments set changed_at = now() - interval '45 hours' where name = 'Crate 45'");
  });

  /** The shipments of the table of all after one of them, or from its beginning. */
  async function after(last: Row | undefined, asked: Asked): Promise<Row[]> {
    const place = last && { before: last.created_at, before_id: last.id };
    const { data, error } = await raw(clerk.handle).rpc("desk_shipments_after", { ...asked, ...place });
    if (error) throw error;
    return data.shipments;
  }
  const namesOf = (rows: Row[]) => rows.map(({ name }) => name);

  test("goes on for the table of all after any of its rows, newest first as they were opened, with the same filter", async () => {
    const whole = await after(undefined, { q: "Crate" });
    expect(namesOf(whole)).toEqual(crates(1, 45).reverse());
    const rest = { q: "Crate", turn: "client", stage: 1 };
    expect(namesOf(await after(whole[2], rest))).toEqual(crates(1, 42).reverse());
    expect(await after(whole[2], { ...rest, turn: "company" })).toEqual([]);
    expect(await after(whole.at(-1), rest)).toEqual([]);
    expect(await after(undefined, { q: "cotton" })).toHaveLength(2);
  });

  test("has in the table of all each shipment once, though some change between its pages of five hundred", async () => {
    const many = await world.newClient("many@client.example");
    // All opened at one time: their ids alone tell them apart.
    await query(
      "insert into public.shipments (user_id, name) select $1, 'Sack ' || number from generate_series(1, 620) as number",
      [many.id],
    );
    const first = await after(undefined, { q: many.email });
    expect(first).toHaveLength(500);
    const seen = new Set(first.map(({ id }) => id));
    const unseen = await query<{ id: string }>("select id from public.shipments where user_id = $1 order by id desc", [
      many.id,
    ]).then((rows) => rows.filter(({ id }) => !seen.has(id)));
    expect(unseen).toHaveLength(120);
    for (const { id } of [unseen[0], unseen[60], unseen[119], first[0], first[499]].filter((one) => !!one)) {
      const note = await raw(clerk.handle).rpc("send_note", { shipment_id: id, note: "It came" });
      const move = await raw(clerk.handle).rpc("move_shipment", { shipment_id: id, despite_missing: true });
      expect([note.error, move.error]).toEqual([null, null]);
    }
    const second = await after(first.at(-1), { q: many.email });
    expect(second.map(({ id }) => id)).toEqual(unseen.map(({ id }) => id));
    expect(await after(second.at(-1), { q: many.email })).toEqual([]);
  });

  test("is filtered by whether there is a document to check, with everything else too", async () => {
    const importer = await world.newClient("checked@client.example");
    const [one, other] = [await newShipment(importer, "Checked tiles"), await newShipment(importer, "Checked paint")];
    const [first, second] = [await countFile(importer, one), await countFile(importer, other)];
    const checked = async (more: Asked = {}) => find("Checked", { to_check: true, ...more });
    const exported = async () => namesOf(await after(undefined, { q: "Checked", to_check: true })).sort();
    expect(await find("Checked")).toEqual(["Checked paint", "Checked tiles"]);
    expect(await checked()).toEqual(["Checked paint", "Checked tiles"]);
    expect(await exported()).toEqual(await checked());
    expect(await checked({ stage: 2 })).toEqual([]);
    expect(await checked({ turn: "company" })).toEqual([]);
    const file = { sha256: "0".repeat(64), file_version: first.version };
    const verified = await raw(clerk.handle).rpc("verify_document", { document_id: first.id, ...file });
    expect(verified.error).toBeNull();
    expect([await checked(), await exported()]).toEqual([["Checked paint"], ["Checked paint"]]);
    const back = await raw(clerk.handle).rpc("send_back_document", { document_id: second.id, reason: "Blurred" });
    expect(back.error).toBeNull();
    expect([await checked(), await exported()]).toEqual([[], []]);
    expect(await find("Checked", { to_check: false })).toEqual(["Checked paint", "Checked tiles"]);
    // Of all that there are, the one with a file that nobody has checked.
    expect((await list({ to_check: true })).map(({ id }) => id)).toEqual([shipment]);
  });

  test("finds nothing for a search of a megabyte, and all for one of nothing but spaces", async () => {
    for (const q of ["x".repeat(1e6), "%".repeat(1e6), `Crate${" ".repeat(1e6)}`, "Crate ".repeat(2e5)]) {
      const { data, error } = await raw(clerk.handle).rpc("desk_shipments", { q });
      expect([data?.shipments, error]).toEqual([[], null]);
      expect(await after(undefined, { q })).toEqual([]);
      const clients = await raw(clerk.handle).rpc("desk_clients", { q });
      expect([clients.data?.clients, clients.error]).toEqual([[], null]);
      for (const asked of [{ who: q }, { what: q }, { shipment: q }]) {
        const log = await raw(clerk.handle).rpc("desk_log", asked);
        expect([log.data?.acts, log.error]).toEqual([[], null]);
      }
    }
    expect(await list({ q: "   " })).toHaveLength(21);
  });

  test("shows the client of each, and beside it the one that is opened, whole", async () => {
    const { data } = await raw(clerk.handle).rpc("desk_shipments", { q: "Tea", opened: shipment }, { get: true });
    const theirs = { id: owner.id, name: `Client ${owner.email}`, email: owner.email, closed: false };
    expect(data.shipments).toEqual([expect.objectContaining({ client: theirs.name, email: theirs.email })]);
    expect(data.opened).toMatchObject({ id: shipment, name: "Tea", stage: 2, turn: "client", arrival: null });
    expect(data.opened.client).toEqual(theirs);
    expect(data.opened.documents).toHaveLength(4);
    expect(data.opened.documents).toContainEqual(
      expect.objectContaining({ name: "Packing List", uploaded: true, verified: false, file_name: "list.pdf" }),
    );
    expect(data.opened.charges).toEqual([expect.objectContaining({ item: "duties", amount: 99.5, paid_at: null })]);
    expect(data.opened.events).toEqual([expect.objectContaining({ status: "Document Verification" })]);
    expect(data.opened.log.map(({ act }: { act: string }) => act).slice(-2)).toEqual([
      "charge set",
      "shipment advance",
    ]);
    const none = await raw(clerk.handle).rpc("desk_shipments", { opened: randomUUID() }, { get: true });
    expect(none.data.opened).toBeNull();
  });
});

describe("the list of clients", () => {
  let client: Person;
  let clientId: string;
  beforeAll(async () => {
    client = await world.newClient("atieno_o@client.example");
    await world.newClient("atienoxo@client.example");
    const [row] = await query<{ client_id: string }>("select client_id from public.client_ids where claimed_by = $1", [
      client.id,
    ]);
    clientId = row?.client_id ?? "";
  });
  const list = async (asked: object) => {
    const { data, error } = await raw(clerk.handle).rpc("desk_clients", asked, { get: true });
    if (error) throw error;
    return data;
  };
  const find = async (q: string) => (await list({ q })).clients.map(({ email }: Person) => email);

  test("is searched by name, by e-mail and by a whole client ID, in which nothing is special", async () => {
    expect(await find("Client ATIENO_O")).toEqual([client.email]);
    expect(await find("atieno_o@")).toEqual([client.email]);
    expect(await find("atieno_o  client")).toEqual([client.email]);
    expect(await find("atieno_o nobody")).toEqual([]);
    const spoken = clientId.toLowerCase().replaceAll("-", " ").replaceAll("0", "o").replaceAll("1", "l");
    for (const id of [` ${clientId.toLowerCase()} `, clientId.replaceAll("-", ""), spoken]) {
      expect(await find(id), id).toEqual([client.email]);
    }
    expect(await find(clientId.slice(0, 12))).toEqual([]);
    expect(await find("%")).toEqual([]);
    expect(await find("atieno")).toEqual(["atienoxo@client.example", client.email]);
  });

  test("names no colleague, and opens none", async () => {
    expect(await find("company.example")).toEqual([]);
    expect((await list({ opened: clerk.id })).opened).toBeNull();
    const emails = (await list({})).clients.map(({ email }: Person) => email);
    expect(emails).toContain(client.email);
    expect(emails).not.toContain(clerk.email);
  });

  test("shows who is opened: their client ID, shipments, factors, until when these are kept, and what was done", async () => {
    const id = await newShipment(client, "Tiles");
    await query("update public.shipments set retain_until = '2040-02-29' where id = $1", [id]);
    await enrol(client.handle);
    await world.company.rpc("close_account", { account: client.id, reason: "They asked", by_name: "Otieno" });
    expect((await list({ opened: client.id })).opened).toMatchObject({
      ...{ id: client.id, email: client.email, name: `Client ${client.email}`, client_id: clientId, factors: 1 },
      ...{ kept_until: "2040-02-29", closed: true, confirmed: true },
      shipments: [{ id, name: "Tiles" }],
      log: [{ act: "account close", by: "Otieno", reason: "They asked" }],
    });
    expect((await list({ q: client.email })).clients).toEqual([expect.objectContaining({ closed: true })]);
  });
});

test("unused client IDs are listed newest first, for whom and where they were sent; used ones are not", async () => {
  const issue = async (more: object, at: string) => {
    const { data } = await raw(world.company).rpc("issue_client_ids", more);
    const id: string = data?.[0].client_id;
    await query("update public.client_ids set created_at = $2 where client_id = $1", [id, at]);
    return id;
  };
  const old = await issue({ issued_for: " Tea Ltd ", sent_to: "A@B.ke" }, "2020-01-01");
  const next = await issue({}, "2040-01-01");
  const { data } = await raw(clerk.handle).rpc("desk_invitations", {}, { get: true });
  const ids = data.invitations.map(({ client_id }: { client_id: string }) => client_id);
  expect([ids[0], ids.at(-1), ids.includes(sendable)]).toEqual([next, old, true]);
  expect(data.invitations.at(-1)).toMatchObject({ client_id: old, issued_for: "Tea Ltd", sent_to: "a@b.ke" });
  const [used] = await query<{ client_id: string }>("select client_id from public.client_ids where claimed_by = $1", [
    owner.id,
  ]);
  expect(JSON.stringify(data)).not.toContain(used?.client_id);
});

test("the answer to a bulk move has each of up to fifty shipments as it is now, with what is missing", async () => {
  const client = await world.newClient("moved@client.example");
  const [second, first] = [await newShipment(client, "Moved second"), await newShipment(client, "Moved first")];
  const file = await countFile(client, first);
  await world.company.rpc("verify_document", {
    document_id: file.id,
    sha256: "0".repeat(64),
    file_version: file.version,
  });
  const moved = async (shipments: string[]) =>
    (await raw(clerk.handle).rpc("desk_moved", { shipments }, { get: true })).data.shipments;
  const all = ["Bill of Lading", "Commercial Invoice", "Packing List"];
  const shown = { stage: 1, status: "Client Onboarding", client: `Client ${client.email}` };
  const [one, two] = await moved([second, randomUUID(), first]);
  expect(one).toEqual({ id: first, name: "Moved first", ...shown, missing: expect.any(Array) });
  expect(two).toEqual({ id: second, name: "Moved second", ...shown, missing: expect.arrayContaining(all) });
  expect(two.missing.filter((name: string) => !one.missing.includes(name))).toEqual(["Packing List"]);
  expect(await moved([])).toEqual([]);
  const fifty = Array.from({ length: 50 }, () => randomUUID());
  expect(await moved([...fifty.slice(1), first])).toHaveLength(1);
  expect(await moved([...fifty, first])).toEqual([]);
});

test("the list of colleagues says who one is, who has a second factor, and who left", async () => {
  const { data } = await raw(lead.handle).rpc("desk_colleagues", {}, { get: true });
  const shown = Object.fromEntries(data.colleagues.map((one: { email: string }) => [one.email, one]));
  expect(shown[lead.email]).toMatchObject({ role: "lead", is_me: true, has_factor: true, removed_at: null });
  expect(shown[newcomer.email]).toMatchObject({ role: "clerk", is_me: false, has_factor: false, removed_at: null });
  expect(shown["removed@company.example"].removed_at).not.toBeNull();
  expect(data.colleagues.at(-1).email).toBe("removed@company.example");
  expect(shown[owner.email]).toBeUndefined();
});

describe("the log", () => {
  const of = randomUUID();
  const account = randomUUID();
  beforeAll(async () => {
    const written: [string, string, string | null, string][] = [
      ["Njeri", "shipment note", of, "2025-03-01T20:59:59Z"],
      ["Njeri", "shipment correct", of, "2025-03-01T21:00:00Z"],
      ["Ouma", "shipment note", null, "2025-03-02T09:00:00Z"],
      ["Njeri", "account open", null, "2025-03-02T20:59:59.999Z"],
      ["Njeri Wambui", "shipment note", null, "2025-03-02T21:00:00Z"],
      ["100%_Ali", "shipment note", null, "2025-03-09T21:00:00Z"],
    ];
    for (const row of written) {
      await query("insert into public.acts (by_name, act, shipment, at) values ($1, $2, $3, $4)", row);
    }
    await query(
      "insert into public.acts (by_name, act, account, at) values ('Chebet', 'account close', $1, '2025-03-10')",
      [account],
    );
    await query(
      `insert into public.acts (by_name, act, at)
       select 'Many', 'act ' || number, timestamptz '2024-01-01' + make_interval(hours => number)
       from generate_series(1, 120) as number`,
    );
  });
  type Line = { id: string; at: string; by: string; act: string };
  async function log(asked: object): Promise<Line[]> {
    const { data, error } = await raw(clerk.handle).rpc("desk_log", asked, { get: true });
    if (error) throw error;
    return data.acts;
  }
  const lines = async (asked: object) => (await log(asked)).map(({ by, act }) => `${by}: ${act}`);
  const numbers = (first: number, last: number) =>
    Array.from({ length: first - last + 1 }, (_, index) => `Many: act ${first - index}`);

  test("is filtered by a part of the name, by what, and by shipment", async () => {
    const all = [
      "Njeri Wambui: shipment note",
      "Njeri: account open",
      "Njeri: shipment correct",
      "Njeri: shipment note",
    ];
    for (const who of ["Njeri", "njer", " JERI "]) expect(await lines({ who }), who).toEqual(all);
    expect(await lines({ who: "wamb" })).toEqual(["Njeri Wambui: shipment note"]);
    expect(await lines({ who: "Njeri", what: "shipment correct" })).toEqual(["Njeri: shipment correct"]);
    expect(await lines({ shipment: of })).toEqual(["Njeri: shipment correct", "Njeri: shipment note"]);
    expect(await lines({ shipment: of, what: "shipment correct" })).toEqual(["Njeri: shipment correct"]);
    expect(await lines({ shipment: of, who: "Wambui" })).toEqual([]);
  });

  test("takes what LIKE takes for special for itself in a name", async () => {
    for (const who of ["%", "_", "0%_a"]) expect(await lines({ who }), who).toEqual(["100%_Ali: shipment note"]);
    for (const who of ["\\", "Nje%i", "N_eri", "Nobody", "'"]) expect(await lines({ who }), who).toEqual([]);
  });

  test("is filtered by the beginning of a shipment's id, of four characters or more", async () => {
    const both = ["Njeri: shipment correct", "Njeri: shipment note"];
    for (const length of [8, 9, 20, 36]) {
      expect(await lines({ shipment: of.slice(0, length), who: "Njeri" }), String(length)).toEqual(both);
    }
    expect(await lines({ shipment: ` ${of.slice(0, 13).toUpperCase()} ` })).toEqual(both);
    for (const shipment of [of.slice(0, 3), of.slice(1, 12), `${of}0`, "%", "zebra", ""]) {
      expect(await lines({ shipment }), shipment).toEqual([]);
    }
  });

  test("is filtered by account, and says of whom and of what its lines are while there is any", async () => {
    expect(await lines({ account })).toEqual(["Chebet: account close"]);
    expect(await lines({ account, who: "Njeri" })).toEqual([]);
    expect(await lines({ account: randomUUID() })).toEqual([]);
    expect(await log({ account })).toEqual([
      expect.objectContaining({ account, account_name: null, shipment_name: null }),
    ]);
    const client = await world.newClient("logged@client.example");
    await world.company.rpc("close_account", { account: client.id, reason: "They asked" });
    expect(await log({ account: client.id })).toEqual([
      expect.objectContaining({ act: "account close", account_name: `Client ${client.email}` }),
    ]);
    expect((await log({ shipment }))[0]).toMatchObject({ shipment, shipment_name: "Tea" });
    expect((await log({ shipment: of }))[0]).toMatchObject({ shipment: of, shipment_name: null });
  });

  test("has the acts of a day as it is in East Africa", async () => {
    expect(await lines({ day: "2025-03-01" })).toEqual(["Njeri: shipment note"]);
    expect(await lines({ day: "2025-03-02" })).toEqual([
      "Njeri: account open",
      "Ouma: shipment note",
      "Njeri: shipment correct",
    ]);
    expect(await lines({ day: "2025-03-03" })).toEqual(["Njeri Wambui: shipment note"]);
    expect(await lines({ day: "2025-03-02", who: "Ouma" })).toEqual(["Ouma: shipment note"]);
    expect(await lines({ day: "2025-03-04" })).toEqual([]);
  });

  test("comes newest first in pages of fifty, and for the table of all after any of its lines", async () => {
    expect(await lines({ who: "Many" })).toEqual(numbers(120, 70));
    expect(await lines({ who: "Many", page: 2 })).toEqual(numbers(70, 20));
    expect(await lines({ who: "Many", page: 3 })).toEqual(numbers(20, 1));
    const [, second] = await log({ who: "Many" });
    const rest = { who: "Many", page: 0, before: second?.at, before_id: second?.id };
    const { data } = await raw(clerk.handle).rpc("desk_log", rest);
    expect(data.acts.map(({ by, act }: Line) => `${by}: ${act}`)).toEqual(numbers(118, 1));
  });
});

describe("today", () => {
  type Shown = { count: number; rows: { name: string; at: string; what?: string; day?: string }[] };
  let client: Person;
  beforeAll(async () => {
    client = await world.newClient("today@client.example");
  });
  async function today(): Promise<Record<"to_check" | "storage" | "standing" | "waiting" | "undelivered", Shown>> {
    const { data, error } = await raw(clerk.handle).rpc("desk_today", {}, { get: true });
    if (error) throw error;
    return data;
  }
  const namesIn = async (list: "to_check" | "storage" | "standing" | "waiting") =>
    (await today())[list].rows.map(({ name }) => name).filter((name) => name.startsWith("Today"));
  /** A shipment of the test's, with its columns as given. */
  const put = (name: string, columns: string) =>
    query(
      `with made as (insert into public.shipments (user_id, name) values ('${client.id}', '${name}') returning id)
       select id from made`,
    ).then(([row]) =>
      world.backend.db.exec(`
        alter table public.shipments disable trigger tell_turn;
        update public.shipments set ${columns} where id = '${row?.id}';
        alter table public.shipments enable trigger tell_turn;
      `),
    );

  test("has the documents to check, those that came first at the top", async () => {
    expect((await today()).to_check.rows).toEqual([
      { shipment, document: packingList, name: "Tea", what: "Packing List", at: expect.any(String) },
    ]);
    expect((await today()).to_check.count).toBe(1);
  });

  test("has what is in storage whose free days end within three days or are over, until it is loaded", async () => {
    const arrived = "arrival_place = 'mombasa', arrived_on = '2026-01-01', container_size = 20";
    const day = "(now() at time zone 'Africa/Nairobi')::date";
    await put("Today soon", `${arrived}, free_until = ${day} + 3`);
    await put("Today over", `${arrived}, free_until = ${day} - 10`);
    await put("Today later", `${arrived}, free_until = ${day} + 4`);
    await put("Today loaded", `${arrived}, free_until = ${day}, stage = 9`);
    await put("Today not arrived", "stage = 5");
    expect(await namesIn("storage")).toEqual(["Today over", "Today soon"]);
  });

  test("has what stands still for seven days since we acted and it became ours, and what waits for the client as long", async () => {
    const ago = (days: number) => `now() - interval '${days} days'`;
    await put("Today standing", `turn = 'company', acted_at = ${ago(8)}, turn_since = ${ago(9)}`);
    await put("Today standing longer", `turn = 'company', acted_at = ${ago(20)}, turn_since = ${ago(21)}`);
    await put("Today ours for ten days", `turn = 'company', acted_at = ${ago(40)}, turn_since = ${ago(10)}`);
    await put("Today ours for six days", `turn = 'company', acted_at = ${ago(40)}, turn_since = ${ago(6)}`);
    await put("Today moving", `turn = 'company', acted_at = ${ago(6)}, turn_since = ${ago(30)}`);
    await put("Today waiting", `turn = 'client', turn_since = ${ago(8)}, acted_at = ${ago(1)}`);
    await put("Today asked", `turn = 'client', turn_since = ${ago(6)}, acted_at = ${ago(30)}`);
    await put("Today closed", `turn = 'closed', stage = 10, turn_since = ${ago(30)}, acted_at = ${ago(30)}`);
    const { standing } = await today();
    const days = standing.rows.map(({ name, at }) => [name, Math.round((Date.now() - Date.parse(at)) / 86_400_000)]);
    expect(days).toEqual([
      ["Today standing longer", 20],
      ["Today ours for ten days", 10],
      ["Today standing", 8],
    ]);
    expect(standing.count).toBe(3);
    expect(await namesIn("waiting")).toEqual(["Today waiting"]);
  });

  test("does not say that a shipment stands still on the day on which its client has done their part", async () => {
    const id = await newShipment(client, "Today complete");
    await query("update public.shipments set acted_at = now() - interval '30 days' where id = $1", [id]);
    await countFile(client, id, "%");
    const [now] = await query("select turn from public.shipments where id = $1", [id]);
    expect(now?.turn).toBe("company");
    expect(await namesIn("standing")).not.toContain("Today complete");
  });

  test("shows the eight oldest of each list, and counts no further than a hundred", async () => {
    await query(
      `insert into public.undelivered_mails (kind, sent_to, at)
       select 'invitation', 'to-' || number || '@client.example', timestamptz '2020-01-01' + make_interval(days => number)
       from generate_series(1, 120) as number`,
    );
    const { undelivered } = await today();
    expect(undelivered.count).toBe(100);
    const rows = undelivered.rows as unknown as { id: string; sent_to: string }[];
    expect(rows.map(({ sent_to }) => sent_to)).toEqual([1, 2, 3, 4, 5, 6, 7, 8].map((n) => `to-${n}@client.example`));
    await raw(clerk.handle).rpc("dismiss_undelivered", { mail: rows[0]?.id });
    const [next] = (await today()).undelivered.rows as unknown as { sent_to: string }[];
    expect(next?.sent_to).toBe("to-2@client.example");
  });

  test("says of a mail that was not delivered which client ID it had, and whether a colleague was to get it", async () => {
    for (const args of [
      { kind: "invitation", sent_to: newcomer.email, account: newcomer.id },
      { kind: "client ID", sent_to: "invited@client.example", client_id: sendable },
    ]) {
      expect((await world.company.rpc("note_undelivered", args)).error).toBeNull();
    }
    await query("update public.undelivered_mails set at = '2019-01-01' where account = $1 or client_id = $2", [
      newcomer.id,
      sendable,
    ]);
    const [first, second] = (await today()).undelivered.rows as unknown as Record<string, unknown>[];
    const shown = [first, second].sort((a, b) => String(a?.kind).localeCompare(String(b?.kind)));
    expect(shown).toEqual([
      expect.objectContaining({ kind: "client ID", client_id: sendable, account: null, is_colleague: false }),
      expect.objectContaining({ kind: "invitation", client_id: null, account: newcomer.id, is_colleague: true }),
    ]);
  });

  test("has what is announced, until it is ended", async () => {
    const read = async () => (await raw(clerk.handle).rpc("desk_today", {}, { get: true })).data.announcement;
    expect(await read()).toEqual({ text: "Customs system down since 09:10", begun_at: expect.any(String) });
    const portal = await raw(owner.handle).rpc("portal_page", {}, { get: true });
    expect(portal.data.announcement).toMatchObject({ text: "Customs system down since 09:10" });
    await raw(clerk.handle).rpc("end_announcement");
    expect(await read()).toBeNull();
    expect((await raw(owner.handle).rpc("portal_page", {}, { get: true })).data.announcement).toBeNull();
  });
});

/** The access token with which somebody asks; the publishable key for a visitor. */
async function tokenOf(who: string): Promise<string> {
  return (await handleOf(who).auth.getSession()).data.session?.access_token ?? world.publishableKey;
}

/** Lets documents of a shipment count a file each, as the server leaves them; the id and version of the last. */
async function countFile(client: Person, id: string, like = "Packing List"): Promise<{ id: string; version: string }> {
  const documents = await query<{ id: string; name: string }>(
    "select id, name from public.documents where shipment_id = $1 and name like $2",
    [id, like],
  );
  const counted = { id: "", version: "" };
  for (const { id: document, name } of documents) {
    const slug = name.toLowerCase().replaceAll(" ", "-");
    const storage_path = `${client.id}/${id}/${slug}-0123456789ab-list.pdf`;
    await query("insert into storage.objects (bucket_id, name, version) values ('documents', $1, $2)", [
      storage_path,
      randomUUID(),
    ]);
    const file = { sha256: "0".repeat(64), file_name: "list.pdf", file_size: 8, media_type: "application/pdf" };
    const { data, error } = await world.company
      .from("documents")
      .update({ uploaded: true, storage_path, ...file })
      .eq("id", document)
      .select("storage_version")
      .single();
    if (error) throw error;
    Object.assign(counted, { id: document, version: data.storage_version });
  }
  return counted;
}

function handleOf(who: string): SupabaseClient {
  const handle = people[who];
  if (!handle) throw new Error(`nobody is ${who}`);
  return raw(handle);
}

async function newShipment(client: Person, name: string): Promise<string> {
  const { data, error } = await client.handle
    .from("shipments")
    .insert({ name, user_id: client.id })
    .select("id")
    .single();
  if (error) throw error;
  return data.id;
}

/** Gives an account a verified factor, and its session AAL2. */
async function enrol(handle: Handle): Promise<void> {
  const { data, error } = await handle.auth.mfa.enroll({ factorType: "totp", friendlyName: "Phone" });
  if (error) throw error;
  const code = await new Authenticator(data.totp.secret).freshCode();
  const verified = await handle.auth.mfa.challengeAndVerify({ factorId: data.id, code });
  if (verified.error) throw verified.error;
}

async function query<T = Record<string, unknown>>(text: string, values: unknown[] = []): Promise<T[]> {
  return (await world.backend.db.query<T>(text, values)).rows;
}

/** Every row of a table, past row-level security. */
function contents(table: string): Promise<Record<string, unknown>[]> {
  return query(`select * from public.${table} order by 1, 2`);
}
