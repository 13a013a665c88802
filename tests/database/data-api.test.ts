/** Compares the embedded data API with PostgREST. docs/hosting.md lists the known differences. */
import { beforeAll, describe, expect, test } from "vitest";
import { setUpTestBackend } from "../support/database-suite.ts";
import { findPostgrest } from "../support/postgrest.ts";

const { testBackend, query, setUpClient, newShipment, createAuthHeaders } = setUpTestBackend();
const client = setUpClient("owner@client.example");
const unknownId = "00000000-0000-4000-8000-000000000000";
let shipment = "";
beforeAll(async () => {
  shipment = await newShipment(client, 'Tea, "best" (A)');
  await newShipment(client, "Coffee");
  await query("update public.shipments set created_at = '2026-01-02 03:04:05.678901+03' where id = $1", [shipment]);
  await testBackend.serviceRole.rpc("issue_client_ids", { how_many: 100 });
});

type Caller = "client" | "visitor" | "service role";
type DataApiRequest = { method: string; at: string; headers?: Record<string, string>; body?: unknown };

/**
 * Sends a request. Returns the parts of the response that supabase-js reads, without texts that differ between calls.
 */
async function read(send: (request: Request) => Promise<Response>, caller: Caller, request: DataApiRequest) {
  const { method, at, headers, body } = request;
  const key = caller === "service role" ? testBackend.secretKey : testBackend.publishableKey;
  const response = await send(
    new Request(`http://backend.local/rest/v1/${at.replace("{shipment}", shipment)}`, {
      method,
      headers: {
        ...(caller === "client" ? createAuthHeaders(client.accessToken) : { apikey: key }),
        ...(body !== undefined && { "content-type": "application/json" }),
        ...headers,
      },
      body: body === undefined ? undefined : JSON.stringify(body),
    }),
  );
  const text = await response.text();
  const masked = text
    .replace(/"[0-9A-Z]{4}(-[0-9A-Z]{4}){3}"/g, '"client ID"')
    .replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, "id")
    .replace(/\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d\.\d{1,6}/g, (time) => (time.startsWith("2026-01-02") ? time : "now"));
  return {
    status: response.status,
    range: response.headers.get("content-range"),
    preference: response.headers.get("preference-applied"),
    body: masked && (JSON.parse(masked) as unknown),
  };
}

const single = { accept: "application/vnd.pgrst.object+json" };
const returned = { prefer: "return=representation" };
const counted = { prefer: "count=exact" };
const get = (at: string, headers?: Record<string, string>): DataApiRequest => ({ method: "GET", at, headers });
const call = (name: string, body: unknown): DataApiRequest => ({ method: "POST", at: `rpc/${name}`, body });

