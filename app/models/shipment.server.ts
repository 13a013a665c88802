/** Shipments, read and written as the signed-in client; staff acts take the company's handle. */
import { z } from "zod";
import { readViewerResult, type Viewer, ViewerRecord } from "../lib/auth/viewer.server.ts";
import { toViewerPath } from "../lib/http/redirect.server.ts";
import { toUserError, type UserError, userErrorData, userErrorFromThrown } from "../lib/http/user-error.server.ts";
import type { AppSupabaseClient } from "../lib/supabase/client.server.ts";
import { createShipmentSearch, readShipmentFilter, type ShipmentFilter } from "./desk.ts";
import { sortDocuments } from "./document.ts";
import { shipmentsPerPage } from "./shipment.ts";
import { ShipmentRecord } from "./shipment-fields.server.ts";

/** The filter of the client's list in an address, as the search of another one. */
export function listSearch(url: URL): string {
  return createShipmentSearch({ ...readShipmentFilter(url), needsCheck: false });
}

/** The page of a shipment, beside the list as the address `url` filters it. */
export function shipmentPath(id: string, url: URL): string {
  return toViewerPath(`/portal/${id}${listSearch(url)}`);
}

const PortalCharge = z.object({ item: z.string(), due_on: z.string().nullable(), paid_at: z.string().nullable() });
const AwaitedDocument = z.object({
  id: z.string(),
  name: z.string(),
  uploaded: z.boolean(),
  rejected_at: z.string().nullable(),
});

/** What waits for the client, the longest first, and how many shipments are whose; counts stop at 100. */
const NextActions = z.object({
  waiting: z.array(
    z.object({
      id: z.string(),
      name: z.string(),
      stage: z.number(),
      documents: z.array(AwaitedDocument),
      charges: z.array(PortalCharge),
    }),
  ),
  client: z.number(),
  company: z.number(),
  nobody: z.number(),
});
export type NextActions = z.infer<typeof NextActions>;

/** What the company says to all clients; `started_at` in ISO 8601, UTC. */
export const Announcement = z.object({ text: z.string(), started_at: z.string() });
export type Announcement = z.infer<typeof Announcement>;

