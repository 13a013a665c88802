/** Accounts: sign-up, confirmation, sign-in and sign-out with the backend's auth. */

import type { AuthError } from "@supabase/supabase-js";
import { within } from "../lib/backend-fetch.server.ts";
import { deadlines } from "../lib/env.server.ts";
import type { Limits } from "../lib/limits.server.ts";
import { log, pseudonym } from "../lib/log.server.ts";
import { type Refusal, refusalOf, refusalOfThrown } from "../lib/refusal.server.ts";
import { anonymousBackend, type Backend, companyBackend, renewalFailed } from "../lib/supabase.server.ts";
import { admitSignUp, spendClientId } from "./client-id.server.ts";
import { normalizeClientId } from "./client-id.ts";

/** A refusal; the title tells whether the rules of sign-up refused it or the backend failed. */
export type SignUpFailure = Refusal & { title: "Sign up Failed" | "Sign-up Failed" };

/**
 * Makes the account and sends its confirmation; null when the person is to look into their mailbox. An address that
 * has an account gets the same answer as a new one.
 */
export async function signUp(
  limits: Limits,
  input: { clientId: string; fullName: string; email: string; password: string },
): Promise<SignUpFailure | null> {
  const clientId = normalizeClientId(input.clientId);
  const guess = await limits.clientId();
  if ("reason" in guess) return titled(guess);
  const company = companyBackend();
  const refused = await admitSignUp(company, clientId, input.email).catch(refusalOfThrown);
  if (!refused || refused.status >= 500) guess.release();
  if (refused) return signUpFailed(input.email, refused);
  const { error } = await anonymousBackend()
    .auth.signUp({
      email: input.email,
      password: input.password,
      options: { data: { full_name: input.fullName, client_id: clientId } },
    })
    .catch((error: Error) => ({ error }));
  // Auth limits mails to known addresses only: hidden, so as not to reveal an account.
  if (error && !("code" in error && error.code === "over_email_send_rate_limit")) {
    const refusal = refusalOf(error);
    // Auth has no words for the trigger that refuses a client ID which another sign-up spent meanwhile: it answers 500.
    const isRefusal = "status" in error && error.status === 500;
    const late = isRefusal ? await admitSignUp(company, clientId, input.email).catch(() => null) : null;
    return signUpFailed(input.email, late ?? refusal);
  }
  const late = await spendClientId(company, clientId, input.email).catch(() => null);
  if (late) return signUpFailed(input.email, late);
  log("info", "sign-up", { account: pseudonym(input.email) });
  return null;
}

function signUpFailed(email: string, refusal: Refusal): SignUpFailure {
  log("warn", "sign-up failed", { account: pseudonym(email), status: refusal.status });
  return titled(refusal);
}

function titled(refusal: Refusal): SignUpFailure {
  return { ...refusal, title: refusal.status < 500 ? "Sign up Failed" : "Sign-up Failed" };
}

/** An address that nobody has: RFC 2606. */
const nobody = "nobody@account.invalid";

/**
 * Has auth judge a password. It refuses a closed account before it looks at the password: there the time is taken all the
 * same, so that nobody tells closed accounts by it.
 */
export async function givePassword(backend: Backend, given: { email: string; password: string }) {
  const answer = await backend.auth.signInWithPassword(given);
  if (answer.error?.code === "user_banned")
    await anonymousBackend()
      .auth.signInWithPassword({ ...given, email: nobody })
      .catch(() => undefined);
  return answer;
}

/**
 * Confirms the address of a sign-up, by the token from its mail and the password: with the token alone, the mailbox's
 * owner could activate an account whose password somebody else chose. Null when confirmed, now or before; leaves no
 * session. Wrong passwords are answered and counted as at the login.
 */
