/** Accounts: sign-up, confirmation, sign-in and sign-out with the backend's auth. */

import { within } from "../lib/backend-fetch.server.ts";
import type { Limits } from "../lib/limits.server.ts";
import { log, pseudonym } from "../lib/log.server.ts";
import { type Refusal, refusalOf, refusalOfThrown } from "../lib/refusal.server.ts";
import { anonymousBackend, type Backend, companyBackend, renewalFailed } from "../lib/supabase.server.ts";
import { checkClientId } from "./client-id.server.ts";
import { normalizeClientId } from "./client-id.ts";

/** A refusal and who gave it: the rules of sign-up, or a backend that could not do it. */
export type SignUpFailure = Refusal & { title: "Sign up Failed" | "Sign-up Failed" };

/** How long auth may take with its own retries, in milliseconds. */
const authDeadline = 10_000;

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
  const refused = await checkClientId(companyBackend(), clientId, input.email).catch(refusalOfThrown);
  if (!refused) await guess.release();
  else if (refused.status >= 500) void guess.release();
  if (refused) {
    log("warn", "sign-up failed", { account: pseudonym(input.email), status: refused.status });
    return titled(refused);
  }
  const { error } = await anonymousBackend()
    .auth.signUp({
      email: input.email,
      password: input.password,
      options: { data: { full_name: input.fullName, client_id: clientId } },
    })
    .catch((error: Error) => ({ error }));
  // "Too soon for another mail" is said of known addresses only, so nobody hears it.
  if (!error || ("code" in error && error.code === "over_email_send_rate_limit")) {
    log("info", "sign-up", { account: pseudonym(input.email) });
    return null;
  }
  return titled(refusalOf(error));
}

function titled(refusal: Refusal): SignUpFailure {
  return { ...refusal, title: refusal.status < 500 ? "Sign up Failed" : "Sign-up Failed" };
}

/** Spends the token of a confirmation link; null when the address is confirmed. Leaves no session. */
export async function confirmAddress(token: string): Promise<Refusal | null> {
  const backend = anonymousBackend();
  const { error } = await backend.auth
    .verifyOtp({ token_hash: token, type: "signup" })
    .catch((error: Error) => ({ error }));
  if (error) return refusalOf(error);
  await backend.auth.signOut().catch(() => undefined);
  return null;
}

export type SignInFailure = Refusal & { title: "Login Failed" | "Sign in Failed" };

/**
 * Signs in on this browser; null when done. Somebody with the right password and an unconfirmed address gets the
 * confirmation again. What fails for the person's part counts against the limits.
 */
export async function signIn(
  backend: Backend,
  limits: Limits,
  email: string,
  password: string,
): Promise<SignInFailure | null> {
  const attempt = await limits.login(email);
  if ("reason" in attempt) return signInFailure(attempt);
  const { error } = await within(authDeadline, backend.auth.signInWithPassword({ email, password })).catch(
    (error: Error) => ({ error }),
  );
  if (!error) {
    await attempt.release();
    log("info", "sign-in", { account: pseudonym(email) });
    return null;
  }
  log("warn", "sign-in failed", {
    account: pseudonym(email),
    reason: "code" in error ? String(error.code) : error.name,
  });
  if ("code" in error && error.code === "email_not_confirmed") {
    await anonymousBackend()
      .auth.resend({ type: "signup", email })
      .catch(() => undefined);
    return {
      title: "Login Failed",
      reason: "Your e-mail address is not confirmed yet. We have sent you the link again: open it, then log in.",
      status: 400,
    };
  }
  const refusal = refusalOf(error);
  if (refusal.status >= 500) void attempt.release();
  return signInFailure(refusal);
}

function signInFailure(refusal: Refusal): SignInFailure {
  return { ...refusal, title: refusal.status < 500 ? "Login Failed" : "Sign in Failed" };
}

/** Whether the account that has just signed in asks for the code of a second factor. */
export async function asksForCode(backend: Backend): Promise<boolean> {
  const { data } = await within(authDeadline, backend.auth.getUser()).catch(() => ({ data: { user: null } }));
  return data.user?.factors?.some(({ status }) => status === "verified") ?? false;
}

/**
 * Ends the session here and at the backend; null when both are done. The browser's part is done in any case: the
 * refusal says that the backend could not be told.
 */
export async function signOut(backend: Backend): Promise<Refusal | null> {
  const { error } = await within(authDeadline, backend.auth.signOut({ scope: "local" }), renewalFailed(backend)).catch(
    (error: Error) => ({
      error,
    }),
  );
  log("info", "sign-out", { told: !error });
  return error && error.name !== "AuthSessionMissingError" ? refusalOf(error) : null;
}
