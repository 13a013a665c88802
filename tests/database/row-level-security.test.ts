import type { SupabaseClient } from "@supabase/supabase-js";
import { beforeAll, expect, test } from "vitest";
import { setUpTestBackend, type TestClient } from "../support/database-suite.ts";
import { toUntypedClient } from "../support/test-backend.ts";

const { testBackend, query, setUpClient } = setUpTestBackend();
let serviceRole: SupabaseClient;
let shipmentId: string;

beforeAll(async () => {
  serviceRole = toUntypedClient(testBackend.serviceRole);
  // The backend reads the database schema at the first request, so the test creates the function before the first
  // request.
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

/** Creates a shipment as a client and adds a tracking event as the service role. Returns the shipment's ID. */
async function newShipmentWithEvent({ id, supabase }: TestClient, name: string): Promise<string> {
  const created = await supabase.from("shipments").insert({ name, user_id: id }).select("id").single();
  if (created.error) throw created.error;
  const event = { shipment_id: created.data.id, stage: 1, status: "Arrived", location: "Mombasa" };
  const { error } = await serviceRole.from("tracking_events").insert(event);
  if (error) throw error;
  return created.data.id;
}

// tests/database/table-privileges.test.ts tests the privileges of each role on each table.
test("A client can read all own rows and no rows of other clients.", async () => {
  for (const { id, supabase } of [owner, stranger]) {
    const seen = await supabase
      .from("shipments")
      .select("id, user_id, documents (user_id), tracking_events (shipment_id)");
    const all = await query<{ id: string }>("select id from public.shipments where user_id = $1", [id]);
    expect(seen.data?.map((row) => row.id).sort()).toEqual(all.map((row) => row.id).sort());
    expect(new Set(seen.data?.map((row) => row.user_id))).toEqual(new Set([id]));
    const documents = await supabase.from("documents").select("user_id");
    expect(documents.data).toEqual(Array(all.length * 4).fill({ user_id: id }));
    const events = await supabase.from("tracking_events").select("shipment_id");
    expect(events.data?.map((row) => row.shipment_id).sort()).toEqual(all.map((row) => row.id).sort());
  }
});

test("A client learns nothing about another client's data from row counts, embedded tables or requests with existing IDs.", async () => {
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

// Source: PostgREST, docs/references/errors.rst, "HTTP Status Codes", and the function mapSQLtoHTTP in Error.hs.
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

/**
 * SQLSTATE codes to which PostgREST 12 (used in the tests) assigns another status than hosted Supabase:
 * docs/hosting.md.
 */
const newerSqlStates = ["21000", "40001", "40P01", "42P17", "53400", "54001"];

test("The response to a database error has the error's SQLSTATE code and the HTTP status that PostgREST assigns to the code.", async () => {
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

test("The API gives no access to schemas other than public, even for the service role.", async () => {
  const tables = {
    auth: "users",
    private: "share_links",
    storage: "objects",
    supabase_migrations: "schema_migrations",
  };
  for (const [schema, table] of Object.entries({ ...tables, pg_catalog: "pg_roles", information_schema: "tables" })) {
    for (const supabase of [testBackend.anonymous(), owner.supabase, testBackend.serviceRole]) {
      const { data, error } = await toUntypedClient(supabase).schema(schema).from(table).select("*");
      expect([data, error?.code], schema).toEqual([null, "PGRST106"]);
    }
  }
});
