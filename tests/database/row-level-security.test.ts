import type { SupabaseClient } from "@supabase/supabase-js";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startTestBackend } from "../support/test-backend.ts";

/** A client without the types of our tables, which can send any column and value. */
type UntypedClient = SupabaseClient;
type AccessRole = "a visitor" | "the owner" | "a stranger";
type TestedTable = "client_ids" | "shipments" | "documents" | "tracking_events";
type SqlVerb = "select" | "insert" | "update" | "delete";
/** Rejected with an error, or accepted without effect, or accepted for exactly the owner's row. */
type AccessOutcome = "rejected" | "touches nothing" | "allowed";

const tables: TestedTable[] = ["client_ids", "shipments", "documents", "tracking_events"];
const verbs: SqlVerb[] = ["select", "insert", "update", "delete"];
const accessRoles: AccessRole[] = ["a visitor", "a stranger", "the owner"];

/** The accepted attempts; all others are rejected. */
const exceptions: Partial<Record<`${AccessRole} ${SqlVerb} ${TestedTable}`, AccessOutcome>> = {
  "the owner select shipments": "allowed",
  "the owner insert shipments": "allowed",
  "the owner select documents": "allowed",
  "the owner select tracking_events": "allowed",
  "a stranger select shipments": "touches nothing",
  "a stranger select documents": "touches nothing",
  "a stranger select tracking_events": "touches nothing",
};

const cases = tables.flatMap((table) =>
  verbs.flatMap((verb) =>
    accessRoles.map((who) => ({
      who,
      verb,
      table,
      outcome: exceptions[`${who} ${verb} ${table}`] ?? ("rejected" as AccessOutcome),
    })),
  ),
);

let testBackend: Awaited<ReturnType<typeof startTestBackend>>;
let clientsByRole: Record<AccessRole, UntypedClient>;
let owner: { id: string };
let stranger: { id: string };
let rowsByTable: Record<TestedTable, { key: string; id: string; insert: object; update: object }>;

beforeAll(async () => {
  testBackend = await startTestBackend();
  // The library reads the schema at the first request.
  await testBackend.backend.db.exec(`
    create function public.raise_state(state text) returns void language plpgsql as $$
      begin raise exception using errcode = state, message = 'message', detail = 'more', hint = 'help'; end
    $$;
    grant execute on function public.raise_state(text) to service_role;
  `);
  const [ownerClient, strangerClient] = [
    await testBackend.newClient("owner@client.example"),
    await testBackend.newClient("other@client.example"),
  ];
  [owner, stranger] = [ownerClient, strangerClient];
  clientsByRole = {
    "a visitor": testBackend.anonymous() as UntypedClient,
    "the owner": ownerClient.supabase as UntypedClient,
    "a stranger": strangerClient.supabase as UntypedClient,
  };
  const { data: shipment, error } = await ownerClient.supabase
    .from("shipments")
    .insert({ name: "Tea", user_id: ownerClient.id })
    .select("id")
    .single();
  if (error) throw error;
  const document = await ownerClient.supabase.from("documents").select("id").eq("name", "Packing List").single();
  const event = await testBackend.serviceRole
    .from("tracking_events")
    .insert({ shipment_id: shipment.id, stage: 1, status: "Arrived", location: "Mombasa" })
    .select("id")
    .single();
  if (document.error || event.error) throw document.error ?? event.error;
  const path = `${ownerClient.id}/${shipment.id}/packing-list-tea.pdf`;
  const stored = await testBackend.serviceRole.storage
    .from("documents")
    .upload(path, new TextEncoder().encode("%PDF-1.7"), { contentType: "application/pdf" });
  if (stored.error) throw stored.error;

  rowsByTable = {
    client_ids: {
      key: "client_id",
      id: await getClientId(ownerClient.id),
      insert: { client_id: "MY0W-N000-C11E-NT1D" },
      update: { account_id: null, claimed_at: null },
    },
    shipments: {
      key: "id",
      id: shipment.id,
      insert: { name: "Coffee", user_id: ownerClient.id },
      update: { name: "Gold" },
    },
    documents: {
      key: "id",
      id: document.data.id,
      insert: { shipment_id: shipment.id, user_id: ownerClient.id, name: "Permit" },
      update: { uploaded: true, storage_path: path },
    },
    tracking_events: {
      key: "id",
      id: event.data.id,
      insert: { shipment_id: shipment.id, status: "Released" },
      update: { status: "Lost" },
    },
  };
});
afterAll(() => testBackend.close());