/** The answer of public.portal_page. A 21st shipment means that there is a next page. Times are ISO 8601, UTC. */
const PortalPage = z.object({
  viewer: ViewerRecord,
  announcement: Announcement.nullable(),
  shipments: z.array(ShipmentRecord),
  work: NextActions.nullable(),
  shipment: ShipmentRecord.extend({
    charges: z.array(PortalCharge.extend({ amount: z.number(), currency: z.string(), note: z.string().nullable() })),
    documents: z.array(
      z.object({
        id: z.string(),
        name: z.string(),
        uploaded: z.boolean(),
        verified: z.boolean(),
        rejected_at: z.string().nullable(),
        rejection_reason: z.string().nullable(),
        file_name: z.string().nullable(),
        file_size: z.number().nullable(),
        uploaded_at: z.string().nullable(),
        version: z.number(),
      }),
    ),
    share_links: z.array(
      z.object({ id: z.string(), token_hash: z.string(), created_at: z.string(), expires_at: z.string() }),
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

export type ShipmentListPage = {
  shipments: ShipmentRecord[];
  hasNextPage: boolean;
  announcement: Announcement | null;
  nextActions: NextActions | null;
};

type PortalPageResult = Promise<PortalPage | UserError | null>;

/** Calls by the handle of a request: what the middleware fetched with who asks, the loaders of the page take. */
const portalPageCaches = new WeakMap<AppSupabaseClient, Map<string, PortalPageResult>>();

function getPortalPageCache(backend: AppSupabaseClient): Map<string, PortalPageResult> {
  const made = portalPageCaches.get(backend) ?? new Map<string, PortalPageResult>();
  portalPageCaches.set(backend, made);
  return made;
}

/** What a page of the portal asks for: a page of the list by its filter, and perhaps the shipment that is open. */
type PortalPageRequest = { filter: ShipmentFilter; shipmentId: string | null };

const toCacheKey = (asked: PortalPageRequest) => JSON.stringify(asked);

/** Fetches a page of the portal with who asks, once for this request: nothing that it shows is changed in it. */
export function prefetchPortalPage(backend: AppSupabaseClient, url: URL, opened: string | undefined): PortalPageResult {
  const asked = { filter: readShipmentFilter(url), shipmentId: parseShipmentId(opened) };
  const call = fetchPortalPage(backend, asked);
  getPortalPageCache(backend).set(toCacheKey(asked), call);
  return call;
}

/** The page that openPage fetched, or the page as it is after a change, for all who ask meanwhile. */
async function getPortalPage({ supabase: backend }: Viewer, asked: PortalPageRequest): Promise<PortalPage | UserError> {
  const made = getPortalPageCache(backend);
  const key = toCacheKey(asked);
  const call = made.get(key) ?? fetchPortalPage(backend, asked).finally(() => made.delete(key));
  made.set(key, call);
  const answer = await call;
  // A session that was ended during this request: the next one finds out.
  return answer && ("reason" in answer || answer.viewer) ? answer : userErrorFromThrown(null);
}

function fetchPortalPage(
  backend: AppSupabaseClient,
  { filter, shipmentId: opened }: PortalPageRequest,
): PortalPageResult {
  const args = { page: filter.page, ...toSearchArgs(filter), ...(opened && { opened_id: opened }) };
  // A GET: it changes nothing, so backendFetch may retry it.
  return readViewerResult(PortalPage, backend.rpc("portal_page", args, { get: true }).retry(false));
}

/** What a filter asks the database for. */
function toSearchArgs({ q, stage, waiting: turn }: ShipmentFilter) {
  return { ...(q && { q }), ...(stage && { stage }), ...(turn && { waiting_on: turn }) };
}

/** The id in the address of a page if it can be one. */
function parseShipmentId(id: string | undefined): string | null {
  return id && isUuid(id) ? id : null;
}

/**
 * One page of the client's shipments by the filter in an address, newest first. `opened` is the id in the address of the
 * page, if any: getShipment then shares the call.
 */
export async function listShipments(client: Viewer, url: URL, opened?: string): Promise<ShipmentListPage | UserError> {
  const answer = await getPortalPage(client, { filter: readShipmentFilter(url), shipmentId: parseShipmentId(opened) });
  if ("reason" in answer) return answer;
  const { shipments, announcement, work } = answer;
  return {
    shipments: shipments.slice(0, shipmentsPerPage),
    hasNextPage: shipments.length > shipmentsPerPage,
    announcement,
    nextActions: work,
  };
}

/**
 * A shipment of the client's with its documents in their order and its events newest first; `url` asks for the list
 * beside it. Null alike for an unknown id, a stranger's shipment, or something that is no id.
 */
export async function getShipment(client: Viewer, id: string, url = new URL("http://localhost")) {
  if (!isUuid(id)) return null;
  const answer = await getPortalPage(client, { filter: readShipmentFilter(url), shipmentId: id });
  if ("reason" in answer) return answer;
  const { shipment } = answer;
  return shipment && { ...shipment, documents: sortDocuments(shipment.documents) };
}

const PortalShipmentRows = z.object({ viewer: ViewerRecord, shipments: z.array(ShipmentRecord) });

/** The client's shipments of a filter, 500 of them after `last`, newest first; none at the end. Throws a refusal. */
export async function listShipmentsAfter(
  backend: AppSupabaseClient,
  filter: ShipmentFilter,
  last: ShipmentRecord | null,
) {
  const after = last ? { before: last.created_at, before_id: last.id } : {};
  const { data, error, status } = await backend
    .rpc("portal_shipments_export", { ...toSearchArgs(filter), ...after }, { get: true })
    .retry(false);
  if (error) throw userErrorData(toUserError({ ...error, status }));
  const { viewer: caller, shipments } = PortalShipmentRows.parse(data);
  // The session ended meanwhile: what is cut off must not look whole.
  if (!caller) throw userErrorData(userErrorFromThrown(null));
  return shipments;
}

/** Whether a text is an id of ours. */
export function isUuid(text: string): boolean {
  return /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text);
}
