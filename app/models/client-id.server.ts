/** Client IDs through the company's handle: the check at sign-up, and issuing them. */
import { type Refusal, refusalOf } from "../lib/refusal.server.ts";
import type { Backend } from "../lib/supabase.server.ts";
import { clientIdRefused } from "./client-id.ts";

/**
 * Whether this e-mail may sign up with this client ID; null or a refusal. Called before the sign-up so that a wrong ID
 * gets the same answer whether or not the address has an account. Also deletes an earlier, unconfirmed sign-up of the
 * address. The database checks the ID again at sign-up.
 */
export async function admitSignUp(company: Backend, clientId: string, email: string): Promise<Refusal | null> {
  const { data, error, status } = await company.rpc("admit_sign_up", { client_id: clientId, email });
  if (error) return refusalOf({ ...error, status });
  return data === true ? null : refused;
}

/**
 * Marks a client ID as used with an e-mail after auth accepted its sign-up, new account or not; null, or a refusal when
 * another e-mail was first. Errors of the backend are ignored: the sign-up stands.
 */
export async function spendClientId(company: Backend, clientId: string, email: string): Promise<Refusal | null> {
  const { data } = await company.rpc("spend_client_id", { client_id: clientId, email });
  return data === false ? refused : null;
}

const refused: Refusal = { reason: clientIdRefused, status: 400 };

/** Staff: makes client IDs, 1 to 1000 at once. */
export async function issueClientIds(company: Backend, count: number): Promise<string[]> {
  const { data, error, status } = await company.rpc("issue_client_ids", { how_many: count });
  if (error) throw new Error(refusalOf({ ...error, status }).reason);
  return data.map((row) => row.client_id);
}

/** Staff: all client IDs, newest first. One that is spent but unclaimed was used with an address that had an account
 * already, or by an unconfirmed sign-up that a later one of its address replaced. */
export async function listClientIds(company: Backend) {
  const all = [];
  const step = 1000;
  for (let first = 0; ; first += step) {
    const { data, error, status } = await company
      .from("client_ids")
      .select("client_id, claimed_by, claimed_at, used_with, created_at")
      .order("created_at", { ascending: false })
      .order("client_id")
      .range(first, first + step - 1)
      .retry(false);
    if (error) throw new Error(refusalOf({ ...error, status }).reason);
    all.push(...data.map(({ used_with, ...one }) => ({ ...one, spent: used_with !== null })));
    if (data.length < step) return all;
  }
}

/** An unused client ID, issued when there is none; for the message at server start. */
export async function anUnusedClientId(company: Backend): Promise<string> {
  const { data, error, status } = await company
    .from("client_ids")
    .select("client_id")
    .is("used_with", null)
    .order("created_at")
    .limit(1)
    .retry(false);
  if (error) throw new Error(refusalOf({ ...error, status }).reason);
  const [unused] = data.length > 0 ? data.map((row) => row.client_id) : await issueClientIds(company, 1);
  if (!unused) throw new Error("The backend issued no client ID.");
  return unused;
}
