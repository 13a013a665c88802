/** One backend call returns the data of a desk page and the viewer. */
import type { StaffPageQuery } from "../lib/auth/staff.server.ts";
import type { Database } from "../lib/supabase/database.ts";
import { readAuditLogFilter, toAuditLogArgs } from "./audit-log.server.ts";
import { toSearchArgs } from "./portal.server.ts";
import { hasErrors, readReportPeriod, toReportArgs } from "./report.server.ts";
import { isUuid } from "./shipment.server.ts";
import { createShipmentSearch, readShipmentFilter, type ShipmentFilter } from "./shipment-filter.ts";
import { readBulkMoveOutcomes } from "./staff.server.ts";

/** Returns the order of a list, such as "name" or "-name". The database ignores an order that the list does not have. */
export function readSort({ searchParams }: URL): string | undefined {
  return /^-?[a-z]+$/.exec(searchParams.get("sort") ?? "")?.[0];
}

export function createListSearch(url: URL, change: Partial<ShipmentFilter> = {}): string {
  const search = createShipmentSearch({ ...readShipmentFilter(url), ...change });
  const sort = readSort(url);
  return sort ? `${search}${search ? "&" : "?"}sort=${sort}` : search;
}

type DeskPageRequest = { url: URL; params: Record<string, string | undefined>; pattern: string };

export function getDeskPageQuery({ url, params, pattern }: DeskPageRequest): StaffPageQuery | null {
  const [, page = "", id = "", part = "", , file] = pattern.split("/").filter(Boolean);
  if (part === "documents") return file ? null : queryDocumentReview(params.shipmentId, params.documentId);
  const filter = readShipmentFilter(url);
  const handler = filter.handler ?? undefined;
  if (page === "") return createQuery("desk_today", { handler });
  if (id === "bulk-move")
    return createQuery("desk_move_result", { shipment_ids: Object.keys(readBulkMoveOutcomes(url)) });
  const order = { sort: readSort(url), page: filter.page };
  if (page === "shipments")
    return createQuery("desk_shipments", {
      ...toSearchArgs(filter),
      ...order,
      to_check: filter.needsCheck || undefined,
      handler,
      opened_id: isUuid(params.shipmentId) ? params.shipmentId : undefined,
    });
  if (page === "clients") {
    const opened_id = isUuid(params.accountId) ? params.accountId : undefined;
    return createQuery("desk_clients", { ...order, q: filter.q || undefined, opened_id });
  }
  if (page === "invitations") return createQuery("desk_invitations", order);
  if (page === "team") return createQuery("desk_team", {});
  if (page === "report") {
    const period = readReportPeriod({ from: url.searchParams.get("from"), to: url.searchParams.get("to") });
    return hasErrors(period) ? null : createQuery("desk_report", toReportArgs(period));
  }
  return page === "log"
    ? createQuery("desk_log", { ...toAuditLogArgs(readAuditLogFilter(url)), sort: order.sort })
    : null;
}

export function queryDocumentReview(shipment_id = "", document_id = ""): StaffPageQuery | null {
  return isUuid(shipment_id) && isUuid(document_id) ? createQuery("desk_document", { shipment_id, document_id }) : null;
}

type DatabaseFunctions = Database["public"]["Functions"];

/** lib/supabase/fetch.server.ts retries GET requests, so supabase-js must not retry them again. */
function createQuery<Name extends keyof DatabaseFunctions>(
  name: Name,
  args: DatabaseFunctions[Name]["Args"],
): StaffPageQuery {
  return (backend) => backend.rpc(name, args as never, { get: true }).retry(false);
}
