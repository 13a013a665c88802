/** Shipments, read and written as the signed-in client; staff acts take the company's handle. */
import { z } from "zod";
import { type Refusal, refusalOf, refusalOfThrown } from "../lib/refusal.server.ts";
import { answerOf, Caller, type Client } from "../lib/session.server.ts";
import type { Backend } from "../lib/supabase.server.ts";
import { inOrder } from "./document.ts";
import { pageSize, type Who } from "./shipment.ts";
import { oneLine } from "./text.ts";

/** The create form. `requestId` is an idempotency key: a form posted twice makes one shipment. */
export const CreateShipment = z.object({
  name: oneLine("")
    .max(120, "Use at most 120 characters for the name.")
    .optional()
    .transform((name) => name ?? ""),
  requestId: z.uuid("Open this form again and send it once more."),
});

/** Who acts next, by the `turn` of the database. */
const who = z.enum(["client", "company", "closed"]).transform((turn): Who => WHO[turn]);
const WHO = { client: "you", company: "us", closed: "done" } as const;

const Listed = z.object({
  id: z.string(),
  name: z.string(),
  status: z.string(),
  stage: z.number(),
  awb: z.string().nullable(),
  turn: who,
  changed_at: z.string(),
});

const Charge = z.object({ item: z.string(), due_on: z.string().nullable(), paid_at: z.string().nullable() });
const Awaited = z.object({
  id: z.string(),
  name: z.string(),
  uploaded: z.boolean(),
  sent_back_at: z.string().nullable(),
});

/** What waits for the client, the longest first, and how many shipments are whose; counts stop at 100. */
const Work = z.object({
  waiting: z.array(
    z.object({
      id: z.string(),
      name: z.string(),
      stage: z.number(),
      documents: z.array(Awaited),
      charges: z.array(Charge),
    }),
  ),
  yours: z.number(),
  ours: z.number(),
  closed: z.number(),
});
export type Work = z.infer<typeof Work>;

/** What the company says to all clients; `begun_at` in ISO 8601, UTC. */
export const Announcement = z.object({ text: z.string(), begun_at: z.string() });
export type Announcement = z.infer<typeof Announcement>;

/** The answer of public.portal_page. A 21st shipment means that there is a next page. Times are ISO 8601, UTC. */
const PortalPage = z.object({
  caller: Caller,
  announcement: Announcement.nullable(),
  shipments: z.array(Listed),
  work: Work.nullable(),
  shipment: Listed.extend({
    arrival: z.object({ place: z.string(), day: z.string(), size: z.number(), free_until: z.string() }).nullable(),
    charges: z.array(Charge.extend({ amount: z.number(), currency: z.string(), note: z.string().nullable() })),
    documents: z.array(
      z.object({
        id: z.string(),
        name: z.string(),
        uploaded: z.boolean(),
        verified: z.boolean(),
        sent_back_at: z.string().nullable(),
        sent_back_reason: z.string().nullable(),
      }),
    ),
    tracking_events: z.array(
      z.object({
        id: z.string(),
        status: z.string(),
        location: z.string().nullable(),
        note: z.string().nullable(),
        created_at: z.string(),
      }),
    ),
  }).nullable(),
});
type PortalPage = z.infer<typeof PortalPage>;

export type ShipmentInList = PortalPage["shipments"][number];
export type ShipmentPage = {
  shipments: ShipmentInList[];
  page: number;
  hasOlder: boolean;
  announcement: Announcement | null;
  work: Work | null;
};

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
  const { shipments, announcement, work } = answer;
  return { shipments: shipments.slice(0, pageSize), page, hasOlder: shipments.length > pageSize, announcement, work };
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

/** Whether a text is an id of ours. */
export function isUuid(text: string): boolean {
  return /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text);
}
