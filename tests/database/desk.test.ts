import { randomUUID } from "node:crypto";
import type { SupabaseClient } from "@supabase/supabase-js";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Authenticator } from "../support/authenticator.ts";
import { newStaffMember, newStaffMemberWithoutFactor, readDeskState } from "../support/staff-members.ts";
import { type AppSupabaseClient, startTestBackend, toUntypedClient } from "../support/test-backend.ts";

type TestUser = { supabase: AppSupabaseClient; id: string; email: string };

let testBackend: Awaited<ReturnType<typeof startTestBackend>>;
let clientsByRole: Record<string, AppSupabaseClient>;
let owner: Awaited<ReturnType<typeof testBackend.newClient>>;
let clerk: Awaited<ReturnType<typeof newStaffMember>>;
let lead: Awaited<ReturnType<typeof newStaffMember>>;
/** A colleague who never set a second factor up. */
let newcomer: TestUser;
/** The owner's shipment with something of everything, its Packing List and the path of its file. */
let shipment: string;
let packingList: string;
let path: string;
/** A client ID that nobody has used, issued for an address. */
let sendable: string;
/** A notice that is due. */
let shipmentEmailId: string;

/** Signed in, and nobody of the company who has given a code. */
const outsiders = [
  "a client",
  "a client with a second factor",
  "a clerk before the code",
  "a lead before the code",
  "a clerk without a second factor",
  "a removed clerk",
];
const staffRoles = ["a clerk", "a lead"];
const allRoles = ["a visitor", ...outsiders, ...staffRoles, "the company"];

beforeAll(async () => {
  testBackend = await startTestBackend();
  owner = await testBackend.newClient("owner@client.example");
  const stranger = await testBackend.newClient("stranger@client.example");
  const careful = await testBackend.newClient("careful@client.example");
  await enrollFactor(careful.supabase);
  clerk = await newStaffMember(testBackend, "clerk", "clerk@company.example");
  lead = await newStaffMember(testBackend, "lead", "lead@company.example");
  newcomer = await newStaffMemberWithoutFactor(testBackend, "clerk", "newcomer@company.example");
  const removed = await newStaffMember(testBackend, "clerk", "removed@company.example");
  // The mark alone: the session lives, at AAL2.
  await query("update public.staff_members set removed_at = now() where account_id = $1", [removed.id]);
  clientsByRole = {
    "a visitor": testBackend.anonymous(),
    "a client": stranger.supabase,
    "a client with a second factor": careful.supabase,
    "a clerk before the code": clerk.aal1,
    "a lead before the code": lead.aal1,
    "a clerk without a second factor": newcomer.supabase,
    "a removed clerk": removed.supabase,
    "a clerk": clerk.supabase,
    "a lead": lead.supabase,
    "the company": testBackend.serviceRole,
  };

  shipment = await newShipment(owner, "Tea");
  const { data } = await owner.supabase.from("documents").select("id").eq("name", "Packing List").single();
  packingList = data?.id ?? "";
  path = `${owner.id}/${shipment}/packing-list-0123456789ab-list.pdf`;
  const stored = await testBackend.serviceRole.storage
    .from("documents")
    .upload(path, Buffer.from("%PDF-1.7"), { contentType: "application/pdf" });
  if (stored.error) throw stored.error;
  const file = { sha256: "0".repeat(64), file_name: "list.pdf", file_size: 8, media_type: "application/pdf" };
  const marked = await testBackend.serviceRole
    .from("documents")
    .update({ uploaded: true, storage_path: path, ...file })
    .eq("id", packingList);
  if (marked.error) throw marked.error;
  for (const { error } of [
    await testBackend.serviceRole.rpc("move_shipment", { shipment_id: shipment, despite_missing: true }),
    await testBackend.serviceRole.rpc("set_charge", {
      shipment_id: shipment,
      item: "duties",
      amount: 99.5,
      currency: "KES",
    }),
    await testBackend.serviceRole.rpc("announce", { text: "Customs system down since 09:10" }),
    await testBackend.serviceRole.rpc("record_failed_email", { kind: "client ID", sent_to: "nobody@client.example" }),
  ]) {
    if (error) throw error;
  }
  const issued = await testBackend.serviceRole.rpc("issue_client_ids", { sent_to: "invited@client.example" });
  sendable = issued.data?.[0]?.client_id ?? "";
  const [due] = await query<{ id: string }>(
    "update public.email_outbox set due_at = now() where kind = 'stage' returning id",
  );
  shipmentEmailId = due?.id ?? "";
});
afterAll(() => testBackend.close());

const staffTables = ["staff_members", "failed_emails", "audit_log"] as const;
const clientTables = ["shipments", "documents", "tracking_events", "charges"] as const;
const newTables = ["staff_members", "charges", "announcements", "failed_emails", "audit_log", "email_outbox"] as const;

describe.each([...staffTables, ...clientTables])("of the table %s", (table) => {
  test.each([...staffRoles, "the company"])("%s reads every row", async (who) => {
    const { data, error } = await getClientForRole(who).from(table).select("*");
    expect(error).toBeNull();
    expect(data?.length).toBeGreaterThan(0);
    expect(data).toHaveLength((await readTable(table)).length);
  });

  test.each(outsiders)("%s reads no row, nor how many there are", async (who) => {
    const { data, error, count } = await getClientForRole(who).from(table).select("*", { count: "exact" });
    expect([data, error, count]).toEqual([[], null, 0]);
  });

  test("a visitor is refused", async () => {
    const { data, error } = await getClientForRole("a visitor").from(table).select("*");
    expect([data, error?.code]).toEqual([null, "42501"]);
  });
});

test("clients read the charges of their own shipments, and before the code of their factor none", async () => {
  const { data } = await owner.supabase.from("charges").select("shipment_id, item");
  expect(data).toEqual([{ shipment_id: shipment, item: "duties" }]);
  const client = await testBackend.newClient("charged@client.example");
  const theirs = await newShipment(client, "Cement");
  await testBackend.serviceRole.rpc("set_charge", { shipment_id: theirs, item: "duties", amount: 1, currency: "USD" });
  await enrollFactor(client.supabase);
  expect((await client.supabase.from("charges").select("shipment_id")).data).toEqual([{ shipment_id: theirs }]);
  const half = testBackend.anonymous();
  await half.auth.signInWithPassword({ email: client.email, password: "a good password" });
  expect((await half.from("charges").select("shipment_id")).data).toEqual([]);
});

