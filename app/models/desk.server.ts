/** What the pages of the desk show: one call each, with who asks. Times are ISO 8601 in UTC, days YYYY-MM-DD. */
import { z } from "zod";
import type { AskForDesk } from "../lib/desk.server.ts";
import { logFilterOf, minute, ShownAct } from "./act.server.ts";
import { filterOf, PLACES, type Place } from "./desk.ts";
import { movedOf } from "./desk-act.server.ts";
import { Announcement, isUuid } from "./shipment.server.ts";

const time = z.string();
const turn = z.enum(["client", "company", "closed"]);

/** A list of the day's work: its count, up to 100, and its oldest rows. */
const listOf = <Row extends z.ZodType>(row: Row) => z.object({ count: z.number(), rows: z.array(row) });
const Line = z.object({
  shipment: z.string(),
  name: z.string(),
  what: z.string(),
  at: minute,
  document: z.string().optional(),
});

export const TodayPage = z.object({
  announcement: Announcement.nullable(),
  to_check: listOf(Line),
  storage: listOf(z.object({ shipment: z.string(), name: z.string(), day: z.string() })),
  standing: listOf(Line),
  waiting: listOf(Line),
  undelivered: listOf(
    z.object({
      id: z.string(),
      kind: z.string(),
      sent_to: z.string(),
      account: z.string().nullable(),
      client_id: z.string().nullable(),
      is_colleague: z.boolean(),
      at: time,
    }),
  ),
  erasures: listOf(z.object({ account: z.string(), name: z.string(), at: time })),
});
export type TodayPage = z.infer<typeof TodayPage>;

const Listed = z.object({
  id: z.string(),
  name: z.string(),
  awb: z.string().nullable(),
  stage: z.number(),
  status: z.string(),
  turn,
  changed_at: time,
  created_at: time,
  version: z.number(),
  client: z.string().nullable(),
  email: z.string(),
});

/** A shipment of the list, as the pages show it. */
const ShownShipment = Listed.omit({ created_at: true }).extend({ changed_at: minute });
export type ShownShipment = z.infer<typeof ShownShipment>;

const DeskDocument = z.object({
  id: z.string(),
  name: z.string(),
  uploaded: z.boolean(),
  verified: z.boolean(),
  file_name: z.string().nullable(),
  file_size: z.number().nullable(),
  media_type: z.string().nullable(),
  uploaded_at: minute.nullable(),
  version: z.number(),
  sent_back_at: minute.nullable(),
  sent_back_reason: z.string().nullable(),
});
export type DeskDocument = z.infer<typeof DeskDocument>;

const DeskCharge = z.object({
  item: z.string(),
  amount: z.number(),
  currency: z.string(),
  due_on: z.string().nullable(),
  note: z.string().nullable(),
  paid_at: time.nullable(),
  version: z.number(),
});
export type DeskCharge = z.infer<typeof DeskCharge>;

const Opened = ShownShipment.omit({ client: true, email: true }).extend({
  turn_since: minute,
  arrival: z
    .object({
      place: z.enum(Object.keys(PLACES) as Place[]),
      day: z.string(),
      size: z.number(),
      free_until: z.string(),
    })
    .nullable(),
  client: z.object({ id: z.string(), name: z.string().nullable(), email: z.string(), closed: z.boolean() }),
  documents: z.array(DeskDocument),
  charges: z.array(DeskCharge),
  events: z.array(
    z.object({
      status: z.string(),
      location: z.string().nullable(),
      note: z.string().nullable(),
      created_at: minute,
    }),
  ),
  log: z.array(ShownAct),
});
export type OpenedShipment = z.infer<typeof Opened>;

/** A 21st shipment means that there is a next page. `opened` is null for none and for an unknown one. */
export const ShipmentsPage = z.object({ shipments: z.array(ShownShipment), opened: Opened.nullable() });

/** Rows of the table of all shipments. */
export const ShipmentRows = z.object({ shipments: z.array(Listed) });

const ListedClient = z.object({
  id: z.string(),
  name: z.string().nullable(),
  email: z.string(),
  created_at: time,
  closed: z.boolean(),
  confirmed: z.boolean(),
});

export const ClientsPage = z.object({
  clients: z.array(ListedClient),
  opened: ListedClient.extend({
    last_sign_in_at: time.nullable(),
    client_id: z.string().nullable(),
    factors: z.number(),
    kept_until: z.string().nullable(),
    erasure_asked_at: time.nullable(),
    shipments: z.array(Listed.pick({ id: true, name: true, stage: true, status: true, turn: true })),
    log: z.array(ShownAct),
  }).nullable(),
});
export type OpenedClient = NonNullable<z.infer<typeof ClientsPage>["opened"]>;

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

const ListedColleague = z.object({
  id: z.string(),
  name: z.string(),
  email: z.string(),
  role: z.enum(["clerk", "lead"]),
  created_at: time,
  removed_at: time.nullable(),
  last_sign_in_at: time.nullable(),
  has_factor: z.boolean(),
  is_me: z.boolean(),
});
export type ListedColleague = z.infer<typeof ListedColleague>;
export const ColleaguesPage = z.object({ colleagues: z.array(ListedColleague) });

/** A request for a page: `pattern` is its route, such as desk/clients/:accountId. */
type Asked = { url: URL; params: Record<string, string | undefined>; pattern: string };

/** The call behind a page of the desk; null for one that shows nothing of the backend. */
export function askForDesk({ url, params, pattern }: Asked): AskForDesk | null {
  // The framework gives it without a slash before it.
  const [, page = "", id = "", part = ""] = pattern.split("/").filter(Boolean);
  // A file of a shipment is no page of it.
  if (part === "documents") return null;
  // GETs: they change nothing, so backendFetch may retry them.
  const get = { get: true } as const;
  if (page === "") return (backend) => backend.rpc("desk_today", {}, get).retry(false);
  if (id === "move-many")
    return (backend) => backend.rpc("desk_moved", { shipments: Object.keys(movedOf(url)) }, get).retry(false);
  if (page === "shipments") {
    const { q, stage, turn, check, page } = filterOf(url);
    const { shipmentId } = params;
    const args = {
      page,
      ...(check && { to_check: true }),
      ...(q && { q }),
      ...(stage && { stage }),
      ...(turn && { turn }),
      ...(shipmentId && isUuid(shipmentId) && { opened: shipmentId }),
    };
    return (backend) => backend.rpc("desk_shipments", args, get).retry(false);
  }
  if (page === "clients") {
    const { q, page } = filterOf(url);
    const { accountId } = params;
    const args = { page, ...(q && { q }), ...(accountId && isUuid(accountId) && { opened: accountId }) };
    return (backend) => backend.rpc("desk_clients", args, get).retry(false);
  }
  if (page === "invitations")
    return (backend) => backend.rpc("desk_invitations", { page: filterOf(url).page }, get).retry(false);
  if (page === "colleagues") return (backend) => backend.rpc("desk_colleagues", {}, get).retry(false);
  if (page === "log") {
    const asked = Object.fromEntries(Object.entries(logFilterOf(url)).filter(([, value]) => value !== undefined));
    return (backend) => backend.rpc("desk_log", asked, get).retry(false);
  }
  return null;
}
