/** Accounts: sign-up, confirmation, sign-in and sign-out with the backend's auth. */

import type { AuthError } from "@supabase/supabase-js";
import { deadlines } from "../lib/http/env.server.ts";
import { log, pseudonym } from "../lib/http/log.server.ts";
import type { RateLimiter } from "../lib/http/rate-limiter.server.ts";
import { toUserError, type UserError, userErrorFromThrown } from "../lib/http/user-error.server.ts";
import {
  type AppSupabaseClient,
  anonymousClient,
  getRenewalFailedSignal,
  serviceRoleClient,
} from "../lib/supabase/client.server.ts";
import { withTimeout } from "../lib/supabase/fetch.server.ts";
import { admitSignUp, redeemClientId } from "./client-id.server.ts";
import { normalizeClientId } from "./client-id.ts";

/** A refusal; the title tells whether the rules of sign-up refused it or the backend failed. */
export type SignUpFailure = UserError & { title: "Sign up Failed" | "Sign-up Failed" };

/**
 * Makes the account and sends its confirmation; null when the person is to look into their mailbox. An address that
 * has an account gets the same answer as a new one.
 */
export async function signUp(
  limits: RateLimiter,
  input: { clientId: string; fullName: string; email: string; password: string },
): Promise<SignUpFailure | null> {
  const clientId = normalizeClientId(input.clientId);
  const guess = await limits.consumeClientId();
  if ("reason" in guess) return toSignUpFailure(guess);
  const company = serviceRoleClient();
  const refused = await admitSignUp(company, clientId, input.email).catch(userErrorFromThrown);
  if (!refused || refused.status >= 500) guess.refund();
  if (refused) return logSignUpFailure(input.email, refused);
  const { error } = await anonymousClient()
    .auth.signUp({
      email: input.email,
      password: input.password,
      options: { data: { full_name: input.fullName, client_id: clientId } },
    })
    .catch((error: Error) => ({ error }));
  // Auth limits mails to known addresses only: hidden, so as not to reveal an account.
  if (error && !("code" in error && error.code === "over_email_send_rate_limit")) {
    const refusal = toUserError(error);
    // Auth has no words for the trigger that refuses a client ID which another sign-up spent meanwhile: it answers 500.
    const isRefusal = "status" in error && error.status === 500;
    const late = isRefusal ? await admitSignUp(company, clientId, input.email).catch(() => null) : null;
    return logSignUpFailure(input.email, late ?? refusal);
  }
  const late = await redeemClientId(company, clientId, input.email).catch(() => null);
  if (late) return logSignUpFailure(input.email, late);
  log("info", "sign-up", { account: pseudonym(input.email) });
  return null;
}

function logSignUpFailure(email: string, refusal: UserError): SignUpFailure {
  log("warn", "sign-up failed", { account: pseudonym(email), status: refusal.status });
  return toSignUpFailure(refusal);
}

function toSignUpFailure(refusal: UserError): SignUpFailure {
  return { ...refusal, title: refusal.status < 500 ? "Sign up Failed" : "Sign-up Failed" };
}

/** An address that nobody has: RFC 2606. */
const unassignedEmail = "nobody@account.invalid";

/**
 * Has auth judge a password. It refuses a closed account before it looks at the password: there the time is taken all the
 * same, so that nobody tells closed accounts by it.
 */
export async function logInWithPassword(backend: AppSupabaseClient, given: { email: string; password: string }) {
  const answer = await backend.auth.signInWithPassword(given);
  if (answer.error?.code === "user_banned")
    await anonymousClient()
      .auth.signInWithPassword({ ...given, email: unassignedEmail })
      .catch(() => undefined);
  return answer;
}

/**
 * Confirms the address of a sign-up, by the token from its mail and the password: with the token alone, the mailbox's
 * owner could activate an account whose password somebody else chose. Null when confirmed, now or before; leaves no
 * session. Wrong passwords are answered and counted as at the login.
 */