test("what is announced is read by everybody who is signed in as their account asks, and by no visitor", async () => {
  const read: Record<string, unknown> = {};
  for (const who of allRoles) {
    const { data, error } = await getClientForRole(who).from("announcements").select("text");
    read[who] = error?.code ?? data?.length;
  }
  expect(read).toEqual({
    ...Object.fromEntries(allRoles.map((who) => [who, 1])),
    "a visitor": "42501",
    "a clerk before the code": 0,
    "a lead before the code": 0,
  });
});

test.each(allRoles)("%s reads no notice of the table itself", async (who) => {
  expect(await readTable("email_outbox")).not.toEqual([]);
  const { data, error } = await getClientForRole(who).from("email_outbox").select("*");
  expect([data, error?.code]).toEqual([null, "42501"]);
});

test.each(allRoles.filter((who) => who !== "the company"))("%s reads no client ID", async (who) => {
  const { data, error } = await getClientForRole(who).from("client_ids").select("*");
  expect([data, error?.code]).toEqual([null, "42501"]);
});

describe("of the stored files", () => {
  const bucketOf = (who: string) => getClientForRole(who).storage.from("documents");

  test("the company opens each", async () => {
    const { data } = await bucketOf("the company").download(path);
    expect(await data?.text()).toBe("%PDF-1.7");
    expect((await bucketOf("the company").info(path)).data?.version).toBeTruthy();
  });

  test.each(allRoles.filter((who) => who !== "the company"))("%s reads, lists and signs none", async (who) => {
    const bucket = bucketOf(who);
    const head = { method: "HEAD", headers: { Authorization: `Bearer ${await getAccessToken(who)}` } };
    for (const file of [path, `${owner.id}/${shipment}/packing-list-0123456789ab-none.pdf`]) {
      const { data, error } = await bucket.download(file);
      expect([data, error?.name]).toEqual([null, "StorageApiError"]);
      expect((await bucket.info(file)).data).toBeNull();
      expect((await bucket.exists(file)).data).toBe(false);
      for (const at of ["object/documents", "object/authenticated/documents", "object/info/documents"]) {
        const result = await testBackend.backend.fetch(
          new Request(`http://backend.local/storage/v1/${at}/${file}`, head),
        );
        expect(result.ok, at).toBe(false);
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
    for (const who of staffRoles) {
      const { data, error } = await getClientForRole(who).schema("storage").from("objects").select("name");
      expect([data, error === null], who).toEqual([null, false]);
    }
  });

  test.each(staffRoles)("%s stores, exchanges, moves and removes none", async (who) => {
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
    staff_members: {
      at: { role: "clerk" },
      change: { role: "lead", removed_at: null },
      row: () => ({ account_id: owner.id, name: "Forged", role: "lead" }),
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
    failed_emails: {
      at: { kind: "client ID" },
      change: { sent_to: "other@client.example" },
      row: () => ({ kind: "client ID", sent_to: "other@client.example" }),
    },
    email_outbox: {
      at: { kind: "stage" },
      change: { due_at: new Date().toISOString(), detail: "Lost", sent_at: null },
      row: () => ({
        account_id: owner.id,
        shipment_id: shipment,
        kind: "rejected",
        detail: "Pay",
        reason: "to this account",
      }),
    },
    audit_log: {
      at: { actor_name: "the company" },
      change: { actor_name: "x" },
      row: () => ({ actor_name: "x", action: "forged" }),
    },
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
      at: { account_id: "" },
      change: { issued_for: "x" },
      row: () => ({ client_id: "MY0W-N000-C11E-NT1D" }),
    },
  };
  const tables = [
    ...newTables.map((table) => ({ table, attackers: ["a visitor", "a client", "a lead", "the company"] })),
    ...["shipments", "documents", "tracking_events", "client_ids"].map((table) => ({ table, attackers: staffRoles })),
  ];

  test.each(tables)("$table, which nobody inserts, changes or deletes by themselves", async ({ table, attackers }) => {
    const { at = {}, change = {}, row } = rows[table] ?? {};
    if (table === "client_ids") at.account_id = owner.id;
    const before = await readTable(table);
    expect(before.some((one) => Object.entries(at).every(([name, value]) => one[name] === value))).toBe(true);
    for (const who of attackers) {
      const rest = getClientForRole(who).from(table);
      for (const [verb, attempt] of [
        ["insert", rest.insert(row?.() ?? {})],
        ["update", rest.update(change).match(at)],
        ["delete", rest.delete().match(at)],
      ] as const) {
        expect((await attempt).error?.code, `${who}: ${verb}`).toBe("42501");
      }
    }
    expect(await readTable(table)).toEqual(before);
  });
});

test("a colleague is no client: the portal shows them nothing, and takes no shipment or file from them", async () => {
  for (const who of ["a clerk without a second factor", "a clerk", "a lead", "a removed clerk"]) {
    const page = await getClientForRole(who).rpc("portal_page", { opened_id: shipment }, { get: true });
    expect(page.data, who).toMatchObject({ shipments: [], shipment: null });
    const asked = await getClientForRole(who).rpc("require_upload_allowed", { document_id: packingList });
    expect(asked.error?.code, who).toBe("PT404");
  }
  for (const { supabase, id } of [newcomer, clerk, lead]) {
    expect((await supabase.from("shipments").insert({ name: "Tea", user_id: id })).error?.code).toBe("42501");
    expect((await supabase.from("shipments").insert({ name: "Tea", user_id: owner.id })).error?.code).toBe("42501");
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
      () => ({ moves: [{ id: shipment }], idempotency_key: randomUUID() }),
      () => ({ moves: [{ id: nobody }] }),
    ],
    [
      "save_awb",
      () => ({ shipment_id: shipment, awb: "1", reason }),
      () => ({ shipment_id: nobody, awb: "1", reason }),
    ],
    [
      "save_arrival",
      () => ({
        shipment_id: shipment,
        place: "mombasa",
        day: "2026-01-01",
        size: 20,
        free_storage_ends_on: "2026-01-05",
      }),
      () => ({
        shipment_id: nobody,
        place: "mombasa",
        day: "2026-01-01",
        size: 20,
        free_storage_ends_on: "2026-01-05",
      }),
    ],
    ["send_note", () => ({ shipment_id: shipment, note: "Pay" }), () => ({ shipment_id: nobody, note: "Pay" })],
    [
      "set_charge",
      () => ({ shipment_id: shipment, item: "duties", amount: 1, currency: "KES" }),
      () => ({ shipment_id: nobody, item: "duties", amount: 1, currency: "KES" }),
    ],
    [
      "set_charge_paid",
      () => ({ shipment_id: shipment, item: "duties", paid: true }),
      () => ({ shipment_id: nobody, item: "duties", paid: true }),
    ],
    [
      "verify_document",
      () => ({ document_id: packingList, sha256: "0".repeat(64), storage_version: "1" }),
      () => ({ document_id: nobody, sha256: "0".repeat(64), storage_version: "1" }),
    ],
    ["unverify_document", () => ({ document_id: packingList, reason }), () => ({ document_id: nobody, reason })],
    ["reject_document", () => ({ document_id: packingList, reason }), () => ({ document_id: nobody, reason })],
    [
      "open_document",
      () => ({ document_id: packingList, shipment_id: shipment }),
      () => ({ document_id: packingList, shipment_id: nobody }),
    ],
    ["announce", () => ({ text: "Pay to this account" }), () => ({ text: " " })],
    ["end_announcement", () => ({})],
    ["close_account", () => ({ account_id: owner.id, reason }), () => ({ account_id: nobody, reason })],
    ["reopen_account", () => ({ account_id: owner.id, reason })],
    ["remove_second_factors", () => ({ account_id: owner.id })],
    ["request_password_link", () => ({ account_id: owner.id }), () => ({ account_id: nobody })],
    ["start_erasure", () => ({ account_id: owner.id, reason })],
    ["issue_client_ids", () => ({ how_many: 1 }), () => ({ how_many: 0 })],
    ["send_client_id", () => ({ client_id: sendable }), () => ({ client_id: "N0TH-1NG0-0F1T-HERE" })],
    ["withdraw_client_id", () => ({ client_id: "N0TH-1NG0-0F1T-HERE", reason })],
    ["resolve_failed_email", () => ({ email_id: nobody })],
  ];
  const ofLeads: Asked[] = [
    [
      "invite_staff_member",
      () => ({ email: "accomplice@client.example", name: "Accomplice", role: "lead" }),
      () => ({ email: owner.email, name: "Client", role: "lead" }),
    ],
    [
      "change_staff_role",
      () => ({ account_id: newcomer.id, role: "lead" }),
      () => ({ account_id: nobody, role: "lead" }),
    ],
    ["remove_staff_member", () => ({ account_id: lead.id, reason }), () => ({ account_id: nobody, reason })],
    ["remove_second_factors", () => ({ account_id: newcomer.id })],
    ["request_password_link", () => ({ account_id: newcomer.id })],
  ];

  test.each([...ofClerks, ...ofLeads])("%s is nothing to a visitor or an outsider", async (name, args) => {
    const before = await readDeskState(testBackend);
    for (const who of outsiders) {
      const { data, error, status } = await getClientForRole(who).rpc(name, args());
      expect([data, error?.code, status], who).toEqual([null, "PT403", 403]);
      expect(error?.message).toBe("Only a colleague of the company can do this.");
    }
    expect((await getClientForRole("a visitor").rpc(name, args())).error?.code).toBe("42501");
    expect(await readDeskState(testBackend)).toEqual(before);
  });

  // What is announced is ended below.
  const others = ofClerks.filter(([name]) => name !== "end_announcement");
  test.each(others)("%s is a clerk's, a lead's and the company's", async (name, args, harmless = args) => {
    for (const who of [...staffRoles, "the company"]) {
      const { error } = await getClientForRole(who).rpc(name, harmless());
      expect(["PT403", "42501", "PGRST202"], who).not.toContain(error?.code);
    }
  });

  test.each(ofLeads)(
    "%s of the colleagues is a lead's and the company's, not a clerk's",
    async (name, args, ok = args) => {
      const before = await readDeskState(testBackend);
      const { data, error } = await getClientForRole("a clerk").rpc(name, args());
      expect([data, error?.code, error?.message]).toEqual([null, "PT403", "Only a lead can do this."]);
      expect(await readDeskState(testBackend)).toEqual(before);
      for (const who of ["a lead", "the company"]) {
        const result = await getClientForRole(who).rpc(name, ok());
        expect(["PT403", "42501", "PGRST202"], who).not.toContain(result.error?.code);
      }
    },
  );

  const ofTheCompany: [string, () => object][] = [
    ["issue_password_link", () => ({ account_id: clerk.id, valid_hours: 1 })],
    ["password_link", () => ({ token: "x" })],
    ["redeem_password_link", () => ({ token: "x" })],
    ["restore_password_link", () => ({ token: "x" })],
    ["claim_email", () => ({ idempotency_key: randomUUID(), sent_to: "a@client.example" })],
    ["release_email", () => ({ idempotency_key: randomUUID(), sent_to: "a@client.example" })],
    ["list_staff_members", () => ({})],
    ["record_failed_email", () => ({ kind: "client ID", sent_to: "a@client.example" })],
    ["extend_shipment_retention", () => ({ shipment_id: shipment, day: "2099-01-01" })],
    ["record_audit_entry", () => ({ actor_name: "Lead", action: "forged" })],
    ["count_expired_audit_entries", () => ({})],
    ["delete_expired_audit_entries", () => ({})],
    ["claim_shipment_emails", () => ({})],
    ["finish_shipment_emails", () => ({ email_ids: [shipmentEmailId], sent: true })],
    ["set_shipment_emails_enabled", () => ({ account_id: owner.id, enabled: false })],
  ];
  test.each(ofTheCompany)("%s is the company's alone, not a lead's", async (name, args) => {
    const before = await readDeskState(testBackend);
    for (const who of allRoles.filter((one) => one !== "the company")) {
      const { data, error } = await getClientForRole(who).rpc(name, args());
      expect([data, error?.code], who).toEqual([null, "42501"]);
    }
    expect(await readDeskState(testBackend)).toEqual(before);
    expect((await getClientForRole("the company").rpc(name, args())).error).toBeNull();
  });
});

describe("a page of the desk", () => {
  type Page = [string, () => object];
  const ofAll: Page[] = [
    ["desk_today", () => ({})],
    ["desk_shipments", () => ({ opened_id: shipment })],
    ["desk_shipments_export", () => ({})],
    ["desk_move_result", () => ({ shipment_ids: [shipment] })],
    ["desk_clients", () => ({ opened_id: owner.id })],
    ["desk_invitations", () => ({})],
    ["desk_log", () => ({})],
  ];
  const pages: Page[] = [...ofAll, ["desk_team", () => ({})]];

  test.each(pages)("%s tells outsiders who they are and nothing more", async (name, args) => {
    for (const who of outsiders) {
      const { data, error } = await getClientForRole(who).rpc(name, args(), { get: true });
      expect(error).toBeNull();
      expect(Object.keys(data), who).toEqual(["viewer"]);
      const [role = null] = /(?<=^a )(clerk|lead)\b/.exec(who) ?? [];
      expect(data.viewer.staff?.role ?? null, who).toBe(role);
    }
    for (const who of ["a visitor", "the company"]) {
      expect((await getClientForRole(who).rpc(name, args(), { get: true })).error?.code, who).toBe("42501");
    }
  });

  test.each(ofAll)("%s shows colleagues more, with who they are", async (name, args) => {
    for (const [who, role] of [
      ["a clerk", "clerk"],
      ["a lead", "lead"],
    ] as const) {
      const { data, error } = await getClientForRole(who).rpc(name, args(), { get: true });
      expect(error).toBeNull();
      expect(Object.keys(data).length, who).toBeGreaterThan(1);
      expect(data.viewer.staff).toEqual({ name: expect.stringMatching(/^Colleague/), role });
    }
  });

  test("desk_team shows a lead those who work here, and a clerk who they are and nothing more", async () => {
    const seen = async (who: string) => (await getClientForRole(who).rpc("desk_team", {}, { get: true })).data;
    expect(Object.keys(await seen("a lead")).sort()).toEqual(["staff_members", "viewer"]);
    const { viewer, ...more } = await seen("a clerk");
    expect([viewer.staff.role, more]).toEqual(["clerk", {}]);
  });

  test.each(["clerk", "lead"] as const)(
    "shows nothing more to a %s whose session has ended, though their token lives",
    async (role) => {
      const ended = await newStaffMember(testBackend, role, `ended-${role}@company.example`);
      const left = toUntypedClient(testBackend.withToken(ended.accessToken));
      const theirs = role === "lead" ? pages : ofAll;
      const seen = async () => {
        const results = await Promise.all(theirs.map(([name, args]) => left.rpc(name, args(), { get: true })));
        return results.map(({ data }) => (data.viewer ? Object.keys(data).length : data));
      };
      expect((await seen()).every((parts) => parts > 1)).toBe(true);
      await ended.supabase.auth.signOut({ scope: "local" });
      expect(await seen()).toEqual(theirs.map(() => ({ viewer: null })));
      expect((await left.rpc("send_note", { shipment_id: shipment, note: "Pay" })).error?.code).toBe("PT403");
      expect((await left.from("audit_log").select("id")).data).toEqual([]);
    },
  );
});

describe("the list of shipments", () => {
  type Row = { id: string; name: string; waiting_on: string; stage: number; created_at: string };
  let client: TestUser;
  beforeAll(async () => {
    client = await testBackend.newClient("wanjiku.kamau@client.example");
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

  type Asked = { q?: string; stage?: number; waiting_on?: string; to_check?: boolean; page?: number };
  async function list(asked: Asked): Promise<Row[]> {
    const { data, error } = await toUntypedClient(clerk.supabase).rpc("desk_shipments", asked, { get: true });
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
    expect((await list({ waiting_on: "nobody" })).map(({ name }) => name)).toEqual(["Plain cotton"]);
    expect(new Set((await list({ waiting_on: "client" })).map(({ waiting_on }) => waiting_on))).toEqual(
      new Set(["client"]),
    );
    expect(await list({ waiting_on: "company" })).toEqual([]);
    expect(await list({ waiting_on: "nobody", stage: 1 })).toEqual([]);
    expect(await find("cotton", { waiting_on: "client" })).toEqual(["100% cotton"]);
    expect(await find("cotton", { stage: 10, waiting_on: "nobody" })).toEqual(["Plain cotton"]);
  });

  test("comes newest change first in pages of twenty, each with one row more when there is a next page", async () => {
    const names = async (page: number) => (await list({ q: "Crate", page })).map(({ name }) => name);
    expect(await names(1)).toEqual(crates(1, 21));
    expect(await names(2)).toEqual(crates(21, 41));
    expect(await names(3)).toEqual(crates(41, 45));
    expect(await names(4)).toEqual([]);
    expect(await names(0)).toEqual(crates(1, 21));
    await testBackend.serviceRole.rpc("send_note", {
      shipment_id: "abcd0045-0000-4000-8000-000000000000",
      note: "It came",
    });
    expect((await names(1)).slice(0, 2)).toEqual(["Crate 45", "Crate 1"]);
    await query("update public.shipments set changed_at = now() - interval '45 hours' where name = 'Crate 45'");
  });

  /** The shipments of the table of all after one of them, or from its beginning. */
  async function after(last: Row | undefined, asked: Asked): Promise<Row[]> {
    const place = last && { before: last.created_at, before_id: last.id };
    const { data, error } = await toUntypedClient(clerk.supabase).rpc("desk_shipments_export", { ...asked, ...place });
    if (error) throw error;
    return data.shipments;
  }
  const namesOf = (rows: Row[]) => rows.map(({ name }) => name);

  test("goes on for the table of all after any of its rows, newest first as they were opened, with the same filter", async () => {
    const whole = await after(undefined, { q: "Crate" });
    expect(namesOf(whole)).toEqual(crates(1, 45).reverse());
    const rest = { q: "Crate", waiting_on: "client", stage: 1 };
    expect(namesOf(await after(whole[2], rest))).toEqual(crates(1, 42).reverse());
    expect(await after(whole[2], { ...rest, waiting_on: "company" })).toEqual([]);
    expect(await after(whole.at(-1), rest)).toEqual([]);
    expect(await after(undefined, { q: "cotton" })).toHaveLength(2);
  });

  test("has in the table of all each shipment once, though some change between its pages of five hundred", async () => {
    const many = await testBackend.newClient("many@client.example");
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
      const note = await toUntypedClient(clerk.supabase).rpc("send_note", { shipment_id: id, note: "It came" });
      const move = await toUntypedClient(clerk.supabase).rpc("move_shipment", {
        shipment_id: id,
        despite_missing: true,
      });
      expect([note.error, move.error]).toEqual([null, null]);
    }
    const second = await after(first.at(-1), { q: many.email });
    expect(second.map(({ id }) => id)).toEqual(unseen.map(({ id }) => id));
    expect(await after(second.at(-1), { q: many.email })).toEqual([]);
  });

  test("is filtered by whether there is a document to check, with everything else too", async () => {
    const importer = await testBackend.newClient("checked@client.example");
    const [one, other] = [await newShipment(importer, "Checked tiles"), await newShipment(importer, "Checked paint")];
    const [first, second] = [await recordFile(importer, one), await recordFile(importer, other)];
    const checked = async (more: Asked = {}) => find("Checked", { to_check: true, ...more });
    const exported = async () => namesOf(await after(undefined, { q: "Checked", to_check: true })).sort();
    expect(await find("Checked")).toEqual(["Checked paint", "Checked tiles"]);
    expect(await checked()).toEqual(["Checked paint", "Checked tiles"]);
    expect(await exported()).toEqual(await checked());
    expect(await checked({ stage: 2 })).toEqual([]);
    expect(await checked({ waiting_on: "company" })).toEqual([]);
    const file = { sha256: "0".repeat(64), storage_version: first.version };
    const verified = await toUntypedClient(clerk.supabase).rpc("verify_document", { document_id: first.id, ...file });
    expect(verified.error).toBeNull();
    expect([await checked(), await exported()]).toEqual([["Checked paint"], ["Checked paint"]]);
    const back = await toUntypedClient(clerk.supabase).rpc("reject_document", {
      document_id: second.id,
      reason: "Blurred",
    });
    expect(back.error).toBeNull();
    expect([await checked(), await exported()]).toEqual([[], []]);
    expect(await find("Checked", { to_check: false })).toEqual(["Checked paint", "Checked tiles"]);
    // Of all that there are, the one with a file that nobody has checked.
    expect((await list({ to_check: true })).map(({ id }) => id)).toEqual([shipment]);
  });

  test("finds nothing for a search of a megabyte, and all for one of nothing but spaces", async () => {
    for (const q of ["x".repeat(1e6), "%".repeat(1e6), `Crate${" ".repeat(1e6)}`, "Crate ".repeat(2e5)]) {
      const { data, error } = await toUntypedClient(clerk.supabase).rpc("desk_shipments", { q });
      expect([data?.shipments, error]).toEqual([[], null]);
      expect(await after(undefined, { q })).toEqual([]);
      const clients = await toUntypedClient(clerk.supabase).rpc("desk_clients", { q });
      expect([clients.data?.clients, clients.error]).toEqual([[], null]);
      for (const asked of [{ actor_name: q }, { action: q }, { shipment_prefix: q }]) {
        const log = await toUntypedClient(clerk.supabase).rpc("desk_log", asked);
        expect([log.data?.audit_entries, log.error]).toEqual([[], null]);
      }
    }
    expect(await list({ q: "   " })).toHaveLength(21);
  });

  test("shows the client of each, and beside it the one that is opened, whole", async () => {
    const { data } = await toUntypedClient(clerk.supabase).rpc(
      "desk_shipments",
      { q: "Tea", opened_id: shipment },
      { get: true },
    );
    const theirs = { id: owner.id, name: `Client ${owner.email}`, email: owner.email, closed: false };
    expect(data.shipments).toEqual([expect.objectContaining({ client_name: theirs.name, email: theirs.email })]);
    expect(data.opened).toMatchObject({ id: shipment, name: "Tea", stage: 2, waiting_on: "client", arrival: null });
    expect(data.opened.client).toEqual(theirs);
    expect(data.opened.documents).toHaveLength(4);
    expect(data.opened.documents).toContainEqual(
      expect.objectContaining({ name: "Packing List", uploaded: true, verified: false, file_name: "list.pdf" }),
    );
    expect(data.opened.charges).toEqual([expect.objectContaining({ item: "duties", amount: 99.5, paid_at: null })]);
    expect(data.opened.tracking_events).toEqual([expect.objectContaining({ status: "Document Verification" })]);
    expect(data.opened.audit_entries.map(({ action }: { action: string }) => action).slice(-2)).toEqual([
      "charge set",
      "shipment advance",
    ]);
    const none = await toUntypedClient(clerk.supabase).rpc(
      "desk_shipments",
      { opened_id: randomUUID() },
      { get: true },
    );
    expect(none.data.opened).toBeNull();
  });
});

describe("the list of clients", () => {
  let client: TestUser;
  let clientId: string;
  beforeAll(async () => {
    client = await testBackend.newClient("atieno_o@client.example");
    await testBackend.newClient("atienoxo@client.example");
    const [row] = await query<{ client_id: string }>("select client_id from public.client_ids where account_id = $1", [
      client.id,
    ]);
    clientId = row?.client_id ?? "";
  });
  const list = async (asked: object) => {
    const { data, error } = await toUntypedClient(clerk.supabase).rpc("desk_clients", asked, { get: true });
    if (error) throw error;
    return data;
  };
  const find = async (q: string) => (await list({ q })).clients.map(({ email }: TestUser) => email);

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
    expect((await list({ opened_id: clerk.id })).opened).toBeNull();
    const emails = (await list({})).clients.map(({ email }: TestUser) => email);
    expect(emails).toContain(client.email);
    expect(emails).not.toContain(clerk.email);
  });

  test("shows who is opened: their client ID, shipments, factors, until when these are kept, and what was done", async () => {
    const id = await newShipment(client, "Tiles");
    await query("update public.shipments set retention_ends_on = '2040-02-29' where id = $1", [id]);
    await enrollFactor(client.supabase);
    await testBackend.serviceRole.rpc("close_account", {
      account_id: client.id,
      reason: "They asked",
      actor_name: "Otieno",
    });
    expect((await list({ opened_id: client.id })).opened).toMatchObject({
      ...{ id: client.id, email: client.email, name: `Client ${client.email}`, client_id: clientId, factor_count: 1 },
      ...{ retention_ends_on: "2040-02-29", closed: true, confirmed: true },
      shipments: [{ id, name: "Tiles" }],
      audit_entries: [{ action: "account close", actor_name: "Otieno", reason: "They asked" }],
    });
    expect((await list({ q: client.email })).clients).toEqual([expect.objectContaining({ closed: true })]);
  });
});

