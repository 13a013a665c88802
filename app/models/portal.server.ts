import { z } from "zod";
import { readViewerResult, type Viewer, ViewerRecord } from "../lib/auth/viewer.server.ts";
import { shortDay } from "../lib/dates.ts";
import { toViewerPath } from "../lib/http/redirect.server.ts";
import { type UserError, userErrorData, userErrorFromThrown } from "../lib/http/user-error.server.ts";
import type { AppSupabaseClient } from "../lib/supabase/client.server.ts";
import { getResultError } from "../lib/supabase/result.server.ts";
import { readContent } from "./content.server.ts";
import { fileFieldId, sortDocuments } from "./document.ts";
import { isUuid } from "./shipment.server.ts";
import { type NextAction, nextAction, PAYMENTS, type ShipmentState, shipmentsPerPage } from "./shipment.ts";
import {
  ChargeRecord,
  DocumentRecord,
  ShipmentRecord,
  type Stage,
  Stages,
  TrackingEventRecord,
} from "./shipment-fields.server.ts";
import { createShipmentSearch, readShipmentFilter, type ShipmentFilter } from "./shipment-filter.ts";

export function listSearch(url: URL): string {
  return createShipmentSearch({ ...readShipmentFilter(url), needsCheck: false, handler: null });
}

export function shipmentPath(id: string, url: URL): string {
  return toViewerPath(`/portal/${id}${listSearch(url)}`);
}

const NextActions = z.object({
  waiting: z.array(
    z.object({
      id: z.string(),
      name: z.string(),
      stage: z.number(),
      documents: z.array(DocumentRecord.pick({ id: true, name: true, uploaded: true, rejected_at: true })),
      charges: z.array(ChargeRecord.pick({ item: true, due_on: true, paid_at: true })),
    }),
  ),
  client: z.number(),
  company: z.number(),
  nobody: z.number(),
});
export type NextActions = z.infer<typeof NextActions>;

export const Announcement = z.object({ text: z.string(), started_at: z.string() });

/** The result of public.portal_page. The page shows 20 shipments. `shipments` has 21 items if a next page exists. */
const PortalPage = z.object({
  viewer: ViewerRecord,
  announcement: Announcement.nullable(),
  shipments: z.array(ShipmentRecord),
  work: NextActions.nullable(),
  shipment: ShipmentRecord.extend({
    charges: z.array(ChargeRecord),
    documents: z.array(DocumentRecord.extend({ version: z.number() })),
    share_links: z.array(
      z.object({ id: z.string(), token_hash: z.string(), created_at: z.string(), expires_at: z.string() }),
    ),
    tracking_events: z.array(TrackingEventRecord.extend({ id: z.string() })),
  }).nullable(),
  withdrawal: ShipmentRecord.shape.withdrawal,
});
type PortalPage = z.infer<typeof PortalPage>;

/** Maps the Supabase client of a request to the request's portal page, so that all loaders share one backend call. */
const portalPages = new WeakMap<AppSupabaseClient, Promise<PortalPage | UserError | null>>();

/** Fetches the viewer and the portal page before the loaders of a GET request, or after the action of a form. */
export function prefetchPortalPage(backend: AppSupabaseClient, url: URL, shipmentId: string | undefined) {
  const filter = readShipmentFilter(url);
  const opened_id = isUuid(shipmentId) ? shipmentId : undefined;
  const args = { page: filter.page, ...toSearchArgs(filter), opened_id };
  // lib/supabase/fetch.server.ts retries GET requests, so supabase-js must not retry them again.
  const page = readViewerResult(PortalPage, backend.rpc("portal_page", args, { get: true }).retry(false));
  portalPages.set(backend, page);
  return page;
}

