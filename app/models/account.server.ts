import { z } from "zod";
import type { Viewer } from "../lib/auth/viewer.server.ts";
import type { IntentError } from "../lib/forms/intent-form.server.ts";
import { log, pseudonym } from "../lib/http/log.server.ts";
import type { RateLimiter } from "../lib/http/rate-limiter.server.ts";
import { toUserError, type UserError, userErrorFromThrown } from "../lib/http/user-error.server.ts";
import { type AppSupabaseClient, anonymousClient, serviceRoleClient } from "../lib/supabase/client.server.ts";
import { getResultError, parseResult } from "../lib/supabase/result.server.ts";
import { logInWithPassword } from "./authentication.server.ts";
import { sendEmail, trySendEmail } from "./email-delivery.server.ts";
import {
  type EmailSender,
  emailChangeConfirmationEmail,
  emailChangedEmail,
  emailChangeRequestedEmail,
  emailTakenEmail,
  passwordChangedEmail,
} from "./emails.ts";
import { type TypedCredentials, verifyTotp } from "./second-factor.server.ts";

export async function saveName(client: Viewer, full_name: string): Promise<UserError | null> {
  return getResultError(await client.supabase.auth.updateUser({ data: { full_name } }));
}

export async function savePhone(client: Viewer, phone: string | null): Promise<UserError | null> {
  return getResultError(await client.supabase.rpc("change_phone", { phone: phone as string }));
}

export async function signOutOtherDevices(client: Viewer): Promise<UserError | null> {
  const { error } = await client.supabase.auth.signOut({ scope: "others" });
  log("info", "sign-out elsewhere", { account: pseudonym(client.email), ended: !error });
  return error && toUserError(error);
}

/** Returns a Supabase client with a new session, and the accepted password. Callers must end or store the session. */
async function reauthenticate(
  client: Pick<Viewer, "id" | "email">,
  limits: RateLimiter,
  { password: typed, code, factorId }: TypedCredentials,
  link?: string,
): Promise<{ session: AppSupabaseClient; password: string } | IntentError> {
  const attempt = await limits.consumeLogin(client.email);
  if ("reason" in attempt) return attempt;
  const session = anonymousClient();
  const { error, password } = await logInWithPassword(session, { email: client.email, password: typed });
  if (error?.code === "invalid_credentials") {
    const reason = "The password is wrong.";
    log("warn", "wrong current password", { account: pseudonym(client.email) });
    return { reason, status: 400, fieldErrors: { [link ? "password" : "currentPassword"]: [reason] } };
  }
  attempt.refund();
  if (error) return toUserError(error);
  const viewer = { ...client, supabase: session };
  const failure = factorId && (await verifyTotp(viewer, limits, [factorId], code ?? "", link));
  if (!failure) return { session, password };
  await session.auth.signOut({ scope: "local" }).catch(() => undefined);
  return failure;
}

export async function changePassword(
  client: Viewer,
  limits: RateLimiter,
  sender: EmailSender,
  credentials: TypedCredentials,
  password: string,
): Promise<IntentError | null> {
  const attempt = await limits.consumePasswordChange(client.id);
  if ("reason" in attempt) return attempt;
  const reauthentication = await reauthenticate(client, limits, credentials);
  if ("reason" in reauthentication) {
    attempt.refund();
    return reauthentication;
  }
  const { session, password: current_password } = reauthentication;
  const { error } = await session.auth.updateUser({ password, current_password });
  const to = { email: client.email, name: client.fullName, account_id: client.id, kind: "password change" } as const;
  // If Supabase Auth did not respond in time, the password may still have been changed.
  const isResultUnknown = error !== null && toUserError(error).status === 503;
  const login = isResultUnknown && (await anonymousClient().auth.signInWithPassword({ email: client.email, password }));
  if (error && !(login && login.error === null)) {
    await session.auth.signOut({ scope: "local" }).catch(() => undefined);
    if (isResultUnknown) {
      await trySendEmail(serviceRoleClient(), sender, to, (sender, name) =>
        passwordChangedEmail(sender, name, "uncertain"),
      );
      return {
        reason:
          "Our system did not respond in time, so we do not know whether your password was changed. Log in with the new password. If the new password fails, use the old password.",
        status: 503,
      };
    }
    attempt.refund();
    if (error.code !== "same_password") return toUserError(error);
    const reason = "This is your current password. Choose another password.";
    return { reason, status: 400, fieldErrors: { password: [reason] } };
  }
  log("info", "password changed", { account: pseudonym(client.email) });
  // Some versions of Supabase Auth do not end the other sessions when the password changes.
  await session.auth.signOut({ scope: "others" }).catch(() => undefined);
  const { data } = await session.auth.getSession();
  if (data.session) await client.supabase.auth.setSession(data.session);
  const serviceRole = serviceRoleClient();
  // Revokes emailed links, because someone who knew the old password may have requested a link.
  await serviceRole.rpc("revoke_account_links", { account_id: client.id }).then(undefined, () => undefined);
  await trySendEmail(serviceRole, sender, to, passwordChangedEmail);
  return null;
}