test("unused client IDs are listed newest first, for whom and where they were sent; used ones are not", async () => {
  const issue = async (more: object, at: string) => {
    const { data } = await toUntypedClient(testBackend.serviceRole).rpc("issue_client_ids", more);
    const id: string = data?.[0].client_id;
    await query("update public.client_ids set created_at = $2 where client_id = $1", [id, at]);
    return id;
  };
  const old = await issue({ issued_for: " Tea Ltd ", sent_to: "A@B.ke" }, "2020-01-01");
  const next = await issue({}, "2040-01-01");
  const { data } = await toUntypedClient(clerk.supabase).rpc("desk_invitations", {}, { get: true });
  const ids = data.invitations.map(({ client_id }: { client_id: string }) => client_id);
  expect([ids[0], ids.at(-1), ids.includes(sendable)]).toEqual([next, old, true]);
  expect(data.invitations.at(-1)).toMatchObject({ client_id: old, issued_for: "Tea Ltd", sent_to: "a@b.ke" });
  const [used] = await query<{ client_id: string }>("select client_id from public.client_ids where account_id = $1", [
    owner.id,
  ]);
  expect(JSON.stringify(data)).not.toContain(used?.client_id);
});

test("the answer to a bulk move has each of up to fifty shipments as it is now, with what is missing", async () => {
  const client = await testBackend.newClient("moved@client.example");
  const [second, first] = [await newShipment(client, "Moved second"), await newShipment(client, "Moved first")];
  const file = await recordFile(client, first);
  await testBackend.serviceRole.rpc("verify_document", {
    document_id: file.id,
    sha256: "0".repeat(64),
    storage_version: file.version,
  });
  const moved = async (shipments: string[]) =>
    (await toUntypedClient(clerk.supabase).rpc("desk_move_result", { shipment_ids: shipments }, { get: true })).data
      .shipments;
  const all = ["Bill of Lading", "Commercial Invoice", "Packing List"];
  const shown = { stage: 1, status: "Client Onboarding", client_name: `Client ${client.email}` };
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
  const { data } = await toUntypedClient(lead.supabase).rpc("desk_team", {}, { get: true });
  const shown = Object.fromEntries(data.staff_members.map((one: { email: string }) => [one.email, one]));
  expect(shown[lead.email]).toMatchObject({ role: "lead", is_viewer: true, has_factor: true, removed_at: null });
  expect(shown[newcomer.email]).toMatchObject({ role: "clerk", is_viewer: false, has_factor: false, removed_at: null });
  expect(shown["removed@company.example"].removed_at).not.toBeNull();
  expect(data.staff_members.at(-1).email).toBe("removed@company.example");
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
      ["Njeri", "account reopen", null, "2025-03-02T20:59:59.999Z"],
      ["Njeri Wambui", "shipment note", null, "2025-03-02T21:00:00Z"],
      ["100%_Ali", "shipment note", null, "2025-03-09T21:00:00Z"],
    ];
    for (const row of written) {
      await query(
        "insert into public.audit_log (actor_name, action, shipment_id, created_at) values ($1, $2, $3, $4)",
        row,
      );
    }
    await query(
      "insert into public.audit_log (actor_name, action, account_id, created_at) values ('Chebet', 'account close', $1, '2025-03-10')",
      [account],
    );
    await query(
      `insert into public.audit_log (actor_name, action, created_at)
       select 'Many', 'act ' || number, timestamptz '2024-01-01' + make_interval(hours => number)
       from generate_series(1, 120) as number`,
    );
  });
  type Line = { id: string; created_at: string; actor_name: string; action: string };
  async function log(asked: object): Promise<Line[]> {
    const { data, error } = await toUntypedClient(clerk.supabase).rpc("desk_log", asked, { get: true });
    if (error) throw error;
    return data.audit_entries;
  }
  const lines = async (asked: object) => (await log(asked)).map(({ actor_name, action }) => `${actor_name}: ${action}`);
  const numbers = (first: number, last: number) =>
    Array.from({ length: first - last + 1 }, (_, index) => `Many: act ${first - index}`);

  test("is filtered by a part of the name, by what, and by shipment", async () => {
    const all = [
      "Njeri Wambui: shipment note",
      "Njeri: account reopen",
      "Njeri: shipment correct",
      "Njeri: shipment note",
    ];
    for (const who of ["Njeri", "njer", " JERI "]) expect(await lines({ actor_name: who }), who).toEqual(all);
    expect(await lines({ actor_name: "wamb" })).toEqual(["Njeri Wambui: shipment note"]);
    expect(await lines({ actor_name: "Njeri", action: "shipment correct" })).toEqual(["Njeri: shipment correct"]);
    expect(await lines({ shipment_prefix: of })).toEqual(["Njeri: shipment correct", "Njeri: shipment note"]);
    expect(await lines({ shipment_prefix: of, action: "shipment correct" })).toEqual(["Njeri: shipment correct"]);
    expect(await lines({ shipment_prefix: of, actor_name: "Wambui" })).toEqual([]);
  });

  test("takes what LIKE takes for special for itself in a name", async () => {
    for (const who of ["%", "_", "0%_a"])
      expect(await lines({ actor_name: who }), who).toEqual(["100%_Ali: shipment note"]);
    for (const who of ["\\", "Nje%i", "N_eri", "Nobody", "'"])
      expect(await lines({ actor_name: who }), who).toEqual([]);
  });

  test("is filtered by the beginning of a shipment's id, of four characters or more", async () => {
    const both = ["Njeri: shipment correct", "Njeri: shipment note"];
    for (const length of [8, 9, 20, 36]) {
      expect(await lines({ shipment_prefix: of.slice(0, length), actor_name: "Njeri" }), String(length)).toEqual(both);
    }
    expect(await lines({ shipment_prefix: ` ${of.slice(0, 13).toUpperCase()} ` })).toEqual(both);
    for (const shipment of [of.slice(0, 3), of.slice(1, 12), `${of}0`, "%", "zebra", ""]) {
      expect(await lines({ shipment_prefix: shipment }), shipment).toEqual([]);
    }
  });

  test("is filtered by account, and says of whom and of what its lines are while there is any", async () => {
    expect(await lines({ account_id: account })).toEqual(["Chebet: account close"]);
    expect(await lines({ account_id: account, actor_name: "Njeri" })).toEqual([]);
    expect(await lines({ account_id: randomUUID() })).toEqual([]);
    expect(await log({ account_id: account })).toEqual([
      expect.objectContaining({ account_id: account, account_name: null, shipment_name: null }),
    ]);
    const client = await testBackend.newClient("logged@client.example");
    await testBackend.serviceRole.rpc("close_account", { account_id: client.id, reason: "They asked" });
    expect(await log({ account_id: client.id })).toEqual([
      expect.objectContaining({ action: "account close", account_name: `Client ${client.email}` }),
    ]);
    expect((await log({ shipment_prefix: shipment }))[0]).toMatchObject({
      shipment_id: shipment,
      shipment_name: "Tea",
    });
    expect((await log({ shipment_prefix: of }))[0]).toMatchObject({ shipment_id: of, shipment_name: null });
  });

  test("has the acts of a day as it is in East Africa", async () => {
    expect(await lines({ day: "2025-03-01" })).toEqual(["Njeri: shipment note"]);
    expect(await lines({ day: "2025-03-02" })).toEqual([
      "Njeri: account reopen",
      "Ouma: shipment note",
      "Njeri: shipment correct",
    ]);
    expect(await lines({ day: "2025-03-03" })).toEqual(["Njeri Wambui: shipment note"]);
    expect(await lines({ day: "2025-03-02", actor_name: "Ouma" })).toEqual(["Ouma: shipment note"]);
    expect(await lines({ day: "2025-03-04" })).toEqual([]);
  });

  test("comes newest first in pages of fifty, and for the table of all after any of its lines", async () => {
    expect(await lines({ actor_name: "Many" })).toEqual(numbers(120, 70));
    expect(await lines({ actor_name: "Many", page: 2 })).toEqual(numbers(70, 20));
    expect(await lines({ actor_name: "Many", page: 3 })).toEqual(numbers(20, 1));
    const [, second] = await log({ actor_name: "Many" });
    const rest = { actor_name: "Many", page: 0, before: second?.created_at, before_id: second?.id };
    const { data } = await toUntypedClient(clerk.supabase).rpc("desk_log", rest);
    expect(data.audit_entries.map(({ actor_name, action }: Line) => `${actor_name}: ${action}`)).toEqual(
      numbers(118, 1),
    );
  });
});