/** Returns the prefetched page. If no page was prefetched, parallel loaders share one backend call. */
async function getPortalPage({ supabase }: Viewer, url: URL, shipmentId?: string): Promise<PortalPage | UserError> {
  const page = await (portalPages.get(supabase) ??
    prefetchPortalPage(supabase, url, shipmentId).finally(() => portalPages.delete(supabase)));
  // If `viewer` is missing, the session ended during this request. The next request redirects to the login page.
  return page && ("reason" in page || page.viewer) ? page : userErrorFromThrown(null);
}

export function toSearchArgs({ q, stage, waiting }: ShipmentFilter) {
  return { q: q || undefined, stage: stage ?? undefined, waiting_on: waiting ?? undefined };
}

/** With `shipmentId`, the same backend call also fetches this shipment for getShipment. */
export async function listShipments(client: Viewer, url: URL, shipmentId?: string) {
  const page = await getPortalPage(client, url, shipmentId);
  if ("reason" in page) return page;
  const { shipments, announcement, work } = page;
  return {
    shipments: shipments.slice(0, shipmentsPerPage),
    hasNextPage: shipments.length > shipmentsPerPage,
    announcement,
    nextActions: work,
  };
}

export type ShipmentListPage = Exclude<Awaited<ReturnType<typeof listShipments>>, UserError>;

/** Returns null for an unknown or foreign ID, and an error for a withdrawn shipment. `url` has the list's filter. */
export async function getShipment(client: Viewer, id: string, url = new URL("http://localhost")) {
  if (!isUuid(id)) return null;
  const page = await getPortalPage(client, url, id);
  if ("reason" in page) return page;
  const { shipment, withdrawal } = page;
  if (withdrawal) return createWithdrawnError(withdrawal);
  return shipment && { ...shipment, documents: sortDocuments(shipment.documents) };
}

function createWithdrawnError({ at, reason }: { at: string; reason: string | null }): UserError {
  const news =
    reason === null
      ? `You withdrew this shipment on ${shortDay(at)}.`
      : `We withdrew this shipment on ${shortDay(at)}. Reason: ${reason.replace(/[^.!?]$/, "$&.")}`;
  return { reason: `${news} If you still need this shipment, call us.`, status: withdrawnStatus };
}

export const withdrawnStatus = 410;

const PortalShipmentRows = z.object({ viewer: ViewerRecord, shipments: z.array(ShipmentRecord) });

/** Returns up to 500 shipments after `last`, newest first. Throws an error response if the call fails. */
export async function listShipmentsAfter(
  backend: AppSupabaseClient,
  filter: ShipmentFilter,
  last: ShipmentRecord | null,
) {
  const args = { ...toSearchArgs(filter), before: last?.created_at, before_id: last?.id };
  const result = await backend.rpc("portal_shipments_export", args, { get: true }).retry(false);
  const failure = getResultError(result);
  if (failure) throw userErrorData(failure);
  const { viewer, shipments } = PortalShipmentRows.parse(result.data);
  // Without a viewer, the session has ended. The error prevents an incomplete file that looks complete.
  if (!viewer) throw userErrorData(userErrorFromThrown(null));
  return shipments;
}

export const stages = readContent("stages", Stages);

export function getNextAction(shipment: ShipmentState): NextAction {
  return nextAction(shipment, stages[shipment.stage - 1] as Stage);
}

/** Returns null if the client has nothing to do. `at` is the URL fragment of the field or section to use next. */
export function getNextActionButton(
  shipment: ShipmentState & { documents: (ShipmentState["documents"][number] & { id: string })[] },
) {
  if (getNextAction(shipment).waitingOn !== "client") return null;
  const awaited = sortDocuments(shipment.documents).filter(({ uploaded }) => !uploaded);
  const [first] = [...awaited.filter(({ rejected_at }) => rejected_at), ...awaited];
  if (first) return { words: `Upload the ${first.name}`, at: `#${fileFieldId(first.id)}` };
  const due = PAYMENTS.find(({ id }) => shipment.charges.some(({ item, paid_at }) => item === id && paid_at === null));
  return due ? { words: `Pay the ${due.name}`, at: "#payments" } : null;
}