/** Emails a link to `email`. If another account has `email`, also succeeds, so that the form reveals no accounts. */
export async function requestEmailChange(
  client: Viewer,
  limits: RateLimiter,
  sender: EmailSender,
  credentials: TypedCredentials,
  email: string,
): Promise<IntentError | null> {
  if (email.toLowerCase() === client.email.toLowerCase()) {
    const reason = "This is already your email address.";
    return { reason, status: 400, fieldErrors: { email: [reason] } };
  }
  const attempt = await limits.consumeEmailChange(client.id, email);
  if ("reason" in attempt) return attempt;
  const reauthentication = await reauthenticate(client, limits, credentials);
  if ("reason" in reauthentication) {
    attempt.refund();
    return reauthentication;
  }
  await reauthentication.session.auth.signOut({ scope: "local" }).catch(() => undefined);
  const serviceRole = serviceRoleClient();
  const start = await serviceRole.rpc("start_email_change", { account_id: client.id, email });
  const startError = getResultError(start);
  if (startError) {
    attempt.refund();
    return startError;
  }
  const owner = { email: client.email, name: client.fullName, account_id: client.id, kind: "email change" } as const;
  // An address of another account gets an email too, so that the response time does not reveal the account.
  const message = start.data ? emailChangeConfirmationEmail(sender, start.data) : emailTakenEmail(sender);
  if (!(await sendEmail({ to: email, ...message }, sender))) {
    await serviceRole.rpc("cancel_email_change", { account_id: client.id }).then(undefined, () => undefined);
    attempt.refund();
    const reason = "We could not send the email. Your email address stays the same. Try again in a minute.";
    return { reason, status: 503 };
  }
  await trySendEmail(serviceRole, sender, owner, emailChangeRequestedEmail);
  log("info", "email change requested", { account: pseudonym(client.email) });
  return null;
}

const EmailChange = z.object({
  account_id: z.string(),
  email: z.string(),
  old_email: z.string(),
  factors: z.array(z.object({ id: z.string(), name: z.string() })),
});
type EmailChange = z.infer<typeof EmailChange>;

export async function openEmailChange(token: string): Promise<EmailChange | UserError | null> {
  return parseResult(EmailChange.nullable(), await serviceRoleClient().rpc("email_change", { token }));
}

/**
 * Requires the password, and a code if the account has a second factor. The link proves only access to the mailbox. The
 * link stays valid after an error. Callers must end or store the new session.
 */
export async function confirmEmailChange(
  limits: RateLimiter,
  sender: EmailSender,
  token: string,
  change: EmailChange,
  credentials: TypedCredentials,
): Promise<{ session: AppSupabaseClient } | IntentError> {
  const client = { id: change.account_id, email: change.old_email };
  const reauthentication = await reauthenticate(client, limits, credentials, token);
  if ("reason" in reauthentication) return reauthentication;
  const { session } = reauthentication;
  const failure = await saveNewEmail(sender, token, change).catch(userErrorFromThrown);
  if (!failure) return { session };
  await session.auth.signOut({ scope: "local" }).catch(() => undefined);
  return failure;
}

async function saveNewEmail(
  sender: EmailSender,
  token: string,
  { account_id: account, email, old_email }: EmailChange,
): Promise<UserError | null> {
  const serviceRole = serviceRoleClient();
  const redeemed = await serviceRole.rpc("redeem_email_change", { token });
  const redeemError = getResultError(redeemed);
  if (redeemError) return redeemError;
  const reason = "This link has been used or has expired. Request the change again on your account page.";
  if (!redeemed.data) return { reason, status: 409 };
  const { error } = await serviceRole.auth.admin.updateUserById(account, { email, email_confirm: true });
  const to = { email: old_email, account_id: account, kind: "email change" } as const;
  const updateError = error && toUserError(error);
  // If Supabase Auth did not respond in time, the email address may still have been changed.
  const isResultUnknown = updateError?.status === 503;
  const user = isResultUnknown && (await serviceRole.auth.admin.getUserById(account).catch(() => null));
  if (updateError && !(user && user.data.user?.email === email)) {
    await serviceRole.rpc("restore_email_change", { token });
    if (isResultUnknown)
      await trySendEmail(serviceRole, sender, to, (sender, name) => emailChangedEmail(sender, name, "uncertain"));
    return updateError;
  }
  log("info", "email changed", { account: pseudonym(email) });
  // If the two addresses are equal, an earlier attempt changed the address and notified the old address.
  if (email !== old_email) await trySendEmail(serviceRole, sender, to, emailChangedEmail);
  return null;
}

export async function setErasureRequest(client: Viewer, requested: boolean): Promise<UserError | null> {
  return getResultError(await client.supabase.rpc("set_erasure_request", { requested }));
}