describe("today", () => {
  type Shown = { count: number; rows: { name: string; since: string; detail?: string }[] };
  let client: TestUser;
  beforeAll(async () => {
    client = await testBackend.newClient("today@client.example");
  });
  async function today(): Promise<
    Record<"to_check" | "storage" | "no_update" | "waiting_for_client" | "failed_emails", Shown>
  > {
    const { data, error } = await toUntypedClient(clerk.supabase).rpc("desk_today", {}, { get: true });
    if (error) throw error;
    return data;
  }
  const namesIn = async (list: "to_check" | "storage" | "no_update" | "waiting_for_client") =>
    (await today())[list].rows.map(({ name }) => name).filter((name) => name.startsWith("Today"));
  /** A shipment of the test's, with its columns as given. */
  const put = (name: string, columns: string) =>
    query(
      `with made as (insert into public.shipments (user_id, name) values ('${client.id}', '${name}') returning id)
       select id from made`,
    ).then(([row]) =>
      testBackend.backend.db.exec(`
        alter table public.shipments disable trigger update_shipment_state;
        update public.shipments set ${columns} where id = '${row?.id}';
        alter table public.shipments enable trigger update_shipment_state;
      `),
    );

  test("has the documents to check, those that came first at the top", async () => {
    expect((await today()).to_check.rows).toEqual([
      {
        shipment_id: shipment,
        document_id: packingList,
        name: "Tea",
        detail: "Packing List",
        since: expect.any(String),
      },
    ]);
    expect((await today()).to_check.count).toBe(1);
  });

  test("has what is in storage whose free days end within three days or are over, until it is loaded", async () => {
    const arrived = "arrival_place = 'mombasa', arrived_on = '2026-01-01', container_size = 20";
    const day = "(now() at time zone 'Africa/Nairobi')::date";
    await put("Today soon", `${arrived}, free_storage_ends_on = ${day} + 3`);
    await put("Today over", `${arrived}, free_storage_ends_on = ${day} - 10`);
    await put("Today later", `${arrived}, free_storage_ends_on = ${day} + 4`);
    await put("Today loaded", `${arrived}, free_storage_ends_on = ${day}, stage = 9`);
    await put("Today not arrived", "stage = 5");
    expect(await namesIn("storage")).toEqual(["Today over", "Today soon"]);
  });

  test("has what stands still for seven days since we acted and it became ours, and what waits for the client as long", async () => {
    const ago = (days: number) => `now() - interval '${days} days'`;
    await put("Today standing", `waiting_on = 'company', staff_action_at = ${ago(8)}, waiting_since = ${ago(9)}`);
    await put(
      "Today standing longer",
      `waiting_on = 'company', staff_action_at = ${ago(20)}, waiting_since = ${ago(21)}`,
    );
    await put(
      "Today ours for ten days",
      `waiting_on = 'company', staff_action_at = ${ago(40)}, waiting_since = ${ago(10)}`,
    );
    await put(
      "Today ours for six days",
      `waiting_on = 'company', staff_action_at = ${ago(40)}, waiting_since = ${ago(6)}`,
    );
    await put("Today moving", `waiting_on = 'company', staff_action_at = ${ago(6)}, waiting_since = ${ago(30)}`);
    await put("Today waiting", `waiting_on = 'client', waiting_since = ${ago(8)}, staff_action_at = ${ago(1)}`);
    await put("Today asked", `waiting_on = 'client', waiting_since = ${ago(6)}, staff_action_at = ${ago(30)}`);
    await put(
      "Today closed",
      `waiting_on = 'nobody', stage = 10, waiting_since = ${ago(30)}, staff_action_at = ${ago(30)}`,
    );
    const { no_update } = await today();
    const days = no_update.rows.map(({ name, since }) => [
      name,
      Math.round((Date.now() - Date.parse(since)) / 86_400_000),
    ]);
    expect(days).toEqual([
      ["Today standing longer", 20],
      ["Today ours for ten days", 10],
      ["Today standing", 8],
    ]);
    expect(no_update.count).toBe(3);
    expect(await namesIn("waiting_for_client")).toEqual(["Today waiting"]);
  });

  test("does not say that a shipment stands still on the day on which its client has done their part", async () => {
    const id = await newShipment(client, "Today complete");
    await query("update public.shipments set staff_action_at = now() - interval '30 days' where id = $1", [id]);
    await recordFile(client, id, "%");
    const [now] = await query("select waiting_on from public.shipments where id = $1", [id]);
    expect(now?.waiting_on).toBe("company");
    expect(await namesIn("no_update")).not.toContain("Today complete");
  });

  test("shows the eight oldest of each list, and counts no further than a hundred", async () => {
    await query(
      `insert into public.failed_emails (kind, sent_to, failed_at)
       select 'team invite', 'to-' || number || '@client.example', timestamptz '2020-01-01' + make_interval(days => number)
       from generate_series(1, 120) as number`,
    );
    const { failed_emails: undelivered } = await today();
    expect(undelivered.count).toBe(100);
    const rows = undelivered.rows as unknown as { id: string; sent_to: string }[];
    expect(rows.map(({ sent_to }) => sent_to)).toEqual([1, 2, 3, 4, 5, 6, 7, 8].map((n) => `to-${n}@client.example`));
    await toUntypedClient(clerk.supabase).rpc("resolve_failed_email", { email_id: rows[0]?.id });
    const [next] = (await today()).failed_emails.rows as unknown as { sent_to: string }[];
    expect(next?.sent_to).toBe("to-2@client.example");
  });

  test("says of a mail that was not delivered which client ID it had, and whether a colleague was to get it", async () => {
    for (const args of [
      { kind: "team invite", sent_to: newcomer.email, account_id: newcomer.id },
      { kind: "client ID", sent_to: "invited@client.example", client_id: sendable },
    ]) {
      expect((await testBackend.serviceRole.rpc("record_failed_email", args)).error).toBeNull();
    }
    await query("update public.failed_emails set failed_at = '2019-01-01' where account_id = $1 or client_id = $2", [
      newcomer.id,
      sendable,
    ]);
    const [first, second] = (await today()).failed_emails.rows as unknown as Record<string, unknown>[];
    const shown = [first, second].sort((a, b) => String(a?.kind).localeCompare(String(b?.kind)));
    expect(shown).toEqual([
      expect.objectContaining({ kind: "client ID", client_id: sendable, account_id: null, is_staff: false }),
      expect.objectContaining({ kind: "team invite", client_id: null, account_id: newcomer.id, is_staff: true }),
    ]);
  });

  test("has what is announced, until it is ended", async () => {
    const read = async () =>
      (await toUntypedClient(clerk.supabase).rpc("desk_today", {}, { get: true })).data.announcement;
    expect(await read()).toEqual({ text: "Customs system down since 09:10", started_at: expect.any(String) });
    const portal = await toUntypedClient(owner.supabase).rpc("portal_page", {}, { get: true });
    expect(portal.data.announcement).toMatchObject({ text: "Customs system down since 09:10" });
    await toUntypedClient(clerk.supabase).rpc("end_announcement");
    expect(await read()).toBeNull();
    expect((await toUntypedClient(owner.supabase).rpc("portal_page", {}, { get: true })).data.announcement).toBeNull();
  });
});