export async function confirmAddress(
  limits: Limits,
  { email, password, token }: { email: string; password: string; token: string },
): Promise<Refusal | null> {
  const attempt = await limits.login(email);
  if ("reason" in attempt) return attempt;
  const backend = anonymousBackend();
  const login = await givePassword(backend, { email, password }).catch((error: AuthError) => ({ error }));
  const waits = login.error?.code === "email_not_confirmed";
  if (login.error && !waits) {
    log("warn", "confirmation failed", { account: pseudonym(email), reason: login.error.code });
    const refusal = refusalOf(login.error);
    if (refusal.status >= 500) attempt.release();
    return refusal;
  }
  attempt.release();
  const refused = waits ? await spendToken(backend, email, token).catch(refusalOfThrown) : null;
  if (refused) return refused;
  await backend.auth.signOut({ scope: "local" }).catch(() => undefined);
  log("info", "confirmation", { account: pseudonym(email) });
  return null;
}

/** Spends the token of a confirmation link on the account whose password was just given; null when it is confirmed. */
async function spendToken(backend: Backend, email: string, token: string): Promise<Refusal | null> {
  const { data, error, status } = await companyBackend().rpc("prove_password", { email, token });
  if (error) return refusalOf({ ...error, status });
  if (!data) return refusalOf({ message: "", code: "otp_expired" });
  const verified = await backend.auth.verifyOtp({ token_hash: token, type: "signup" });
  return verified.error && refusalOf(verified.error);
}

export type SignInFailure = Refusal & { title: "Login Failed" | "Sign in Failed" };

/** Whether the account that has just signed in has a second factor, whose code is asked for next. */
export type SignedIn = { asksForCode: boolean };

/** Auth sends no mail again within a minute; the link of the last one opens the account all the same. */
const linkNotSent =
  "The link that we mailed you holds: open it, then log in. If it is lost, log in again in a few minutes, and we send it again.";

/**
 * Signs in on this browser. Somebody with the right password and an unconfirmed address gets the confirmation mail again,
 * or hears that none was sent. Wrong passwords count against the limits; failures of the backend do not.
 */
export async function signIn(
  backend: Backend,
  limits: Limits,
  email: string,
  password: string,
): Promise<SignedIn | SignInFailure> {
  const attempt = await limits.login(email);
  if ("reason" in attempt) return signInFailure(attempt);
  const { data, error } = await within(deadlines().write, givePassword(backend, { email, password })).catch(
    (error: Error) => ({ data: null, error }),
  );
  if (!error) {
    attempt.release();
    log("info", "sign-in", { account: pseudonym(email) });
    return { asksForCode: data.user.factors?.some(({ status }) => status === "verified") ?? false };
  }
  log("warn", "sign-in failed", {
    account: pseudonym(email),
    reason: "code" in error ? String(error.code) : error.name,
  });
  if ("code" in error && error.code === "email_not_confirmed") {
    attempt.release();
    const again = await anonymousBackend()
      .auth.resend({ type: "signup", email })
      .catch((error: Error) => ({ error }));
    const link = again.error ? linkNotSent : "We have sent you the link again: open it, then log in.";
    return { title: "Login Failed", reason: `Your e-mail address is not confirmed yet. ${link}`, status: 400 };
  }
  const refusal = refusalOf(error);
  if (refusal.status >= 500) attempt.release();
  return signInFailure(refusal);
}

function signInFailure(refusal: Refusal): SignInFailure {
  return { ...refusal, title: refusal.status < 500 ? "Login Failed" : "Sign in Failed" };
}

/**
 * Ends the session at the backend; null when done. The caller removes the browser's cookies in any case (endSession): a
 * refusal means that the backend could not be told.
 */
export async function signOut(backend: Backend): Promise<Refusal | null> {
  const { error } = await within(
    deadlines().write,
    backend.auth.signOut({ scope: "local" }),
    renewalFailed(backend),
  ).catch((error: Error) => ({
    error,
  }));
  log("info", "sign-out", { told: !error });
  return error && !isGone(error) ? refusalOf(error) : null;
}

/** Whether auth says that there is no such session any more: ended elsewhere, or too old to be renewed. */
function isGone({ name, code }: { name: string; code?: unknown }): boolean {
  return name === "AuthSessionMissingError" || ["refresh_token_not_found", "session_not_found"].includes(String(code));
}
