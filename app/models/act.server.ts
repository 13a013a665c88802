/** The log of what the company did: lines of it at the desk, and what commands write and read. */
import { z } from "zod";
import type { Database, Json } from "../lib/database.ts";
import { calendarDate } from "../lib/dates.ts";
import { refusalOf } from "../lib/refusal.server.ts";
import type { Backend } from "../lib/supabase.server.ts";
import { PLACES, type Place } from "./desk.ts";
import { inMoney, PAYMENTS, shortId } from "./shipment.ts";

/** What was done to which shipment, document or account, by their ids, and what it changed. Holds no personal data. */
export type Act = {
  act: string;
  shipment?: string;
  document?: string;
  account?: string;
  before?: { [key: string]: Json | undefined };
  after?: { [key: string]: Json | undefined };
  reason?: string;
};

export type LoggedAct = Omit<Database["public"]["Tables"]["acts"]["Row"], "request">;

/** Logs an act under the name of who did it. Throws when the backend refuses. */
export async function recordAct(company: Backend, byName: string, act: Act): Promise<void> {
  const { error, status } = await company.rpc("record_act", { by_name: byName, ...act });
  if (error) throw new Error(refusalOf({ ...error, status }).reason);
}

const columns = "id, at, by_name, colleague, act, shipment, document, account, before, after, reason";
/** The most rows that the backend returns at once. */
const pageSize = 1000;

/** All acts since a time (ISO 8601), newest first, in pages that acts logged meanwhile do not shift. Throws. */
export async function* listActs(company: Backend, since = "-infinity"): AsyncGenerator<LoggedAct[]> {
  let newest = "infinity";
  for (let first = 0; ; first += pageSize) {
    const { data, error, status } = await company
      .from("acts")
      .select(columns)
      .gte("at", since)
      .lte("at", newest)
      .order("at", { ascending: false })
      .order("id", { ascending: false })
      .range(first, first + pageSize - 1)
      .retry(false);
    if (error) throw new Error(refusalOf({ ...error, status }).reason);
    yield data;
    if (data.length < pageSize) return;
    if (first === 0) newest = data[0]?.at ?? newest;
  }
}

/** How many acts are past the retention period of the privacy policy. Throws. */
export async function countPastActs(company: Backend): Promise<number> {
  const { data, error, status } = await company.rpc("past_acts");
  if (error) throw new Error(refusalOf({ ...error, status }).reason);
  return data;
}

/** Deletes those acts; returns how many. Throws. */
export async function deletePastActs(company: Backend): Promise<number> {
  const { data, error, status } = await company.rpc("delete_past_acts");
  if (error) throw new Error(refusalOf({ ...error, status }).reason);
  return data;
}

/** A time as the desk shows it, to the minute (ISO 8601, UTC). */
export const minute = z.string().transform((at) => `${new Date(at).toISOString().slice(0, 16)}Z`);

const LogRow = z.object({
  id: z.string(),
  at: z.string(),
  by: z.string(),
  act: z.string(),
  shipment: z.string().nullable(),
  account: z.string().nullable(),
  document: z.string().nullable(),
  shipment_name: z.string().nullable(),
  account_name: z.string().nullable(),
  before: z.record(z.string(), z.unknown()).nullable(),
  after: z.record(z.string(), z.unknown()).nullable(),
  reason: z.string().nullable(),
});

/** The acts of the log by their names there, in words. */
export const ACTS: Readonly<Record<string, string>> = {
  "shipment advance": "Moved on",
  "shipment correct": "Stage corrected",
  "shipment set-awb": "AWB/BL saved",
  "shipment arrived": "Arrival saved",
  "shipment note": "Note sent",
  "shipment keep": "Kept longer",
  "shipment delete": "Shipment deleted",
  "charge set": "Charge set",
  "charge paid": "Marked as paid",
  "charge unpaid": "Marked as not paid",
  "document open": "Opened",
  "document verify": "Verified",
  "document unverify": "Verification taken back",
  "document send-back": "Sent back",
  "notice set": "Notice set",
  "notice end": "Notice ended",
  "client-id new": "Client IDs issued",
  "client-id send": "Client ID mailed",
  "client-id withdraw": "Client ID withdrawn",
  "account send-password-link": "New-password link sent",
  "account reset-2fa": "Second factor removed",
  "account close": "Account closed",
  "account open": "Account opened again",
  "account erase": "Account erased",
  "account keep": "Erasing refused",
  "colleague invite": "Colleague invited",
  "colleague role": "Role changed",
  "colleague remove": "Colleague removed",
  "mail dealt with": "Mail dealt with",
};

/** A line of the log, as the pages show it: `change` is what it changed, in words, and `on` what it was done to. */
export const ShownAct = LogRow.extend({ at: minute }).transform(
  ({ at, by, act, document, before, after, reason, ...on }) => ({
    at,
    by,
    what: [ACTS[act] ?? act, document].filter(Boolean).join(": "),
    change: changeOf(before, after),
    reason,
    on: subjectOf(act, on),
  }),
);
export type ShownAct = z.infer<typeof ShownAct>;

type Subject = Pick<z.infer<typeof LogRow>, "shipment" | "shipment_name" | "account" | "account_name">;

/** The shipment, client or colleague of an act, and where its page is. */
function subjectOf(act: string, { shipment, shipment_name, account, account_name }: Subject) {
  if (shipment) return { name: shipment_name ?? shortId(shipment), to: `/desk/shipments/${shipment}` };
  if (!account) return null;
  const name = account_name ?? shortId(account);
  return act.startsWith("colleague") ? { name } : { name, to: `/desk/clients/${account}` };
}

type State = Record<string, unknown> | null;

/** What the name of an act says already, or says nothing to a reader. */
const unsaid = new Set(["ids", "sha256", "file", "verified", "paid", "paid_at", "item", "currency", "removed"]);

/** What an act changed, such as "stage 4 → stage 5, location Mombasa": the two states it logged, without what stayed. */
function changeOf(before: State, after: State): string {
  const names = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])];
  const changed = names.flatMap((name) => {
    const [was, is] = [wordsOf(name, before), wordsOf(name, after)];
    return was === is || unsaid.has(name) ? [] : [[was, is].filter(Boolean).join(" → ")];
  });
  const item = PAYMENTS.find(({ id }) => id === (after ?? before)?.item)?.name;
  return [item, ...changed].filter(Boolean).join(", ");
}

function wordsOf(name: string, state: State): string {
  const value = state?.[name];
  if (value === null || value === undefined) return "";
  const text = typeof value === "object" ? JSON.stringify(value) : String(value);
  if (name === "amount") return inMoney(String(state?.currency ?? ""), Number(value));
  if (name === "due_on") return `due ${calendarDate(text)}`;
  if (name === "day") return calendarDate(text);
  if (name === "size") return `${text} ft`;
  if (name === "place") return PLACES[text as Place] ?? text;
  return ["text", "awb", "role"].includes(name) ? text : `${name.replaceAll("_", " ")} ${text}`;
}

/** A 51st act means that there is a next page. */
export const LogPage = z.object({ acts: z.array(ShownAct) });

/** Rows of the table of all acts. */
export type LogRow = z.infer<typeof LogRow>;
export const LogRows = z.object({ acts: z.array(LogRow) });

/** The filter of /desk/log; `day` in East Africa Time. */
export function logFilterOf({ searchParams }: URL) {
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
