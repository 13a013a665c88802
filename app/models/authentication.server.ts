import type { AuthError } from "@supabase/supabase-js";
import { z } from "zod";
import type { IntentError } from "../lib/forms/intent-form.server.ts";
import { normalizePassword } from "../lib/forms/text-fields.ts";
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
import { getResultError, parseResult } from "../lib/supabase/result.server.ts";
import { trySendEmail } from "./email-delivery.server.ts";
import { type EmailSender, passwordChangedEmail } from "./emails.ts";
import { type TypedCredentials, verifyTotp } from "./second-factor.server.ts";

/** No account can have this address, because RFC 2606 reserves the domain .invalid. */
const unassignedEmail = "nobody@account.invalid";

type Credentials = { email: string; password: string };

/** Tries the normalised password, then the typed password. Returns the result and the password of the last attempt. */
export async function logInWithPassword(supabase: AppSupabaseClient, { email, password: typed }: Credentials) {
  const password = normalizePassword(typed);
  const result = await logInWithExactPassword(supabase, { email, password });
  // Passwords that were not set in our forms may not be normalised, so the site also tries the password as typed. For a
  // closed account, the site also tries both passwords, so that response times are equal.
  const isRejected = ["invalid_credentials", "user_banned"].includes(String(result.error?.code));
  if (password === typed || !isRejected) return { ...result, password };
  return { ...(await logInWithExactPassword(supabase, { email, password: typed })), password: typed };
}

/** Supabase Auth rejects a closed account without a password check. The second login takes the time of this check. */
async function logInWithExactPassword(supabase: AppSupabaseClient, credentials: Credentials) {
  const result = await supabase.auth.signInWithPassword(credentials);
  if (result.error?.code === "user_banned")
    await anonymousClient()
      .auth.signInWithPassword({ ...credentials, email: unassignedEmail })
      .catch(() => undefined);
  return result;
}

/** Confirms the email address and logs in. Requires the password, because a stranger may have signed up. */
export async function confirmEmail(
  supabase: AppSupabaseClient,
  limits: RateLimiter,
  { email, password, token }: { email: string; password: string; token: string },
): Promise<LogInResult | UserError> {
  const attempt = await limits.consumeLogin(email);
  if ("reason" in attempt) return attempt;
  const anonymous = anonymousClient();
  const { error } = await logInWithPassword(anonymous, { email, password }).catch((error: AuthError) => ({ error }));
  const isUnconfirmed = error?.code === "email_not_confirmed";
  if (error && !isUnconfirmed) {
    log("warn", "confirmation failed", { account: pseudonym(email), reason: error.code });
    const userError = toUserError(error);
    if (userError.status >= 500) attempt.refund();
    return userError;
  }
  attempt.refund();
  const rejection = isUnconfirmed
    ? await redeemConfirmationToken(anonymous, email, token).catch(userErrorFromThrown)
    : null;
  if (rejection) return rejection;
  await anonymous.auth.signOut({ scope: "local" }).catch(() => undefined);
  log("info", "confirmation", { account: pseudonym(email) });
  return logIn(supabase, limits, email, password);
}

async function redeemConfirmationToken(supabase: AppSupabaseClient, email: string, token: string) {
  const proven = await serviceRoleClient().rpc("mark_password_proven", { email, token });
  const failure = getResultError(proven);
  if (failure) return failure;
  if (!proven.data) return toUserError({ message: "", code: "otp_expired" });
  return getResultError(await supabase.auth.verifyOtp({ token_hash: token, type: "signup" }));
}

export type LogInFailure = UserError & { title: "Login Failed" | "Sign in Failed" };

export type LogInResult = { requiresSecondFactor: boolean };

/** Only the right password reveals that an address is unconfirmed. Backend errors do not count as failed logins. */
export async function logIn(
  supabase: AppSupabaseClient,
  limits: RateLimiter,
  email: string,
  password: string,
): Promise<LogInResult | LogInFailure> {
  const attempt = await limits.consumeLogin(email);
  if ("reason" in attempt) return toLogInFailure(attempt);
  const { data, error } = await withTimeout(deadlines().write, logInWithPassword(supabase, { email, password })).catch(
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
    const reason = `Your email address is not confirmed yet. ${await resendConfirmation(limits, email)}`;
    return { title: "Login Failed", reason, status: 400 };
  }
  const userError = toUserError(error);
  if (userError.status >= 500) attempt.refund();
  return toLogInFailure(userError);
}

