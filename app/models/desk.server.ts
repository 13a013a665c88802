/** Data of the desk's pages. One backend call returns a page and its viewer. Times are ISO 8601 in UTC, days YYYY-MM-DD. */
import { z } from "zod";
import type { StaffPageQuery } from "../lib/auth/staff.server.ts";
import { calendarDate, eastAfricaTime } from "../lib/dates.ts";
import { AuditEntry, readAuditLogFilter, timeToMinute, toAuditLogArgs } from "./audit-log.server.ts";
import { STAFF_ROLES } from "./desk-labels.ts";
import { sortDocuments } from "./document.ts";
import { Announcement } from "./portal.server.ts";
import { isUuid } from "./shipment.server.ts";
import { describeAmountsDue, formatMoney, noChargeText, PAYMENTS } from "./shipment.ts";
import {
  ChargeRecord,
  DocumentRecord,
  describeNumberFields,
  ShipmentRecord,
  TrackingEventRecord,
} from "./shipment-fields.server.ts";
import { readShipmentFilter } from "./shipment-filter.ts";
import { readBulkMoveOutcomes } from "./staff.server.ts";

const time = z.string();

/** A list of the page /desk. The database counts at most 100 items and returns the oldest eight as `rows`. */
const createListSchema = <Row extends z.ZodType>(row: Row) => z.object({ count: z.number(), rows: z.array(row) });
const TodayItem = z.object({
  shipment_id: z.string(),
  name: z.string(),
  detail: z.string(),
  since: timeToMinute,
  document_id: z.string().optional(),
});

export const TodayPage = z.object({
  announcement: Announcement.nullable(),
  to_check: createListSchema(TodayItem),
  storage: createListSchema(z.object({ shipment_id: z.string(), name: z.string(), free_storage_ends_on: z.string() })),
  no_update: createListSchema(TodayItem),
  waiting_for_client: createListSchema(TodayItem),
  failed_emails: createListSchema(
    z.object({
      id: z.string(),
      kind: z.string(),
      sent_to: z.string(),
      account_id: z.string().nullable(),
      client_id: z.string().nullable(),
      is_staff: z.boolean(),
      failed_at: time,
    }),
  ),
  erasure_requests: createListSchema(z.object({ account_id: z.string(), name: z.string(), requested_at: time })),
});
export type TodayPage = z.infer<typeof TodayPage>;

const DeskShipmentRow = ShipmentRecord.extend({
  client_name: z.string().nullable(),
  email: z.string(),
});
export type DeskShipmentRow = z.infer<typeof DeskShipmentRow>;

const DeskDocument = DocumentRecord.extend({
  media_type: z.string().nullable(),
  uploaded_at: timeToMinute.nullable(),
  rejected_at: timeToMinute.nullable(),
  version: z.number(),
});
export type DeskDocument = z.infer<typeof DeskDocument>;

const DeskCharge = ChargeRecord.extend({ version: z.number() });

const DeskShipmentDetailsSchema = ShipmentRecord.extend({
  client: z.object({ id: z.string(), name: z.string().nullable(), email: z.string(), closed: z.boolean() }),
  documents: z.array(DeskDocument),
  charges: z.array(DeskCharge),
  tracking_events: z.array(TrackingEventRecord.extend({ created_at: timeToMinute })),
  audit_entries: z.array(AuditEntry),
});

/** Returns the first items that together have at most `maxLength` characters of JSON, but at least two items. */
export function takeShort<Item>(items: Item[], maxLength: number): Item[] {
  let length = 0;
  return items.filter((item, index) => {
    length += JSON.stringify(item).length;
    return index < 2 || length <= maxLength;
  });
}

export function createDeskShipmentView(details: z.infer<typeof DeskShipmentDetailsSchema>) {
  const { id, name, stage, status, version, client, arrival, waiting_on, charges, documents, tracking_events } =
    details;
  const shownEvents = takeShort(tracking_events.slice(0, 8), 500);
  return {
    ...{ id, name, stage, status, version, client, arrival, waiting_on },
    payments: PAYMENTS.map(({ id, name }) => createPaymentView(id, name, charges)),
    due: describeAmountsDue(charges),
    waitingSince: eastAfricaTime(details.waiting_since),
    numbers: describeNumberFields(details).map(({ hint: _, ...field }) => field),
    documents: sortDocuments(documents),
    tracking_events: shownEvents,
    hasOlder: tracking_events.length > shownEvents.length,
  };
}
export type DeskShipmentView = ReturnType<typeof createDeskShipmentView>;

