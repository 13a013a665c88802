/** Client IDs through the company's handle: the check at sign-up, and issuing them. */
import { type Refusal, refusalOf } from "../lib/refusal.server.ts";
import type { Backend } from "../lib/supabase.server.ts";
import { clientIdRefused } from "./client-id.ts";

/**
 * Whether this e-mail may sign up with this client ID; null or a refusal. It is asked before the sign-up so that an
 * address with an account and one without get the same answer to a wrong ID. The database decides again.
 */
export async function checkClientId(company: Backend, clientId: string, email: string): Promise<Refusal | null> {
  const { data, error, status } = await company.rpc("client_id_admits", { client_id: clientId, email });
  if (error) return refusalOf({ ...error, status });
  return data === true ? null : { reason: clientIdRefused, status: 400 };
}

/** Staff: makes client IDs, 1 to 1000 at once. */
export async function issueClientIds(company: Backend, count: number): Promise<string[]> {
  const { data, error, status } = await company.rpc("issue_client_ids", { how_many: count });
  if (error) throw new Error(refusalOf({ ...error, status }).reason);
  return data.map((row) => row.client_id);
}

/** Staff: all client IDs, newest first. */
export async function listClientIds(company: Backend) {
  const all = [];
  const step = 1000;
  for (let first = 0; ; first += step) {
    const { data, error, status } = await company
      .from("client_ids")
      .select("client_id, claimed_by, claimed_at, created_at")
      .order("created_at", { ascending: false })
      .order("client_id")
      .range(first, first + step - 1)
      .retry(false);
    if (error) throw new Error(refusalOf({ ...error, status }).reason);
    all.push(...data);
    if (data.length < step) return all;
  }
}

/** An unused client ID, issued when there is none; for the start's message. */
export async function anUnusedClientId(company: Backend): Promise<string> {
  const { data, error, status } = await company
    .from("client_ids")
    .select("client_id")
    .is("claimed_by", null)
    .order("created_at")
    .limit(1)
    .retry(false);
  if (error) throw new Error(refusalOf({ ...error, status }).reason);
  const [unused] = data.length > 0 ? data.map((row) => row.client_id) : await issueClientIds(company, 1);
  if (!unused) throw new Error("The backend issued no client ID.");
  return unused;
}