/** The access token with which somebody asks; the publishable key for a visitor. */
async function getAccessToken(who: string): Promise<string> {
  return (await getClientForRole(who).auth.getSession()).data.session?.access_token ?? testBackend.publishableKey;
}

/** Lets documents of a shipment count a file each, as the server leaves them; the id and version of the last. */
async function recordFile(
  client: TestUser,
  id: string,
  like = "Packing List",
): Promise<{ id: string; version: string }> {
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
    const { data, error } = await testBackend.serviceRole
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

function getClientForRole(who: string): SupabaseClient {
  const supabase = clientsByRole[who];
  if (!supabase) throw new Error(`nobody is ${who}`);
  return toUntypedClient(supabase);
}

async function newShipment(client: TestUser, name: string): Promise<string> {
  const { data, error } = await client.supabase
    .from("shipments")
    .insert({ name, user_id: client.id })
    .select("id")
    .single();
  if (error) throw error;
  return data.id;
}

/** Gives an account a verified factor, and its session AAL2. */
async function enrollFactor(supabase: AppSupabaseClient): Promise<void> {
  const { data, error } = await supabase.auth.mfa.enroll({ factorType: "totp", friendlyName: "Phone" });
  if (error) throw error;
  const code = await new Authenticator(data.totp.secret).freshCode();
  const verified = await supabase.auth.mfa.challengeAndVerify({ factorId: data.id, code });
  if (verified.error) throw verified.error;
}

async function query<T = Record<string, unknown>>(text: string, values: unknown[] = []): Promise<T[]> {
  return (await testBackend.backend.db.query<T>(text, values)).rows;
}

/** Every row of a table, past row-level security. */
function readTable(table: string): Promise<Record<string, unknown>[]> {
  return query(`select * from public.${table} order by 1, 2`);
}
