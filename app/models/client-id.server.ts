import { z } from "zod";
import { foldCode } from "../lib/forms/text-fields.ts";
import { log, pseudonym } from "../lib/http/log.server.ts";
import type { RateLimiter } from "../lib/http/rate-limiter.server.ts";
import { toUserError, type UserError, userErrorFromThrown } from "../lib/http/user-error.server.ts";
import { type AppSupabaseClient, anonymousClient, serviceRoleClient } from "../lib/supabase/client.server.ts";
import { dataOrThrow, fetchPages, getResultError } from "../lib/supabase/result.server.ts";
import { type EmailResult, sendOnce, trySendEmail } from "./email-delivery.server.ts";
import { clientInvitationEmail } from "./emails.ts";
import {
  resultOrThrow,
  runStaffAction,
  type StaffActionCall,
  type StaffActionOptions,
  type StaffActionResult,
} from "./staff.server.ts";

/** Returns a typed Client ID in the form 7K3Q-X9MD-2HTV-W5BC. Reads O as 0, and I and L as 1 (Crockford's base 32). */
export function normalizeClientId(input: string): string {
  const typed = foldCode(input);
  const plain = typed
    .toUpperCase()
    .replace(/[\s-]|^[*"'(]+|[*"').,]+$/g, "")
    .replace(/O/g, "0")
    .replace(/[IL]/g, "1");
  return /^[0-9A-HJKMNP-TV-Z]{16}$/.test(plain) ? (plain.match(/.{4}/g) ?? []).join("-") : typed.toUpperCase();
}

export const UnusedClientId = z.string().min(12).max(64);

/** Section 5 of the specification prescribes this text. */
export const clientIdRequired = "A valid Client ID provided by the company is required.";

/** The message for unknown and for used Client IDs. The hook in supabase/schemas/sign_up.sql has the same text. */
export const clientIdInvalid = "This Client ID is unknown or has already been used. Ask us for a new Client ID.";

/** Checks the Client ID before the sign-up, because an error of Supabase Auth could reveal that an account exists. */
async function admitSignUp(clientId: string, email: string): Promise<UserError | null> {
  const result = await serviceRoleClient().rpc("admit_sign_up", { client_id: clientId, email });
  return getResultError(result) ?? (result.data === true ? null : invalidClientIdError);
}

/** Marks a Client ID as used. Returns an error only for an invalid Client ID, because the account already exists. */
async function redeemClientId(clientId: string, email: string): Promise<UserError | null> {
  const { data } = await serviceRoleClient().rpc("redeem_client_id", { client_id: clientId, email });
  return data === false ? invalidClientIdError : null;
}

const invalidClientIdError: UserError = { reason: clientIdInvalid, status: 400 };

type SignUpFailure = UserError & { title: "Sign up Failed" | "Sign-up Failed" };

/** Returns the same result for addresses with and without an account, so that the form does not reveal accounts. */
export async function signUp(
  limits: RateLimiter,
  input: { clientId: string; fullName: string; email: string; password: string },
): Promise<SignUpFailure | null> {
  const clientId = normalizeClientId(input.clientId);
  const guess = await limits.consumeClientId();
  if ("reason" in guess) return toSignUpFailure(guess);
  const email = await limits.consumeEmail(input.email);
  if ("reason" in email) {
    guess.refund();
    return toSignUpFailure(email);
  }
  const rejection = await admitSignUp(clientId, input.email).catch(userErrorFromThrown);
  if (!rejection || rejection.status >= 500) guess.refund();
  if (rejection) {
    email.refund();
    return logSignUpFailure(input.email, rejection);
  }
  const data = { full_name: input.fullName, client_id: clientId };
  const { error } = await anonymousClient()
    .auth.signUp({ email: input.email, password: input.password, options: { data } })
    .catch((error: Error) => ({ error }));
  // Supabase Auth applies its email limit only to addresses with an account, so this error would reveal the account.
  if (error && !("code" in error && error.code === "over_email_send_rate_limit")) {
    email.refund();
    const userError = toUserError(error);
    // Supabase Auth responds with 500 if another sign-up has just used the Client ID.
    const isRejected = "status" in error && error.status === 500;
    const conflict = isRejected ? await admitSignUp(clientId, input.email).catch(() => null) : null;
    return logSignUpFailure(input.email, conflict ?? userError);
  }
  const conflict = await redeemClientId(clientId, input.email).catch(() => null);
  if (conflict) return logSignUpFailure(input.email, conflict);
  log("info", "sign-up", { account: pseudonym(input.email) });
  return null;
}

function logSignUpFailure(email: string, userError: UserError): SignUpFailure {
  log("warn", "sign-up failed", { account: pseudonym(email), status: userError.status });
  return toSignUpFailure(userError);
}

function toSignUpFailure(userError: UserError): SignUpFailure {
  return { ...userError, title: userError.status < 500 ? "Sign up Failed" : "Sign-up Failed" };
}

export async function issueClientIds(
  supabase: AppSupabaseClient,
  { count, for: issued_for, email: sent_to }: { count: number; for?: string; email?: string },
  staffOptions: Omit<StaffActionOptions, "expected_version"> = {},
): Promise<StaffActionResult<string[]> | UserError> {
  const args = { how_many: count, issued_for, sent_to, ...staffOptions };
  const issued = await runStaffAction(supabase, "issue_client_ids", args);
  return "reason" in issued ? issued : { result: issued.result.map(({ client_id }) => client_id) };
}

export async function sendClientId(
  { supabase, serviceRole, emailSender, options: { idempotency_key, actor_name } }: StaffActionCall,
  client_id: string,
): Promise<EmailResult> {
  const sender = emailSender();
  const sendResult = await runStaffAction(supabase, "send_client_id", { client_id, idempotency_key, actor_name });
  if ("reason" in sendResult) return sendResult;
  const query = serviceRole().from("client_ids").select("issued_for").eq("client_id", client_id);
  const { data } = await query.maybeSingle();
  const to = { kind: "client ID", email: sendResult.result, name: data?.issued_for ?? null, client_id };
  return sendOnce(serviceRole(), idempotency_key, to, () =>
    trySendEmail(serviceRole(), sender, to, (sender, name) => clientInvitationEmail(sender, name, client_id)),
  );
}

/** A used Client ID has no `account_id` if the account was deleted, for example by a later sign-up. */
export async function listClientIds(serviceRole: AppSupabaseClient) {
  const all = [];
  const pages = fetchPages((first, last) =>
    serviceRole
      .from("client_ids")
      .select("client_id, account_id, claimed_at, email_hash, created_at, issued_for, sent_to")
      .order("created_at", { ascending: false })
      .order("client_id")
      .range(first, last)
      .retry(false),
  );
  for await (const page of pages)
    all.push(...page.map(({ email_hash, ...row }) => ({ ...row, isUsed: email_hash !== null })));
  return all;
}

export async function ensureUnusedClientId(serviceRole: AppSupabaseClient): Promise<string> {
  const query = serviceRole.from("client_ids").select("client_id").is("email_hash", null);
  const [existing] = dataOrThrow(await query.order("created_at").limit(1).retry(false));
  const [unused] = existing ? [existing.client_id] : resultOrThrow(await issueClientIds(serviceRole, { count: 1 }));
  if (!unused) throw new Error("The backend issued no Client ID.");
  return unused;
}
