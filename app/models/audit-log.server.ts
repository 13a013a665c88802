/** The log of what the company did: lines of it at the desk, and what commands write and read. */
import { z } from "zod";
import { calendarDate } from "../lib/dates.ts";
import { toUserError } from "../lib/http/user-error.server.ts";
import type { AppSupabaseClient } from "../lib/supabase/client.server.ts";
import type { Database, Json } from "../lib/supabase/database.ts";
import { STORAGE_LOCATIONS, type StorageLocation } from "./desk-labels.ts";
import { formatMoney, PAYMENTS, shortId } from "./shipment.ts";

/** What was done to which shipment, document or account, by their ids, and what it changed. Holds no personal data. */
export type NewAuditEntry = {
  action: string;
  shipment_id?: string;
  document_id?: string;
  account_id?: string;
  before?: { [key: string]: Json | undefined };
  after?: { [key: string]: Json | undefined };
  reason?: string;
};

export type StoredAuditEntry = Omit<Database["public"]["Tables"]["audit_log"]["Row"], "idempotency_key">;

/** Logs an act under the name of who did it. Throws when the backend refuses. */
export async function recordAuditEntry(company: AppSupabaseClient, byName: string, act: NewAuditEntry): Promise<void> {
  const { error, status } = await company.rpc("record_audit_entry", { actor_name: byName, ...act });
  if (error) throw new Error(toUserError({ ...error, status }).reason);
}

const auditLogColumns =
  "id, created_at, actor_name, staff_id, action, shipment_id, document_id, account_id, before, after, reason";
/** The most rows that the backend returns at once. */
const maxRowsPerQuery = 1000;

/** All acts since a time (ISO 8601), newest first, in pages that acts logged meanwhile do not shift. Throws. */
export async function* listAuditEntries(
  company: AppSupabaseClient,
  since = "-infinity",
): AsyncGenerator<StoredAuditEntry[]> {
  let newest = "infinity";
  for (let first = 0; ; first += maxRowsPerQuery) {
    const { data, error, status } = await company
      .from("audit_log")
      .select(auditLogColumns)
      .gte("created_at", since)
      .lte("created_at", newest)
      .order("created_at", { ascending: false })
      .order("id", { ascending: false })
      .range(first, first + maxRowsPerQuery - 1)
      .retry(false);
    if (error) throw new Error(toUserError({ ...error, status }).reason);
    yield data;
    if (data.length < maxRowsPerQuery) return;
    if (first === 0) newest = data[0]?.created_at ?? newest;
  }
}

/** How many acts are past the retention period of the privacy policy. Throws. */
export async function countExpiredAuditEntries(company: AppSupabaseClient): Promise<number> {
  const { data, error, status } = await company.rpc("count_expired_audit_entries");
  if (error) throw new Error(toUserError({ ...error, status }).reason);
  return data;
}

/** Deletes those acts; returns how many. Throws. */
export async function deleteExpiredAuditEntries(company: AppSupabaseClient): Promise<number> {
  const { data, error, status } = await company.rpc("delete_expired_audit_entries");
  if (error) throw new Error(toUserError({ ...error, status }).reason);
  return data;
}

/** A time as the desk shows it, to the minute (ISO 8601, UTC). */
export const timeToMinute = z.string().transform((at) => `${new Date(at).toISOString().slice(0, 16)}Z`);

const AuditLogRow = z.object({
  id: z.string(),
  created_at: z.string(),
  actor_name: z.string(),
  action: z.string(),
  shipment_id: z.string().nullable(),
  account_id: z.string().nullable(),
  document_name: z.string().nullable(),
  shipment_name: z.string().nullable(),
  account_name: z.string().nullable(),
  before: z.record(z.string(), z.unknown()).nullable(),
  after: z.record(z.string(), z.unknown()).nullable(),
  reason: z.string().nullable(),
});

