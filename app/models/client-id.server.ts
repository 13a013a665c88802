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
 * Returns null if an address may sign up with a client ID. The check comes before the sign-up, so that the response to a
 * wrong ID does not show if the address has an account. Deletes an earlier unconfirmed sign-up of the address.
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

/** Marks a client ID as used after a sign-up. Ignores errors of the backend, because the account exists by then. */
export async function redeemClientId(
  company: AppSupabaseClient,
  clientId: string,
  email: string,
): Promise<UserError | null> {
  const { data } = await company.rpc("redeem_client_id", { client_id: clientId, email });
  return data === false ? invalidClientIdError : null;
}

const invalidClientIdError: UserError = { reason: clientIdInvalid, status: 400 };

export type IssueClientIdsParams = { count: number; for?: string; email?: string };

export async function issueClientIds(
  backend: AppSupabaseClient,
  { count, for: issued_for, email: sent_to }: IssueClientIdsParams,
  signed: Omit<StaffActionOptions, "expected_version"> = {},
): Promise<StaffActionResult<string[]> | UserError> {
  const issued = await runStaffAction(backend, "issue_client_ids", { how_many: count, issued_for, sent_to, ...signed });
  return "reason" in issued ? issued : { result: issued.result.map(({ client_id }) => client_id) };
}

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

/** A spent ID without a claim belongs to an address that had an account, or to a replaced sign-up. Throws. */
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

/** Returns an unused client ID. Issues one if there is none. */
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