const requests: DataApiRequest[] = [
  get("shipments?select=id,name,created_at,stage&order=created_at"),
  get("shipments?order=created_at.desc,id.desc"),
  get("shipments?id=eq.{shipment}", single),
  get("shipments?select=name&order=name", counted),
  get("shipments?select=name&order=name&limit=1", counted),
  get("shipments?select=name&order=name&offset=1"),
  get("shipments?select=name&offset=50", counted),
  get("shipments?select=name&order=name", { range: "0-0" }),
  get("shipments?select=name", { range: "1-0" }),
  get("shipments?select=name", { ...counted, range: "40-50" }),
  get("shipments?select=nothing"),
  get("shipments?nothing=eq.1"),
  get("shipments?order=nothing"),
  get("shipments?id=eq.x"),
  get("shipments?stage=eq.x"),
  get('shipments?name=in.(Coffee,"Tea, \\"best\\" (A)")&select=name&order=name'),
  get("shipments?name=in.()&select=name"),
  get("shipments?awb=is.null&select=name&order=name"),
  get("shipments?awb=not.is.null&select=name"),
  get("shipments?or=(name.eq.Coffee,stage.eq.5)&select=name"),
  get("shipments?name=ilike.cof*&select=name"),
  get("shipments?select=n:name,s:stage::text,created_at::date&order=name"),
  get("shipments?select=name,documents(name,uploaded),tracking_events(*)&order=name"),
  get("shipments?select=name,documents!inner(name)&documents.name=eq.Packing List&order=name"),
  get("documents?select=name,...shipments(shipment:name)&order=name&shipment_id=eq.{shipment}"),
  get("client_ids?select=client_id"),
  get("client_ids?select=issued_for", { range: "0-9", ...counted }),
  get("audit_log"),
  get("shipments?select=name&order=name", { accept: "application/vnd.pgrst.array+json;nulls=stripped" }),
  { method: "HEAD", at: "shipments?select=id", headers: counted },
  { method: "HEAD", at: "nothing" },
  get("rpc/get_viewer"),
  get("rpc/portal_page?page=1"),
  ...["", "null", '"a"', "a b"].map((q) => get(`rpc/portal_page?${new URLSearchParams({ q })}`)),
  get("rpc/portal_page?nothing=1"),
  get("rpc/nothing"),
  get(`rpc/require_upload_allowed?document_id=${unknownId}`),
  get("rpc/require_upload_allowed"),
  get("rpc/desk_move_result?shipment_ids={}"),
  get("rpc/list_staff_members?select=name&limit=1", counted),
  get("rpc/count_expired_audit_entries"),
  get("rpc/issue_client_ids?how_many=1"),
  get("rpc/set_erasure_request?requested=true"),
  { method: "PATCH", at: "shipments?id=eq.{shipment}&select=name", body: { awb: "1-2" }, headers: returned },
  { method: "PATCH", at: `shipments?id=eq.${unknownId}&select=id`, body: { awb: null }, headers: returned },
  { method: "PATCH", at: `documents?id=eq.${unknownId}`, body: { uploaded: false } },
  { method: "POST", at: "shipments?select=name", body: { name: "Salt", user_id: unknownId }, headers: returned },
  { method: "POST", at: "shipments", body: { name: "", user_id: unknownId } },
  { method: "POST", at: "client_ids", body: { client_id: "x" } },
  { method: "DELETE", at: `documents?shipment_id=eq.${unknownId}&select=id`, headers: returned },
  { method: "DELETE", at: "shipments?id=eq.x" },
  { method: "DELETE", at: "rpc/get_viewer" },
  { method: "PATCH", at: "rpc/get_viewer", body: {} },
  call("get_viewer", undefined),
  call("get_viewer", { nothing: 1 }),
  call("nothing", {}),
  ...[{ page: null }, { page: "1" }, { q: "in.njeri@client.example", page: "1" }, { q: 1 }, { q: { a: 1 } }].map(
    (args) => call("portal_page", args),
  ),
  ...[{ email: null }, { email: "owner@client.example" }, {}].map((args) => call("find_account_id", args)),
  ...[[], [null], "{}", null].map((email_ids) => call("finish_shipment_emails", { email_ids, sent: true })),
  ...[{ how_many: 2 }, { how_many: 0 }].map((args) => call("issue_client_ids", args)),
  ...["true", false].map((requested) => call("set_erasure_request", { requested })),
  call("clear_email_hashes", { email: "x" }),
  call("count_expired_audit_entries", {}),
  call("consume_rate_limit", { limits: [] }),
  call("consume_rate_limit", { limits: null }),
  call("email_change", { token: "x" }),
  call("change_shipment", { id: 1 }),
];

describe.skipIf(!findPostgrest())("Data API", () => {
  test.each<[Caller]>([["client"], ["visitor"], ["service role"]])(
    "PostgREST and the embedded data API give the same responses to the requests of a %s.",
    async (caller) => {
      for (const request of requests) {
        const expected = await read(testBackend.backend.fetch, caller, request);
        expect({ request, ...(await read(testBackend.fetchEmbedded, caller, request)) }).toEqual({
          request,
          ...expected,
        });
      }
    },
  );
});
