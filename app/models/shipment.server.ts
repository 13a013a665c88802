/** Shipments, read and written as the signed-in client; staff acts take the company's handle. */
import { z } from "zod";
import { type Refusal, refusalOf, refusalOfThrown } from "../lib/refusal.server.ts";
import { answerOf, Caller, type Client } from "../lib/session.server.ts";
import type { Backend } from "../lib/supabase.server.ts";
import { inOrder } from "./document.ts";
import { lastStage, pageSize } from "./shipment.ts";
import { oneLine } from "./text.ts";

/** The create form. `requestId` is an idempotency key: a form posted twice makes one shipment. */
export const CreateShipment = z.object({
  name: oneLine("")
    .max(120, "Use at most 120 characters for the name.")
    .optional()
    .transform((name) => name ?? ""),
  requestId: z.uuid("Open this form again and send it once more."),
});

const Listed = z.object({ id: z.string(), name: z.string(), status: z.string(), stage: z.number() });

/** The answer of public.portal_page. A 21st shipment means that there is a next page. Times are ISO 8601, UTC. */
const PortalPage = z.object({
  caller: Caller,
  shipments: z.array(Listed),
  shipment: Listed.extend({
    awb: z.string().nullable(),
    documents: z.array(z.object({ id: z.string(), name: z.string(), uploaded: z.boolean(), verified: z.boolean() })),
    tracking_events: z.array(
      z.object({ id: z.string(), status: z.string(), location: z.string().nullable(), created_at: z.string() }),
    ),
  }).nullable(),
});
type PortalPage = z.infer<typeof PortalPage>;

export type ShipmentInList = PortalPage["shipments"][number];
export type ShipmentPage = { shipments: ShipmentInList[]; page: number; hasOlder: boolean };

type Answer = Promise<PortalPage | Refusal | null>;

/** Calls by the handle of a request: what the middleware fetched with who asks, the loaders of the page take. */
const calls = new WeakMap<Backend, Map<string, Answer>>();

function callsOf(backend: Backend): Map<string, Answer> {
  const made = calls.get(backend) ?? new Map<string, Answer>();
  calls.set(backend, made);
  return made;
}

const keyOf = (page: number, opened: string | null) => `${page} ${opened}`;

/** Fetches a page of the portal with who asks, once for this request: nothing that it shows is changed in it. */
export function openPage(backend: Backend, page: number, opened: string | undefined): Answer {
  const shipment = shipmentAsked(opened);
  const call = askForPage(backend, page, shipment);
  callsOf(backend).set(keyOf(page, shipment), call);
  return call;
}

/** The page that openPage fetched, or the page as it is after a change, for all who ask meanwhile. */
async function portalPage({ backend }: Client, page: number, opened: string | null): Promise<PortalPage | Refusal> {
  const made = callsOf(backend);
  const key = keyOf(page, opened);
  const call = made.get(key) ?? askForPage(backend, page, opened).finally(() => made.delete(key));
  made.set(key, call);
  const answer = await call;
  // A session that was ended during this request: the next one finds out.
  return answer && ("reason" in answer || answer.caller) ? answer : refusalOfThrown(null);
}

function askForPage(backend: Backend, page: number, opened: string | null): Answer {
  const args = opened ? { page, opened } : { page };
  // A GET: it changes nothing, so backendFetch may retry it.
  return answerOf(PortalPage, backend.rpc("portal_page", args, { get: true }).retry(false));
}

/** The id in the address of a page if it can be one. */
function shipmentAsked(id: string | undefined): string | null {
  return id && isUuid(id) ? id : null;
}

/**
 * One page of the client's shipments, newest first; pages count from 1. `opened` is the id in the address of the page,
 * if any: getShipment then shares the call.
 */
export async function listShipments(client: Client, page: number, opened?: string): Promise<ShipmentPage | Refusal> {
  const answer = await portalPage(client, page, shipmentAsked(opened));
  if ("reason" in answer) return answer;
  return { shipments: answer.shipments.slice(0, pageSize), page, hasOlder: answer.shipments.length > pageSize };
}

/**
 * A shipment of the client's with its documents in their order and its events newest first; `page` is the page of the
 * list beside it. Null alike for an unknown id, a stranger's shipment, or something that is no id.
 */
