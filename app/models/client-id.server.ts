/** Client IDs through the company's handle: the check at sign-up, and issuing them. */
import { toUserError, type UserError } from "../lib/http/user-error.server.ts";
import type { AppSupabaseClient } from "../lib/supabase/client.server.ts";
import { clientIdInvalid } from "./client-id.ts";
import { type EmailResult, sendOnce, trySendEmail } from "./email.server.ts";
import { clientInvitationEmail, type EmailSender } from "./emails.ts";
import {
  resultOrThrow,
  runStaffAction,
  type StaffActionOptions,
  type StaffActionResult,
} from "./staff-action.server.ts";

/**
 * Whether this e-mail may sign up with this client ID; null or a refusal. Called before the sign-up so that a wrong ID
 * gets the same answer whether or not the address has an account. Also deletes an earlier, unconfirmed sign-up of the
 * address. The database checks the ID again at sign-up.
 */
export async function admitSignUp(
  company: AppSupabaseClient,
  clientId: string,
  email: string,
): Promise<UserError | null> {
  const { data, error, status } = await company.rpc("admit_sign_up", { client_id: clientId, email });
  if (error) return toUserError({ ...error, status });
  return data === true ? null : invalidClientIdError;
}

/**
 * Marks a client ID as used with an e-mail after auth accepted its sign-up, new account or not; null, or a refusal when
 * another e-mail was first. Errors of the backend are ignored: the sign-up stands.
 */
export async function redeemClientId(
  company: AppSupabaseClient,
  clientId: string,
  email: string,
): Promise<UserError | null> {
  const { data } = await company.rpc("redeem_client_id", { client_id: clientId, email });
  return data === false ? invalidClientIdError : null;
}

const invalidClientIdError: UserError = { reason: clientIdInvalid, status: 400 };

/** For whom client IDs are issued, as the company calls them, and where one is sent. */
export type IssueClientIdsParams = { count: number; for?: string; email?: string };

/** Issues client IDs, 1 to 1000 at once. */
export async function issueClientIds(
  backend: AppSupabaseClient,
  { count, for: issued_for, email: sent_to }: IssueClientIdsParams,
  signed: Omit<StaffActionOptions, "expected_version"> = {},
): Promise<StaffActionResult<string[]> | UserError> {
  const issued = await runStaffAction(backend, "issue_client_ids", { how_many: count, issued_for, sent_to, ...signed });
  return "reason" in issued ? issued : { result: issued.result.map(({ client_id }) => client_id) };
}

/**
 * Mails a client ID to the address it was issued for, with a link to the sign-up. What could not be handed over is listed at
 * the desk.
 */
export async function sendClientId(
  backend: AppSupabaseClient,
  company: AppSupabaseClient,
  head: EmailSender,
  clientId: string,
  signed: Omit<StaffActionOptions, "expected_version">,
): Promise<EmailResult> {
  const asked = await runStaffAction(backend, "send_client_id", { client_id: clientId, ...signed });
  if ("reason" in asked) return asked;
  const email = asked.result;
  return sendOnce(company, signed.idempotency_key, email, () =>
    trySendEmail(
      company,
      head,
      { kind: "client ID", email, client_id: clientId },
      clientInvitationEmail(head, clientId),
    ),
  );
}

/** Staff: all client IDs, newest first. One that is spent but unclaimed was used with an address that had an account
 * already, or by an unconfirmed sign-up that a later one of its address replaced. */
export async function listClientIds(company: AppSupabaseClient) {
  const all = [];
  const step = 1000;
  for (let first = 0; ; first += step) {
    const { data, error, status } = await company
      .from("client_ids")
      .select("client_id, account_id, claimed_at, email_hash, created_at, issued_for, sent_to")
      .order("created_at", { ascending: false })
      .order("client_id")
      .range(first, first + step - 1)
      .retry(false);
    if (error) throw new Error(toUserError({ ...error, status }).reason);
    all.push(...data.map(({ email_hash, ...one }) => ({ ...one, spent: email_hash !== null })));
    if (data.length < step) return all;
  }
}

/** An unused client ID, issued when there is none; for the message at server start. */
export async function ensureUnusedClientId(company: AppSupabaseClient): Promise<string> {
  const { data, error, status } = await company
    .from("client_ids")
    .select("client_id")
    .is("email_hash", null)
    .order("created_at")
    .limit(1)
    .retry(false);
  if (error) throw new Error(toUserError({ ...error, status }).reason);
  const issue = async () => resultOrThrow(await issueClientIds(company, { count: 1 }));
  const [unused] = data.length > 0 ? data.map((row) => row.client_id) : await issue();
  if (!unused) throw new Error("The backend issued no client ID.");
  return unused;
}