const outcomeSentences: Record<AccessOutcome, string> = {
  rejected: "is rejected for",
  "touches nothing": "has no effect for",
  allowed: "is accepted for",
};

for (const { who, verb, table, outcome } of cases) {
  test(`A request to ${verb} rows of ${table} ${outcomeSentences[outcome]} ${who}.`, async () => {
    const { key, id, insert, update } = rowsByTable[table];
    const before = await readTable(table);
    const { data, error } = await attemptQuery(clientsByRole[who], verb, table);
    const after = await readTable(table);

    if (outcome === "rejected") {
      expect(error?.code).toBe("42501");
      expect(data).toBeNull();
    } else {
      expect(error).toBeNull();
    }
    if (outcome === "touches nothing") expect(data).toEqual([]);

    if (outcome === "allowed" && verb === "insert") {
      expect(after).toHaveLength(before.length + 1);
      expect(after).toContainEqual(expect.objectContaining(insert));
    } else if (outcome === "allowed" && verb === "update") {
      const previous = before.find((row) => row[key] === id);
      expect(after).toEqual(before.map((row) => (row === previous ? { ...row, ...update } : row)));
      expect(previous).not.toMatchObject(update);
    } else {
      expect(after).toEqual(before);
    }
    if (outcome === "allowed" && verb === "select") expect(data).toContainEqual(expect.objectContaining({ [key]: id }));
  });
}

test("A client reads every own row and no row of another client.", async () => {
  const foreign = await clientsByRole["a stranger"]
    .from("shipments")
    .insert({ name: "Cement", user_id: stranger.id })
    .select("id")
    .single();
  expect(foreign.error).toBeNull();
  await testBackend.serviceRole
    .from("tracking_events")
    .insert({ shipment_id: foreign.data?.id ?? "", stage: 1, status: "Departed" });
  for (const [who, id] of [
    ["the owner", owner.id],
    ["a stranger", stranger.id],
  ] as const) {
    const seen = await clientsByRole[who]
      .from("shipments")
      .select("id, user_id, documents (user_id), tracking_events (id)");
    const all = await testBackend.backend.db.query<{ id: string }>("select id from shipments where user_id = $1", [id]);
    expect(seen.data?.map((row) => row.id).sort()).toEqual(all.rows.map((row) => row.id).sort());
    expect(new Set(seen.data?.map((row) => row.user_id))).toEqual(new Set([id]));
    const documents = await clientsByRole[who].from("documents").select("user_id");
    expect(documents.data).toHaveLength(all.rows.length * 4);
    expect(new Set(documents.data?.map((row) => row.user_id))).toEqual(new Set([id]));
    const events = await clientsByRole[who].from("tracking_events").select("shipment_id");
    expect(events.data?.length).toBeGreaterThan(0);
    const own = new Set(all.rows.map((row) => row.id));
    expect(events.data?.every((row) => own.has(row.shipment_id))).toBe(true);
  }
});

test("A stranger learns nothing by counts, nested rows or an existing ID.", async () => {
  const raw = clientsByRole["a stranger"];
  const id = rowsByTable.shipments.id;
  const count = await raw.from("shipments").select("*", { count: "exact", head: true }).eq("id", id);
  expect(count.count).toBe(0);
  const nested = await raw.from("documents").select("name, shipments (name)").eq("shipment_id", id);
  expect(nested.data).toEqual([]);
  const events = await raw.from("tracking_events").select("status, shipments (name, user_id)").eq("shipment_id", id);
  expect(events.data).toEqual([]);
  const unknown = await raw.from("shipments").select("id").eq("id", "00000000-0000-4000-8000-000000000000");
  const existing = await raw.from("shipments").select("id").eq("id", id);
  expect({ status: existing.status, data: existing.data }).toEqual({ status: unknown.status, data: unknown.data });
});

