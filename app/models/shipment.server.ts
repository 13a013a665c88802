/** Shipments, read and written as the signed-in client; staff acts take the company's handle. */
import { z } from "zod";
import { portalPath } from "../lib/redirect.server.ts";
import { type Refusal, refusalOf, refusalOfThrown, thrown } from "../lib/refusal.server.ts";
import { answerOf, Caller, type Client } from "../lib/session.server.ts";
import type { Backend } from "../lib/supabase.server.ts";
import { type Filter, filterOf, searchOf } from "./desk.ts";
import { inOrder } from "./document.ts";
import { pageSize, type Who } from "./shipment.ts";

/** Who acts next, by the `turn` of the database. */
const who = z.enum(["client", "company", "closed"]).transform((turn): Who => WHO[turn]);
const WHO = { client: "you", company: "us", closed: "done" } as const;

/** The filter of the client's list in an address, as the search of another one. */
export function listSearch(url: URL): string {
  return searchOf({ ...filterOf(url), check: false });
}

/** The page of a shipment, beside the list as the address `url` filters it. */
export function shipmentPath(id: string, url: URL): string {
  return portalPath(`/portal/${id}${listSearch(url)}`);
}

const Listed = z.object({
  id: z.string(),
  name: z.string(),
  status: z.string(),
  stage: z.number(),
  awb: z.string().nullable(),
  turn: who,
  changed_at: z.string(),
  created_at: z.string(),
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
        file_name: z.string().nullable(),
        file_size: z.number().nullable(),
        uploaded_at: z.string().nullable(),
        version: z.number(),
      }),
    ),
    version: z.number(),
    shares: z.array(z.object({ id: z.string(), token_hash: z.string(), made_at: z.string(), expires_at: z.string() })),
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

/** What a page of the portal asks for: a page of the list by its filter, and perhaps the shipment that is open. */
type Asked = { filter: Filter; opened: string | null };

const keyOf = (asked: Asked) => JSON.stringify(asked);

/** Fetches a page of the portal with who asks, once for this request: nothing that it shows is changed in it. */
export function openPage(backend: Backend, url: URL, opened: string | undefined): Answer {
  const asked = { filter: filterOf(url), opened: shipmentAsked(opened) };
  const call = askForPage(backend, asked);
  callsOf(backend).set(keyOf(asked), call);
  return call;
}

/** The page that openPage fetched, or the page as it is after a change, for all who ask meanwhile. */
async function portalPage({ backend }: Client, asked: Asked): Promise<PortalPage | Refusal> {
  const made = callsOf(backend);
  const key = keyOf(asked);
  const call = made.get(key) ?? askForPage(backend, asked).finally(() => made.delete(key));
  made.set(key, call);
  const answer = await call;
  // A session that was ended during this request: the next one finds out.
  return answer && ("reason" in answer || answer.caller) ? answer : refusalOfThrown(null);
}

function askForPage(backend: Backend, { filter, opened }: Asked): Answer {
  const args = { page: filter.page, ...searchArgs(filter), ...(opened && { opened }) };
  // A GET: it changes nothing, so backendFetch may retry it.
  return answerOf(PortalPage, backend.rpc("portal_page", args, { get: true }).retry(false));
}

/** What a filter asks the database for. */
function searchArgs({ q, stage, turn }: Filter) {
  return { ...(q && { q }), ...(stage && { stage }), ...(turn && { turn }) };
}

/** The id in the address of a page if it can be one. */
function shipmentAsked(id: string | undefined): string | null {
  return id && isUuid(id) ? id : null;
}

/**
 * One page of the client's shipments by the filter in an address, newest first. `opened` is the id in the address of the
 * page, if any: getShipment then shares the call.
 */
export async function listShipments(client: Client, url: URL, opened?: string): Promise<ShipmentPage | Refusal> {
  const answer = await portalPage(client, { filter: filterOf(url), opened: shipmentAsked(opened) });
  if ("reason" in answer) return answer;
  const { shipments, announcement, work } = answer;
  return { shipments: shipments.slice(0, pageSize), hasOlder: shipments.length > pageSize, announcement, work };
}

/**
 * A shipment of the client's with its documents in their order and its events newest first; `url` asks for the list
 * beside it. Null alike for an unknown id, a stranger's shipment, or something that is no id.
 */
export async function getShipment(client: Client, id: string, url = new URL("http://localhost")) {
  if (!isUuid(id)) return null;
  const answer = await portalPage(client, { filter: filterOf(url), opened: id });
  if ("reason" in answer) return answer;
  const { shipment } = answer;
  return shipment && { ...shipment, documents: inOrder(shipment.documents) };
}

const Rows = z.object({ caller: Caller, shipments: z.array(Listed) });

/** The client's shipments of a filter, 500 of them after `last`, newest first; none at the end. Throws a refusal. */
export async function shipmentsAfter(backend: Backend, filter: Filter, last: ShipmentInList | null) {
  const after = last ? { before: last.created_at, before_id: last.id } : {};
  const { data, error, status } = await backend
    .rpc("portal_shipments_after", { ...searchArgs(filter), ...after }, { get: true })
    .retry(false);
  if (error) throw thrown(refusalOf({ ...error, status }));
  const { caller, shipments } = Rows.parse(data);
  // The session ended meanwhile: what is cut off must not look whole.
  if (!caller) throw thrown(refusalOfThrown(null));
  return shipments;
}

/** Whether a text is an id of ours. */
export function isUuid(text: string): boolean {
  return /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text);
}
