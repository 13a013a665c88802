/** Client IDs through the company's handle: the check at sign-up, and issuing them. */
import { type Refusal, refusalOf } from "../lib/refusal.server.ts";
import type { Backend } from "../lib/supabase.server.ts";
import { clientIdRefused } from "./client-id.ts";
import { once, type Told, tell } from "./colleague.server.ts";
import { act, type Done, orThrow, type Signed } from "./desk-act.server.ts";
import { clientInvitation, type Letterhead } from "./letter.ts";

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

/** For whom client IDs are issued, as the company calls them, and where one is sent. */
export type Issue = { count: number; for?: string; email?: string };

/** Issues client IDs, 1 to 1000 at once. */
export async function issueClientIds(
  backend: Backend,
  { count, for: issued_for, email: sent_to }: Issue,
  signed: Omit<Signed, "seen"> = {},
): Promise<Done<string[]> | Refusal> {
  const issued = await act(backend, "issue_client_ids", { how_many: count, issued_for, sent_to, ...signed });
  return "reason" in issued ? issued : { answer: issued.answer.map(({ client_id }) => client_id) };
}

/**
 * Mails a client ID to the address it was issued for, with a link to the sign-up. What could not be handed over is listed at
 * the desk.
 */
export async function sendClientId(
  backend: Backend,
  company: Backend,
  head: Letterhead,
  clientId: string,
  signed: Omit<Signed, "seen">,
): Promise<Told> {
  const asked = await act(backend, "send_client_id", { client_id: clientId, ...signed });
  if ("reason" in asked) return asked;
  const email = asked.answer;
  return once(company, signed.request, email, () =>
    tell(company, head, { kind: "client ID", email, client_id: clientId }, clientInvitation(head, clientId)),
  );
}

/** Withdraws an unused client ID. */
export function withdrawClientId(backend: Backend, clientId: string, reason: string, by_name?: string) {
  return act(backend, "withdraw_client_id", { client_id: clientId, reason, by_name });
}

/** Staff: all client IDs, newest first. One that is spent but unclaimed was used with an address that had an account
 * already, or by an unconfirmed sign-up that a later one of its address replaced. */
export async function listClientIds(company: Backend) {
  const all = [];
  const step = 1000;
  for (let first = 0; ; first += step) {
    const { data, error, status } = await company
      .from("client_ids")
      .select("client_id, claimed_by, claimed_at, used_with, created_at, issued_for, sent_to")
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
  const issue = async () => orThrow(await issueClientIds(company, { count: 1 }));
  const [unused] = data.length > 0 ? data.map((row) => row.client_id) : await issue();
  if (!unused) throw new Error("The backend issued no client ID.");
  return unused;
}