function createPaymentView(item: string, name: string, charges: z.infer<typeof DeskCharge>[]) {
  const charge = charges.find((charge) => charge.item === item);
  const words = describeCharge(charge);
  if (!charge) return { item, name, words };
  const { item: _, paid_at, ...values } = charge;
  return { item, name, words, charge: { ...values, isPaid: paid_at !== null } };
}

function describeCharge(charge: z.infer<typeof DeskCharge> | undefined): string {
  if (!charge) return noChargeText;
  const sum = formatMoney(charge.currency, charge.amount);
  if (charge.paid_at) return `${sum}, paid ${eastAfricaTime(charge.paid_at)}`;
  return charge.due_on ? `${sum}, due ${calendarDate(charge.due_on)}` : `${sum}, unpaid`;
}

/** Lists 20 shipments. A 21st shipment means that a next page exists. `opened` is the shipment with the URL's ID, or null. */
export const ShipmentsPage = z.object({
  shipments: z.array(DeskShipmentRow),
  opened: DeskShipmentDetailsSchema.nullable(),
});

export const DeskShipmentRows = z.object({ shipments: z.array(DeskShipmentRow) });

const DeskClientRow = z.object({
  id: z.string(),
  name: z.string().nullable(),
  email: z.string(),
  created_at: time,
  closed: z.boolean(),
  confirmed: z.boolean(),
});

export const ClientsPage = z.object({
  clients: z.array(DeskClientRow),
  opened: DeskClientRow.extend({
    last_sign_in_at: time.nullable(),
    client_id: z.string().nullable(),
    factor_count: z.number(),
    retention_ends_on: z.string().nullable(),
    erasure_requested_at: time.nullable(),
    shipments: z.array(DeskShipmentRow.pick({ id: true, name: true, stage: true, status: true, waiting_on: true })),
    audit_entries: z.array(AuditEntry),
  }).nullable(),
});
export type DeskClientDetails = NonNullable<z.infer<typeof ClientsPage>["opened"]>;

export const InvitationsPage = z.object({
  invitations: z.array(
    z.object({
      client_id: z.string(),
      issued_for: z.string().nullable(),
      sent_to: z.string().nullable(),
      created_at: time,
    }),
  ),
});

const DeskStaffMember = z.object({
  id: z.string(),
  name: z.string(),
  email: z.string(),
  role: z.enum(STAFF_ROLES),
  created_at: time,
  removed_at: time.nullable(),
  last_sign_in_at: time.nullable(),
  has_factor: z.boolean(),
  is_viewer: z.boolean(),
});
export type DeskStaffMember = z.infer<typeof DeskStaffMember>;
export const TeamPage = z.object({ staff_members: z.array(DeskStaffMember) });

/** `pattern` is the route's path pattern, such as desk/clients/:accountId. */
type DeskPageRequest = { url: URL; params: Record<string, string | undefined>; pattern: string };

export function getDeskPageQuery({ url, params, pattern }: DeskPageRequest): StaffPageQuery | null {
  const [, page = "", id = "", part = ""] = pattern.split("/").filter(Boolean);
  if (part === "documents") return null;
  // lib/supabase/fetch.server.ts retries GET requests, so supabase-js must not retry them again.
  const get = { get: true } as const;
  if (page === "") return (backend) => backend.rpc("desk_today", {}, get).retry(false);
  if (id === "bulk-move")
    return (backend) =>
      backend.rpc("desk_move_result", { shipment_ids: Object.keys(readBulkMoveOutcomes(url)) }, get).retry(false);
  if (page === "shipments") {
    const { q, stage, waiting, needsCheck, page } = readShipmentFilter(url);
    const { shipmentId } = params;
    const args = {
      page,
      to_check: needsCheck || undefined,
      q: q || undefined,
      stage: stage ?? undefined,
      waiting_on: waiting ?? undefined,
      opened_id: shipmentId && isUuid(shipmentId) ? shipmentId : undefined,
    };
    return (backend) => backend.rpc("desk_shipments", args, get).retry(false);
  }
  if (page === "clients") {
    const { q, page } = readShipmentFilter(url);
    const { accountId } = params;
    const opened_id = accountId && isUuid(accountId) ? accountId : undefined;
    const args = { page, q: q || undefined, opened_id };
    return (backend) => backend.rpc("desk_clients", args, get).retry(false);
  }
  if (page === "invitations")
    return (backend) => backend.rpc("desk_invitations", { page: readShipmentFilter(url).page }, get).retry(false);
  if (page === "team") return (backend) => backend.rpc("desk_team", {}, get).retry(false);
  if (page === "log") {
    const args = toAuditLogArgs(readAuditLogFilter(url));
    return (backend) => backend.rpc("desk_log", args, get).retry(false);
  }
  return null;
}
