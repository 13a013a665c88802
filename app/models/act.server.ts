/** Staff: the log of what the company did. */
import type { Database, Json } from "../lib/database.ts";
import { refusalOf } from "../lib/refusal.server.ts";
import type { Backend } from "../lib/supabase.server.ts";

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
