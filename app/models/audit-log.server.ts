import { z } from "zod";
import { calendarDate } from "../lib/dates.ts";
import type { AppSupabaseClient } from "../lib/supabase/client.server.ts";
import type { Database, Json } from "../lib/supabase/database.ts";
import { dataOrThrow, fetchPages } from "../lib/supabase/result.server.ts";
import { STORAGE_LOCATIONS } from "./arrival.server.ts";
import { CARGO_KINDS, type CargoKind, type FileSource, fileSourcePhrases } from "./desk-labels.ts";
import { formatMoney, PAYMENTS, shortId } from "./shipment.ts";
import { readShipmentFilter } from "./shipment-filter.ts";

/** An audit entry must contain no personal data, because audit entries are stored longer than accounts. */
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

export async function recordAuditEntry(serviceRole: AppSupabaseClient, byName: string, entry: NewAuditEntry) {
  dataOrThrow(await serviceRole.rpc("record_audit_entry", { actor_name: byName, ...entry }));
}

/** Yields pages of audit entries since `since` (ISO 8601), newest first. Throws if the backend rejects a call. */
export async function* listAuditEntries(serviceRole: AppSupabaseClient, since = "-infinity") {
  let newest: string | undefined;
  const pages = fetchPages((first, last) =>
    serviceRole
      .from("audit_log")
      .select(
        "id, created_at, actor_name, staff_id, action, shipment_id, document_id, account_id, before, after, reason",
      )
      .gte("created_at", since)
      .lte("created_at", newest ?? "infinity")
      .order("created_at", { ascending: false })
      .order("id", { ascending: false })
      .range(first, last)
      .retry(false),
  );
  for await (const page of pages) {
    // Without this limit, new entries would shift the next pages while the caller reads.
    newest ??= page[0]?.created_at;
    yield page;
  }
}

export async function countExpiredAuditEntries(serviceRole: AppSupabaseClient): Promise<number> {
  return dataOrThrow(await serviceRole.rpc("count_expired_audit_entries"));
}

export async function deleteExpiredAuditEntries(serviceRole: AppSupabaseClient): Promise<number> {
  return dataOrThrow(await serviceRole.rpc("delete_expired_audit_entries"));
}

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
  is_client: z.boolean(),
  before: z.record(z.string(), z.unknown()).nullable(),
  after: z.record(z.string(), z.unknown()).nullable(),
  reason: z.string().nullable(),
});

/** An audit entry as the desk shows it. `on` has the name and the URL of the changed shipment or account. */
export const AuditEntry = AuditLogRow.extend({ created_at: timeToMinute }).transform(
  ({ created_at: at, actor_name: by, action, document_name: document, before, after, reason, ...on }) => ({
    at,
    by,
    action,
    document,
    change: describeChange(before, after),
    reason,
    on: getAuditSubject(on),
  }),
);
export type AuditEntry = z.infer<typeof AuditEntry>;

type AuditSubject = Pick<
  z.infer<typeof AuditLogRow>,
  "shipment_id" | "shipment_name" | "account_id" | "account_name" | "is_client"
>;

/** Team members, erased accounts and deleted shipments have no page, so `to` is missing. */
function getAuditSubject({ shipment_id, shipment_name, account_id, account_name, is_client }: AuditSubject) {
  if (shipment_id)
    return shipment_name === null
      ? { name: shortId(shipment_id) }
      : { name: shipment_name, to: `/desk/shipments/${shipment_id}` };
  if (!account_id) return account_name === null ? null : { name: account_name };
  const name = account_name ?? shortId(account_id);
  return is_client ? { name, to: `/desk/clients/${account_id}` } : { name };
}

type AuditedState = Record<string, unknown> | null;

/** The activity log omits these fields, because another text shows the value or the value means nothing to a reader. */
const hiddenKeys = new Set([
  "ids",
  "client_id_hash",
  "sha256",
  "file",
  "verified",
  "paid",
  "paid_at",
  "item",
  "currency",
  "removed",
]);

export function describeChange(before: AuditedState, after: AuditedState): string {
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
  if (Array.isArray(value)) return value.length > 0 ? `${name.replaceAll("_", " ")} ${value.join(", ")}` : "";
  if (typeof value === "object")
    return Object.entries(value)
      .map(([key, part]) => `${key.replaceAll("_", " ")} ${part}`)
      .join(", ");
  const text = String(value);
  if (name === "name_changed") return "name changed";
  if (name === "retention_ends_on") return `retention ends on ${calendarDate(text)}`;
  if (name === "amount") return formatMoney(String(state?.currency ?? ""), Number(value));
  if (name === "due_on") return `due ${calendarDate(text)}`;
  if (name === "day") return calendarDate(text);
  if (name === "cargo") return CARGO_KINDS[text as CargoKind] ?? text;
  if (name === "storage_location") return STORAGE_LOCATIONS[text] ?? text;
  if (name === "free_storage_ends_on") return `free storage until ${calendarDate(text)}`;
  if (name === "added_from") return fileSourcePhrases[text as FileSource] ?? text;
  return ["text", "awb", "role"].includes(name) ? text : `${name.replaceAll("_", " ")} ${text}`;
}

/** The page shows 50 entries. `audit_entries` has 51 entries if a next page exists. */
export const AuditLogPage = z.object({ audit_entries: z.array(AuditEntry) });

export type AuditLogRow = z.infer<typeof AuditLogRow>;
export const AuditLogRows = z.object({ audit_entries: z.array(AuditLogRow) });

/** Returns the filter in the URL of /desk/log, without invalid values. `day` is YYYY-MM-DD in East Africa Time. */
export function readAuditLogFilter(url: URL) {
  const { searchParams } = url;
  const text = (name: string, pattern: RegExp) => {
    const value = (searchParams.get(name) ?? "").trim();
    return pattern.test(value) ? value : undefined;
  };
  const day = z.iso.date().safeParse(searchParams.get("day")?.trim());
  return {
    who: text("who", /^\P{Cc}{1,120}$/u),
    what: text("what", /^[a-z0-9 -]{1,64}$/),
    shipment: text("shipment", /^\P{Cc}{1,64}$/u),
    account: text("account", /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i),
    day: day.data,
    opened: searchParams.get("opened") === "hide" ? "hide" : undefined,
    page: readShipmentFilter(url).page,
  };
}

export function toAuditLogArgs(filter: ReturnType<typeof readAuditLogFilter>) {
  const { who, what, shipment, account, day, opened, page } = filter;
  const hide_opened = opened === "hide" || undefined;
  return { page, actor_name: who, action: what, shipment_prefix: shipment, account_id: account, day, hide_opened };
}
