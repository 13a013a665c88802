import type { SupabaseClient } from "@supabase/supabase-js";
import { beforeAll, expect, test } from "vitest";
import { setUpTestBackend, type TestClient } from "../support/database-suite.ts";
import { toUntypedClient } from "../support/test-backend.ts";

const { testBackend, query, setUpClient } = setUpTestBackend();
let serviceRole: SupabaseClient;
let shipmentId: string;

beforeAll(async () => {
  serviceRole = toUntypedClient(testBackend.serviceRole);
  // Creates the function before the first request, because the backend reads the database schema only once.
  await testBackend.backend.db.exec(`
    create function public.raise_state(state text) returns void language plpgsql as $$
      begin raise exception using errcode = state, message = 'message', detail = 'more', hint = 'help'; end
    $$;
    grant execute on function public.raise_state(text) to service_role;
  `);
});
const owner = setUpClient("owner@client.example");
const stranger = setUpClient("other@client.example");
beforeAll(async () => {
  shipmentId = await newShipmentWithEvent(owner, "Tea");
  await newShipmentWithEvent(stranger, "Cement");
});

/** Creates a shipment as its client and adds a tracking event as the service role. Returns the shipment's ID. */
async function newShipmentWithEvent({ id, supabase }: TestClient, name: string): Promise<string> {
  const created = await supabase.from("shipments").insert({ name, user_id: id }).select("id").single();
  if (created.error) throw created.error;
  const event = { shipment_id: created.data.id, stage: 1, status: "Arrived", location: "Mombasa" };
  const { error } = await serviceRole.from("tracking_events").insert(event);
  if (error) throw error;
  return created.data.id;
}

// tests/database/table-privileges.test.ts tests the privileges of each role on each table.
test("A client can read all own rows and no row of another client.", async () => {
  for (const { id, supabase } of [owner, stranger]) {
    const seen = await supabase.from("shipments").select("id, user_id, documents (user_id), tracking_events (id)");
    const all = await query<{ id: string }>("select id from public.shipments where user_id = $1", [id]);
    expect(seen.data?.map((row) => row.id).sort()).toEqual(all.map((row) => row.id).sort());
    expect(new Set(seen.data?.map((row) => row.user_id))).toEqual(new Set([id]));
    const documents = await supabase.from("documents").select("user_id");
    expect(documents.data).toHaveLength(all.length * 4);
    expect(new Set(documents.data?.map((row) => row.user_id))).toEqual(new Set([id]));
    const events = await supabase.from("tracking_events").select("shipment_id");
    expect(events.data?.length).toBeGreaterThan(0);
    const own = new Set(all.map((row) => row.id));
    expect(events.data?.every((row) => own.has(row.shipment_id))).toBe(true);
  }
});

test("Counts, nested rows and existing IDs reveal nothing about a client's data to another client.", async () => {
  const { supabase: raw } = stranger;
  const id = shipmentId;
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
const sqlStatesByStatus: Record<number, string> = {
  400: "22001 22003 22007 22P02 23000 23502 23514 23P01 42601 44000 P0001 ZZ999",
  403: "0L000 0P000 28000 42501",
  404: "PT404",
  405: "25006",
  409: "23503 23505 PT409",
  500: "09000 21000 25P02 2D000 38000 39000 3B000 40001 40P01 42P17 53400 54001 55P03 57014 58030 F0000 HV000 P0002 XX000",
  503: "08006 53200 57P01",
};
const statusBySqlState = Object.fromEntries(
  Object.entries(sqlStatesByStatus).flatMap(([status, states]) =>
    states.split(" ").map((state) => [state, Number(status)]),
  ),
);

/** The states for which PostgREST 12, the version of the tests, differs from hosted Supabase: docs/hosting.md. */
const newerSqlStates = ["21000", "40001", "40P01", "42P17", "53400", "54001"];

test("A database error has its own code and the HTTP status that PostgREST assigns to the code.", async () => {
  const states = Object.keys(statusBySqlState).filter(
    (state) => !testBackend.hasPostgrest || !newerSqlStates.includes(state),
  );
  const statuses: typeof statusBySqlState = {};
  for (const state of states) {
    const { error, status } = await serviceRole.rpc("raise_state", { state });
    expect(error).toMatchObject({ code: state, message: "message" });
    statuses[state] = status;
  }
  expect(statuses).toEqual(Object.fromEntries(states.map((state) => [state, statusBySqlState[state]])));
});

test("A database error has PostgREST's four fields and does not affect the next response.", async () => {
  const raised = await serviceRole.rpc("raise_state", { state: "23514" });
  expect({ ...raised.error }).toMatchObject({ code: "23514", message: "message", details: "more", hint: "help" });
  const unknown = await serviceRole.from("nothing").select("*");
  expect([unknown.status, unknown.error?.code]).toEqual([404, testBackend.hasPostgrest ? "42P01" : "PGRST205"]);
});

test("A boolean argument of a database function can be a text, and any other text is rejected.", async () => {
  const { supabase } = owner;
  const request = (requested: unknown) => toUntypedClient(supabase).rpc("set_erasure_request", { requested });
  const readRequests = () => query("select from private.erasure_requests where account_id = $1", [owner.id]);
  for (const [requested, count] of [
    ["true", 1],
    ["false", 0],
    [true, 1],
    [false, 0],
  ] as const) {
    expect((await request(requested)).error).toBeNull();
    expect(await readRequests()).toHaveLength(count);
  }
  const { status, error } = await request("maybe");
  expect([status, error?.code]).toEqual([400, "22P02"]);
});

test.each(["auth", "private", "storage", "supabase_migrations", "pg_catalog", "information_schema"])(
  "The schema %s is unreachable through the API, even for the service role.",
  async (schema) => {
    const reachable = { auth: "users", storage: "objects", supabase_migrations: "schema_migrations" } as const;
    const table = schema in reachable ? reachable[schema as keyof typeof reachable] : "pg_roles";
    const visitor = toUntypedClient(testBackend.anonymous());
    for (const raw of [visitor, toUntypedClient(owner.supabase), serviceRole]) {
      const { data, error } = await raw.schema(schema).from(table).select("*");
      expect(data).toBeNull();
      expect(error?.code).toBe("PGRST106");
    }
  },
);
