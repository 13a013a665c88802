import { z } from "zod";
import { readViewerResult, type Viewer, ViewerRecord } from "../lib/auth/viewer.server.ts";
import { toViewerPath } from "../lib/http/redirect.server.ts";
import { toUserError, type UserError, userErrorData, userErrorFromThrown } from "../lib/http/user-error.server.ts";
import type { AppSupabaseClient } from "../lib/supabase/client.server.ts";
import { sortDocuments } from "./document.ts";
import { shipmentsPerPage } from "./shipment.ts";
import { ShipmentRecord } from "./shipment-fields.server.ts";
import { createShipmentSearch, readShipmentFilter, type ShipmentFilter } from "./shipment-filter.ts";

export function listSearch(url: URL): string {
  return createShipmentSearch({ ...readShipmentFilter(url), needsCheck: false });
}

/** Returns the path of a shipment's page that keeps the filter of the list. */
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

export const Announcement = z.object({ text: z.string(), started_at: z.string() });
export type Announcement = z.infer<typeof Announcement>;

/** The result of public.portal_page. A 21st shipment means that there is a next page. */
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

/** By the Supabase client of a request: the middleware fetches the viewer and the page in one call for all loaders. */
const portalPageCaches = new WeakMap<AppSupabaseClient, Map<string, PortalPageResult>>();

function getPortalPageCache(backend: AppSupabaseClient): Map<string, PortalPageResult> {
  const cache = portalPageCaches.get(backend) ?? new Map<string, PortalPageResult>();
  portalPageCaches.set(backend, cache);
  return cache;
}

type PortalPageRequest = { filter: ShipmentFilter; shipmentId: string | null };

const toCacheKey = (request: PortalPageRequest) => JSON.stringify(request);

/** Only for requests that change nothing, because the result is cached for the whole request. */
export function prefetchPortalPage(
  backend: AppSupabaseClient,
  url: URL,
  shipmentId: string | undefined,
): PortalPageResult {
  const request = { filter: readShipmentFilter(url), shipmentId: parseShipmentId(shipmentId) };
  const call = fetchPortalPage(backend, request);
  getPortalPageCache(backend).set(toCacheKey(request), call);
  return call;
}

/** Returns the prefetched page, or shares one call among parallel loaders. */
async function getPortalPage({ supabase }: Viewer, request: PortalPageRequest): Promise<PortalPage | UserError> {
  const cache = getPortalPageCache(supabase);
  const key = toCacheKey(request);
  const call = cache.get(key) ?? fetchPortalPage(supabase, request).finally(() => cache.delete(key));
  cache.set(key, call);
  const page = await call;
  // Without a viewer, the session ended during this request. The next request leads to the login.
  return page && ("reason" in page || page.viewer) ? page : userErrorFromThrown(null);
}

function fetchPortalPage(backend: AppSupabaseClient, { filter, shipmentId }: PortalPageRequest): PortalPageResult {
  const args = { page: filter.page, ...toSearchArgs(filter), ...(shipmentId && { opened_id: shipmentId }) };
  // Only GET requests are retried, by lib/supabase/fetch.server.ts.
  return readViewerResult(PortalPage, backend.rpc("portal_page", args, { get: true }).retry(false));
}

function toSearchArgs({ q, stage, waiting }: ShipmentFilter) {
  return { ...(q && { q }), ...(stage && { stage }), ...(waiting && { waiting_on: waiting }) };
}

function parseShipmentId(id: string | undefined): string | null {
  return id && isUuid(id) ? id : null;
}

/** `shipmentId` is that of the open shipment, so that getShipment shares the call. */
export async function listShipments(
  client: Viewer,
  url: URL,
  shipmentId?: string,
): Promise<ShipmentListPage | UserError> {
  const request = { filter: readShipmentFilter(url), shipmentId: parseShipmentId(shipmentId) };
  const page = await getPortalPage(client, request);
  if ("reason" in page) return page;
  const { shipments, announcement, work } = page;
  return {
    shipments: shipments.slice(0, shipmentsPerPage),
    hasNextPage: shipments.length > shipmentsPerPage,
    announcement,
    nextActions: work,
  };
}

/** Returns null for an unknown or invalid id and for another client's shipment. `url` has the filter of the list. */
export async function getShipment(client: Viewer, id: string, url = new URL("http://localhost")) {
  if (!isUuid(id)) return null;
  const page = await getPortalPage(client, { filter: readShipmentFilter(url), shipmentId: id });
  if ("reason" in page) return page;
  const { shipment } = page;
  return shipment && { ...shipment, documents: sortDocuments(shipment.documents) };
}

const PortalShipmentRows = z.object({ viewer: ViewerRecord, shipments: z.array(ShipmentRecord) });

/** Returns up to 500 shipments after `last`, newest first. Throws userErrorData. */
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
  const { viewer, shipments } = PortalShipmentRows.parse(data);
  // If the session ends, the file must not look complete.
  if (!viewer) throw userErrorData(userErrorFromThrown(null));
  return shipments;
}

export function isUuid(text: string): boolean {
  return /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text);
}

const listedColumns = "id, user_id, name, status, stage, awb, container_numbers, created_at";

export async function listAllShipments(company: AppSupabaseClient) {
  const all = [];
  const pageSize = 1000;
  for (let first = 0; ; first += pageSize) {
    const { data, error, status } = await company
      .from("shipments")
      .select(listedColumns)
      .order("created_at", { ascending: false })
      .order("id", { ascending: false })
      .range(first, first + pageSize - 1)
      .retry(false);
    if (error) throw new Error(toUserError({ ...error, status }).reason);
    all.push(...data);
    if (data.length < pageSize) return all;
  }
}

/** Throws unless exactly one shipment has an ID with this prefix. */
export async function findShipmentId(company: AppSupabaseClient, prefix: string): Promise<string> {
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
  if (error) throw new Error(toUserError({ ...error, status }).reason);
  if (data.length > 1) throw new Error(`More than one shipment begins with ${prefix}: give more of its id.`);
  if (!data[0]) throw new Error(`There is no shipment ${prefix}.`);
  return data[0].id;
}