/** An audit entry of a page: `change` describes what it changed, and `on` is its shipment or account. */
export const AuditEntry = AuditLogRow.extend({ created_at: timeToMinute }).transform(
  ({ created_at: at, actor_name: by, action, document_name: document, before, after, reason, ...on }) => ({
    at,
    by,
    action,
    document,
    change: describeChange(before, after),
    reason,
    on: getAuditSubject(action, on),
  }),
);
export type AuditEntry = z.infer<typeof AuditEntry>;

type AuditSubject = Pick<z.infer<typeof AuditLogRow>, "shipment_id" | "shipment_name" | "account_id" | "account_name">;

/** Returns the name of the shipment, client or team member, and the path of its page. */
function getAuditSubject(
  action: string,
  { shipment_id: shipment, shipment_name, account_id: account, account_name }: AuditSubject,
) {
  if (shipment) return { name: shipment_name ?? shortId(shipment), to: `/desk/shipments/${shipment}` };
  if (!account) return null;
  const name = account_name ?? shortId(account);
  return action.startsWith("team") ? { name } : { name, to: `/desk/clients/${account}` };
}

type AuditedState = Record<string, unknown> | null;

/** What the name of an act says already, or says nothing to a reader. */
const hiddenKeys = new Set(["ids", "sha256", "file", "verified", "paid", "paid_at", "item", "currency", "removed"]);

/** What an act changed, such as "stage 4 → stage 5, location Mombasa": the two states it logged, without what stayed. */
function describeChange(before: AuditedState, after: AuditedState): string {
  const names = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])];
  const changed = names.flatMap((name) => {
    const [was, is] = [formatValue(name, before), formatValue(name, after)];
    return was === is || hiddenKeys.has(name) ? [] : [[was, is].filter(Boolean).join(" → ")];
  });
  const item = PAYMENTS.find(({ id }) => id === (after ?? before)?.item)?.name;
  return [item, ...changed].filter(Boolean).join(", ");
}

function formatValue(name: string, state: AuditedState): string {
  const value = state?.[name];
  if (value === null || value === undefined) return "";
  const text = typeof value === "object" ? JSON.stringify(value) : String(value);
  if (name === "amount") return formatMoney(String(state?.currency ?? ""), Number(value));
  if (name === "due_on") return `due ${calendarDate(text)}`;
  if (name === "day") return calendarDate(text);
  if (name === "size") return `${text} ft`;
  if (name === "place") return STORAGE_LOCATIONS[text as StorageLocation] ?? text;
  return ["text", "awb", "role"].includes(name) ? text : `${name.replaceAll("_", " ")} ${text}`;
}

/** A 51st act means that there is a next page. */
export const AuditLogPage = z.object({ audit_entries: z.array(AuditEntry) });

/** Rows of the table of all acts. */
export type AuditLogRow = z.infer<typeof AuditLogRow>;
export const AuditLogRows = z.object({ audit_entries: z.array(AuditLogRow) });

/** The filter of /desk/log; `day` in East Africa Time. */
export function readAuditLogFilter({ searchParams }: URL) {
  const text = (name: string, pattern: RegExp) => {
    const asked = (searchParams.get(name) ?? "").trim();
    return pattern.test(asked) ? asked : undefined;
  };
  const page = Number(searchParams.get("page"));
  const day = text("day", /^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])$/);
  return {
    who: text("who", /^\P{Cc}{1,120}$/u),
    what: text("what", /^[a-z0-9 -]{1,64}$/),
    shipment: text("shipment", /^\P{Cc}{1,64}$/u),
    account: text("account", /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i),
    // The 30th of February is none.
    day: day && new Date(`${day}T00:00:00Z`).toISOString().startsWith(day) ? day : undefined,
    page: Number.isInteger(page) && page > 0 && page < 1e6 ? page : 1,
  };
}

/** The arguments of public.desk_log for a filter; what the filter leaves open is not among them. */
export function toAuditLogArgs({ who, what, shipment, account, day, page }: ReturnType<typeof readAuditLogFilter>) {
  return {
    page,
    ...(who && { actor_name: who }),
    ...(what && { action: what }),
    ...(shipment && { shipment_prefix: shipment }),
    ...(account && { account_id: account }),
    ...(day && { day }),
  };
}