async function resendConfirmation(limits: RateLimiter, email: string): Promise<string> {
  const attempt = await limits.consumeEmail(email, "To get another email, log in again");
  if ("reason" in attempt) return `Open the link in our newest email. ${attempt.reason}`;
  const { error } = await anonymousClient()
    .auth.resend({ type: "signup", email })
    .catch((error: Error) => ({ error }));
  if (!error) return "We have emailed you a new link. Open that link, then log in.";
  attempt.refund();
  // Supabase Auth rejects a second email within a minute. The previous link is still valid.
  return "Open the link in our email first. No email? Log in again in 5 minutes, and we will email you a new link.";
}

function toLogInFailure(userError: UserError): LogInFailure {
  return { ...userError, title: userError.status < 500 ? "Login Failed" : "Sign in Failed" };
}

/** Returns an error if the session may still exist. The caller removes the cookies in any case. */
export async function signOut(supabase: AppSupabaseClient): Promise<UserError | null> {
  const { error } = await withTimeout(
    deadlines().write,
    supabase.auth.signOut({ scope: "local" }),
    getRenewalFailedSignal(supabase),
  ).catch((error: Error) => ({ error }));
  log("info", "sign-out", { ended: !error });
  if (!error || error.name === "AuthSessionMissingError") return null;
  const isSessionMissing =
    "code" in error && ["refresh_token_not_found", "session_not_found"].includes(String(error.code));
  return isSessionMissing ? null : toUserError(error);
}

const PasswordLink = z.object({
  account_id: z.string(),
  email: z.string(),
  is_staff: z.boolean(),
  is_invite: z.boolean(),
  factors: z.array(z.object({ id: z.string(), name: z.string() })),
});
export type PasswordLink = z.infer<typeof PasswordLink>;

export async function openPasswordLink(token: string): Promise<PasswordLink | UserError | null> {
  return parseResult(PasswordLink.nullable(), await serviceRoleClient().rpc("password_link", { token }));
}

/** Sets the password and ends every session of the account. The link stays valid after an error. */
export async function setPassword(
  limits: RateLimiter,
  sender: EmailSender,
  token: string,
  link: PasswordLink,
  credentials: TypedCredentials,
): Promise<IntentError | null> {
  const serviceRole = serviceRoleClient();
  const recovery = await serviceRole.auth.admin.generateLink({ type: "recovery", email: link.email });
  if (recovery.error) return toUserError(recovery.error);
  const session = anonymousClient();
  const token_hash = recovery.data.properties.hashed_token;
  const verification = await session.auth.verifyOtp({ type: "recovery", token_hash });
  if (verification.error) return toUserError(verification.error);
  let isSpent = false;
  let isSet = false;
  try {
    if (credentials.factorId) {
      const viewer = { id: link.account_id, email: link.email, supabase: session };
      const failure = await verifyTotp(viewer, limits, [credentials.factorId], credentials.code ?? "", token);
      if (failure) return failure;
    }
    const redeemed = await serviceRole.rpc("redeem_password_link", { token });
    const redeemError = getResultError(redeemed);
    if (redeemError) return redeemError;
    const reason = "This link has been used or has expired. Ask us for a new link.";
    if (!redeemed.data) return { reason, status: 409 };
    isSpent = true;
    const { error } = await session.auth.updateUser({ password: credentials.password });
    // Supabase Auth rejects a new password that equals the current password. Our form accepts the current password.
    isSet = !error || error.code === "same_password";
    if (error && !isSet) return toUserError(error);
  } finally {
    if (isSpent && !isSet) await serviceRole.rpc("restore_password_link", { token });
    // If no password was set, the other sessions stay valid, because they may belong to the account's owner.
    await session.auth.signOut({ scope: isSet ? "global" : "local" }).catch(() => undefined);
  }
  await serviceRole.rpc("revoke_account_links", { account_id: link.account_id }).then(undefined, () => undefined);
  log("info", "password set", { account: pseudonym(link.email) });
  if (link.is_invite) return null;
  const to = { email: link.email, account_id: link.account_id, kind: "password change" } as const;
  await trySendEmail(serviceRole, sender, to, passwordChangedEmail);
  return null;
}