export async function getShipment(client: Client, id: string, page = 1) {
  if (!isUuid(id)) return null;
  const answer = await portalPage(client, page, id);
  if ("reason" in answer) return answer;
  const { shipment } = answer;
  return shipment && { ...shipment, documents: inOrder(shipment.documents) };
}

/**
 * Opens a shipment at stage 1. The same `requestId` again finds the shipment it made, so that a form sent twice, or
 * again after a lost answer, makes one. Returns the shipment's id or a refusal.
 */
export async function createShipment(
  client: Client,
  { name, requestId }: { name: string; requestId: string },
): Promise<{ id: string } | Refusal> {
  const { data, error, status } = await client.backend
    .from("shipments")
    .insert({ name, user_id: client.id, request_id: requestId, status: "Client Onboarding", stage: 1 })
    // Only the id: the embedded backend returns an array when an insert selects nested rows.
    .select("id")
    .single();
  if (!error) return data;
  if (error.code !== "23505") return refusalOf({ ...error, status });
  const made = await client.backend
    .from("shipments")
    .select("id")
    .eq("user_id", client.id)
    .eq("request_id", requestId)
    .retry(false)
    .single();
  return made.error ? refusalOf({ ...made.error, status: made.status }) : made.data;
}

const columns = "id, user_id, name, status, stage, awb, created_at";

/** Staff: every shipment, newest first. Throws when the backend refuses. */
export async function listAllShipments(company: Backend) {
  const all = [];
  const step = 1000;
  for (let first = 0; ; first += step) {
    const { data, error, status } = await company
      .from("shipments")
      .select(columns)
      .order("created_at", { ascending: false })
      .order("id", { ascending: false })
      .range(first, first + step - 1)
      .retry(false);
    if (error) throw new Error(refusalOf({ ...error, status }).reason);
    all.push(...data);
    if (data.length < step) return all;
  }
}

/**
 * Staff: the id of the one shipment that begins with `prefix`, case and dashes as in a uuid.
 * Throws when there is none, or more than one.
 */
export async function findShipmentId(company: Backend, prefix: string): Promise<string> {
  const typed = prefix.toLowerCase();
  const shape = "00000000-0000-0000-0000-000000000000";
  const isPrefix = typed.length > 0 && typed.length <= shape.length;
  if (!isPrefix || !isUuid(typed + shape.slice(typed.length))) throw new Error(`There is no shipment ${prefix}.`);
  const { data, error, status } = await company
    .from("shipments")
    .select("id")
    .gte("id", typed + shape.slice(typed.length))
    .lte("id", typed + shape.replaceAll("0", "f").slice(typed.length))
    .limit(2)
    .retry(false);
  if (error) throw new Error(refusalOf({ ...error, status }).reason);
  if (data.length > 1) throw new Error(`More than one shipment begins with ${prefix}: give more of its id.`);
  if (!data[0]) throw new Error(`There is no shipment ${prefix}.`);
  return data[0].id;
}

/**
 * Staff: moves a shipment to its next stage and writes the tracking event, in one transaction.
 * Throws when it is closed (stage 10).
 */
export async function advanceShipment(company: Backend, id: string, location: string | null) {
  const { data, error, status } = await company.rpc("advance_shipment", {
    shipment_id: id,
    event_location: location ?? undefined,
  });
  if (error) throw new Error(refusalOf({ ...error, status }).reason);
  const [advanced] = data;
  if (!advanced) throw new Error("The backend did not say what became of the shipment. Look at shipment list.");
  return { ...advanced, closed: advanced.stage === lastStage };
}

/**
 * Staff: writes the number of the air waybill or bill of lading. Returns the one before; throws when the shipment has it
 * already.
 */
export async function setAwb(company: Backend, id: string, awb: string): Promise<string | null> {
  const before = await company.from("shipments").select("awb").eq("id", id).retry(false).single();
  if (before.error) throw new Error(refusalOf({ ...before.error, status: before.status }).reason);
  if (before.data.awb === awb) throw new Error(`${id} has AWB/BL ${awb} already.`);
  const { error, status } = await company.from("shipments").update({ awb }).eq("id", id);
  if (error) throw new Error(refusalOf({ ...error, status }).reason);
  return before.data.awb;
}

function isUuid(text: string): boolean {
  return /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text);
}
