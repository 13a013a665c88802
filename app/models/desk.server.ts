/** One backend call returns the data of a desk page and the viewer. Times are ISO 8601 in UTC. Days are YYYY-MM-DD. */
import { z } from "zod";
import { calendarDate, eastAfricaTime } from "../lib/dates.ts";
import { describeArrivalForDesk, STORAGE_LOCATIONS } from "./arrival.server.ts";
import { AuditEntry, timeToMinute } from "./audit-log.server.ts";
import { STAFF_ROLES } from "./desk-labels.ts";
import { describeAddedFile } from "./document.server.ts";
import { sortDocuments } from "./document.ts";
import { PhoneRecord } from "./phone.server.ts";
import { Announcement } from "./portal.server.ts";
import { describeAmountsDue, formatMoney, noChargeText, type OpenItems, PAYMENTS } from "./shipment.ts";
import {
  ChargeRecord,
  DocumentRecord,
  describeNumberFields,
  ShipmentRecord,
  TrackingEventRecord,
} from "./shipment-fields.server.ts";

const time = z.string();

/** A list on the page /desk. `count` is at most 100. `rows` contains the eight oldest items. */
const createListSchema = <Row extends z.ZodType>(row: Row) => z.object({ count: z.number(), rows: z.array(row) });
const TodayItem = z.object({
  shipment_id: z.string(),
  name: z.string(),
  client: z.string(),
  detail: z.string(),
  since: timeToMinute,
  document_id: z.string().optional(),
});

export const TodayPage = z.object({
  announcement: Announcement.nullable(),
  to_check: createListSchema(TodayItem),
  storage: createListSchema(
    TodayItem.pick({ shipment_id: true, name: true, client: true }).extend({
      storage_location: z.string().transform((location) => STORAGE_LOCATIONS[location] ?? location),
      free_storage_ends_on: z.string(),
    }),
  ),
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

/** `due_on` is the earliest due date of the unpaid charges. `due` is null if nothing is due. */
const DeskShipmentRow = ShipmentRecord.extend({
  client_name: z.string(),
  email: z.string(),
  document_count: z.number(),
  uploaded_count: z.number(),
  due_on: z.string().nullable(),
  due: z.array(ChargeRecord.pick({ currency: true, amount: true })).nullable(),
});
export type DeskShipmentRow = z.infer<typeof DeskShipmentRow>;

export const DeskDocument = DocumentRecord.extend({
  media_type: z.string().nullable(),
  uploaded_at: timeToMinute.nullable(),
  rejected_at: timeToMinute.nullable(),
  version: z.number(),
  added_by: z.string().nullable(),
});

/** Returns the document with `added`, such as "Added by Wanjiru Kamau on 12 May (from paper)", for an added file. */
export function createDeskDocumentView({
  added_from,
  added_note,
  added_by,
  ...document
}: z.infer<typeof DeskDocument>) {
  const { uploaded_at } = document;
  const added = describeAddedFile({ added_from, added_note, uploaded_at }, added_by ?? undefined);
  return { ...document, ...(added && { added }) };
}
export type DeskDocument = ReturnType<typeof createDeskDocumentView>;

const DeskCharge = ChargeRecord.extend({ version: z.number() });

const DeskShipmentDetails = ShipmentRecord.extend({
  client: z.object({
    id: z.string(),
    name: z.string().nullable(),
    email: z.string(),
    phone: PhoneRecord,
    closed: z.boolean(),
  }),
  handler: z.object({ id: z.string(), name: z.string() }).nullable(),
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

export function listOpenItems({ documents, charges }: z.infer<typeof DeskShipmentDetails>): OpenItems {
  return {
    missing: documents.flatMap(({ uploaded, name }) => (uploaded ? [] : [name])).sort(),
    due: charges.flatMap(({ item, currency, amount, paid_at }) => (paid_at ? [] : [{ item, currency, amount }])),
  };
}

export function createDeskShipmentView(details: z.infer<typeof DeskShipmentDetails>) {
  const { id, name, stage, status, version, client, arrival, waiting_on, charges, tracking_events } = details;
  const shownEvents = takeShort(tracking_events.slice(0, 8), 500);
  return {
    ...{ id, name, stage, status, version, client, waiting_on },
    arrival: arrival && describeArrivalForDesk(arrival),
    handler: details.handler?.name ?? "Nobody",
    payments: PAYMENTS.map(({ id, name }) => createPaymentView(id, name, charges)),
    due: describeAmountsDue(charges),
    withdrawal: details.withdrawal && { ...details.withdrawal, at: eastAfricaTime(details.withdrawal.at) },
    waitingSince: eastAfricaTime(details.waiting_since),
    numbers: describeNumberFields(details).map(({ hint: _, ...field }) => field),
    documents: sortDocuments(details.documents.map(createDeskDocumentView)),
    tracking_events: shownEvents,
    hasOlder: tracking_events.length > shownEvents.length,
  };
}
export type DeskShipmentView = ReturnType<typeof createDeskShipmentView>;

function createPaymentView(item: string, name: string, charges: z.infer<typeof DeskCharge>[]) {
  const charge = charges.find((charge) => charge.item === item);
  if (!charge) return { item, name, words: noChargeText };
  const { item: _, paid_at, ...values } = charge;
  const due = values.due_on ? `due ${calendarDate(values.due_on)}` : "unpaid";
  const state = paid_at ? `paid ${eastAfricaTime(paid_at)}` : due;
  const words = `${formatMoney(values.currency, values.amount)}, ${state}`;
  return { item, name, words, charge: { ...values, isPaid: paid_at !== null } };
}

/**
 * The page shows 20 shipments. `shipments` has 21 if a next page exists. `similar` is true if no shipment matches the
 * search and `shipments` has shipments with similar words. `opened` is the URL's shipment, or null.
 */
export const ShipmentsPage = z.object({
  shipments: z.array(DeskShipmentRow),
  similar: z.boolean(),
  opened: DeskShipmentDetails.nullable(),
});

export const DeskShipmentRows = z.object({ shipments: z.array(DeskShipmentRow) });

const DeskClientRow = z.object({
  id: z.string(),
  name: z.string().nullable(),
  email: z.string(),
  phone: PhoneRecord,
  created_at: time,
  closed: z.boolean(),
  confirmed: z.boolean(),
});

export const ClientsPage = z.object({
  clients: z.array(DeskClientRow),
  opened: DeskClientRow.extend({
    last_sign_in_at: time.nullable(),
    client_id: z.string().nullable(),
    phone_version: z.number(),
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