export async function confirmEmail(
  limits: RateLimiter,
  { email, password, token }: { email: string; password: string; token: string },
): Promise<UserError | null> {
  const attempt = await limits.consumeLogin(email);
  if ("reason" in attempt) return attempt;
  const backend = anonymousClient();
  const login = await logInWithPassword(backend, { email, password }).catch((error: AuthError) => ({ error }));
  const waits = login.error?.code === "email_not_confirmed";
  if (login.error && !waits) {
    log("warn", "confirmation failed", { account: pseudonym(email), reason: login.error.code });
    const refusal = toUserError(login.error);
    if (refusal.status >= 500) attempt.refund();
    return refusal;
  }
  attempt.refund();
  const refused = waits ? await redeemConfirmationToken(backend, email, token).catch(userErrorFromThrown) : null;
  if (refused) return refused;
  await backend.auth.signOut({ scope: "local" }).catch(() => undefined);
  log("info", "confirmation", { account: pseudonym(email) });
  return null;
}

/** Spends the token of a confirmation link on the account whose password was just given; null when it is confirmed. */
async function redeemConfirmationToken(
  backend: AppSupabaseClient,
  email: string,
  token: string,
): Promise<UserError | null> {
  const { data, error, status } = await serviceRoleClient().rpc("mark_password_proven", { email, token });
  if (error) return toUserError({ ...error, status });
  if (!data) return toUserError({ message: "", code: "otp_expired" });
  const verified = await backend.auth.verifyOtp({ token_hash: token, type: "signup" });
  return verified.error && toUserError(verified.error);
}

export type LogInFailure = UserError & { title: "Login Failed" | "Sign in Failed" };

/** Whether the account that has just signed in has a second factor, whose code is asked for next. */
export type LogInResult = { requiresSecondFactor: boolean };

/** Auth sends no mail again within a minute; the link of the last one opens the account all the same. */
const linkNotSentText =
  "The link that we mailed you holds: open it, then log in. If it is lost, log in again in a few minutes, and we send it again.";

/**
 * Signs in on this browser. Somebody with the right password and an unconfirmed address gets the confirmation mail again,
 * or hears that none was sent. Wrong passwords count against the limits; failures of the backend do not.
 */
export async function logIn(
  backend: AppSupabaseClient,
  limits: RateLimiter,
  email: string,
  password: string,
): Promise<LogInResult | LogInFailure> {
  const attempt = await limits.consumeLogin(email);
  if ("reason" in attempt) return toLogInFailure(attempt);
  const { data, error } = await withTimeout(deadlines().write, logInWithPassword(backend, { email, password })).catch(
    (error: Error) => ({ data: null, error }),
  );
  if (!error) {
    attempt.refund();
    log("info", "sign-in", { account: pseudonym(email) });
    return { requiresSecondFactor: data.user.factors?.some(({ status }) => status === "verified") ?? false };
  }
  log("warn", "sign-in failed", {
    account: pseudonym(email),
    reason: "code" in error ? String(error.code) : error.name,
  });
  if ("code" in error && error.code === "email_not_confirmed") {
    attempt.refund();
    const again = await anonymousClient()
      .auth.resend({ type: "signup", email })
      .catch((error: Error) => ({ error }));
    const link = again.error ? linkNotSentText : "We have sent you the link again: open it, then log in.";
    return { title: "Login Failed", reason: `Your e-mail address is not confirmed yet. ${link}`, status: 400 };
  }
  const refusal = toUserError(error);
  if (refusal.status >= 500) attempt.refund();
  return toLogInFailure(refusal);
}

function toLogInFailure(refusal: UserError): LogInFailure {
  return { ...refusal, title: refusal.status < 500 ? "Login Failed" : "Sign in Failed" };
}

/**
 * Ends the session at the backend; null when done. The caller removes the browser's cookies in any case (endSession): a
 * refusal means that the backend could not be told.
 */
export async function signOut(backend: AppSupabaseClient): Promise<UserError | null> {
  const { error } = await withTimeout(
    deadlines().write,
    backend.auth.signOut({ scope: "local" }),
    getRenewalFailedSignal(backend),
  ).catch((error: Error) => ({
    error,
  }));
  log("info", "sign-out", { told: !error });
  return error && !isSessionMissing(error) ? toUserError(error) : null;
}

/** Whether auth says that there is no such session any more: ended elsewhere, or too old to be renewed. */
function isSessionMissing({ name, code }: { name: string; code?: unknown }): boolean {
  return name === "AuthSessionMissingError" || ["refresh_token_not_found", "session_not_found"].includes(String(code));
}