// From PostgREST: docs/references/errors.rst, "HTTP Status Codes", and mapSQLtoHTTP in its Error.hs.
const statusBySqlState: Record<string, number> = {
  "08006": 503,
  "09000": 500,
  "0L000": 403,
  "0P000": 403,
  "21000": 500,
  "22001": 400,
  "22003": 400,
  "22007": 400,
  "22P02": 400,
  "23000": 400,
  "23502": 400,
  "23503": 409,
  "23505": 409,
  "23514": 400,
  "23P01": 400,
  "25006": 405,
  "25P02": 500,
  "28000": 403,
  "2D000": 500,
  "38000": 500,
  "39000": 500,
  "3B000": 500,
  "40001": 500,
  "40P01": 500,
  "42501": 403,
  "42601": 400,
  "42P17": 500,
  "44000": 400,
  "53200": 503,
  "53400": 500,
  "54001": 500,
  "55P03": 500,
  "57014": 500,
  "57P01": 503,
  "58030": 500,
  F0000: 500,
  HV000: 500,
  P0001: 400,
  P0002: 500,
  XX000: 500,
  ZZ999: 400,
  PT404: 404,
  PT409: 409,
};

test("A database error has the HTTP status that PostgREST gives it, and its own code.", async () => {
  const statuses: typeof statusBySqlState = {};
  for (const state of Object.keys(statusBySqlState)) {
    const { error, status } = await (testBackend.serviceRole as UntypedClient).rpc("raise_state", { state });
    expect(error).toMatchObject({ code: state, message: "message" });
    statuses[state] = status;
  }
  expect(statuses).toEqual(statusBySqlState);
});

test("A database error has PostgREST's four fields and does not affect the next response.", async () => {
  const raised = await (testBackend.serviceRole as UntypedClient).rpc("raise_state", { state: "23514" });
  expect({ ...raised.error }).toMatchObject({ code: "23514", message: "message", details: "more", hint: "help" });
  const unknown = await (testBackend.serviceRole as UntypedClient).from("nothing").select("*");
  expect([unknown.status, unknown.error?.code]).toEqual([404, "PGRST205"]);
});

test.each(["auth", "private", "storage", "supabase_migrations", "pg_catalog", "information_schema"])(
  "The schema %s is unreachable through the API, even for the service role.",
  async (schema) => {
    const reachable = { auth: "users", storage: "objects", supabase_migrations: "schema_migrations" } as const;
    const table = schema in reachable ? reachable[schema as keyof typeof reachable] : "pg_roles";
    for (const raw of [...Object.values(clientsByRole), testBackend.serviceRole as UntypedClient]) {
      const { data, error } = await raw.schema(schema).from(table).select("*");
      expect(data).toBeNull();
      expect(error?.code).toBe("PGRST106");
    }
  },
);

function attemptQuery(raw: UntypedClient, verb: SqlVerb, table: TestedTable) {
  const { key, id, insert, update } = rowsByTable[table];
  if (verb === "select") return raw.from(table).select("*");
  if (verb === "insert") return raw.from(table).insert(insert);
  if (verb === "update") return raw.from(table).update(update).eq(key, id).select("*");
  return raw.from(table).delete().eq(key, id).select("*");
}

/** Returns every row of a table without row-level security. */
async function readTable(table: TestedTable): Promise<Record<string, unknown>[]> {
  const { rows } = await testBackend.backend.db.query<Record<string, unknown>>(
    `select * from public.${table} order by 1`,
  );
  return rows;
}

async function getClientId(userId: string): Promise<string> {
  const { rows } = await testBackend.backend.db.query<{ client_id: string }>(
    "select client_id from public.client_ids where account_id = $1",
    [userId],
  );
  return rows[0]?.client_id ?? "";
}
