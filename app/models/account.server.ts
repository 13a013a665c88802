import { z } from "zod";
import type { LinkCredentials } from "../actions/email-link.server.ts";
import type { Viewer } from "../lib/auth/viewer.server.ts";
import type { IntentError } from "../lib/forms/intent-form.server.ts";
import { createTotpFieldErrors } from "../lib/forms/rejected-form.server.ts";
import { log, pseudonym } from "../lib/http/log.server.ts";
import type { RateLimiter } from "../lib/http/rate-limiter.server.ts";
import { toUserError, type UserError, userErrorFromThrown } from "../lib/http/user-error.server.ts";
import { type AppSupabaseClient, anonymousClient, serviceRoleClient } from "../lib/supabase/client.server.ts";
import { logInWithPassword } from "./authentication.server.ts";
import { sendEmail, trySendEmail } from "./email.server.ts";
import {
  type EmailSender,
  emailChangeConfirmationEmail,
  emailChangedEmail,
  emailChangeRequestedEmail,
  emailTakenEmail,
  formatSender,
  passwordChangedEmail,
} from "./emails.ts";
import { verifyTotp } from "./second-factor.server.ts";

/** `link` is the token of an email's link, if the form is on its page. */
export type ReauthenticationInput = { currentPassword: string; code?: string; factorId?: string; link?: string };

export async function saveName(client: Viewer, full_name: string): Promise<UserError | null> {
  const { error } = await client.supabase.auth.updateUser({ data: { full_name } });
  return error && toUserError(error);
}

export async function signOutOtherDevices(client: Viewer): Promise<UserError | null> {
  const { error } = await client.supabase.auth.signOut({ scope: "others" });
  log("info", "sign-out elsewhere", { account: pseudonym(client.email), told: !error });
  return error && toUserError(error);
}

/**
 * Returns a client with a new session, which the caller has to end or to hand to the browser. Wrong passwords and codes
 * count towards the limits of the login.
 */
async function reauthenticate(
  client: Pick<Viewer, "id" | "email">,
  limits: RateLimiter,
  { currentPassword, code, factorId, link }: ReauthenticationInput,
): Promise<AppSupabaseClient | IntentError> {
  const attempt = await limits.consumeLogin(client.email);
  if ("reason" in attempt) return attempt;
  const person = anonymousClient();
  const { error } = await logInWithPassword(person, { email: client.email, password: currentPassword });
  if (error?.code === "invalid_credentials") {
    const reason = "This is not the password of the account.";
    log("warn", "proof failed", { account: pseudonym(client.email) });
    return { reason, status: 400, fieldErrors: { currentPassword: [reason] } };
  }
  attempt.refund();
  if (error) return toUserError(error);
  if (!factorId) return person;
  const failed = await verifyTotp({ ...client, supabase: person }, limits, factorId, code ?? "", link);
  if (!failed) return person;
  await person.auth.signOut({ scope: "local" }).catch(() => undefined);
  return { ...failed, fieldErrors: createTotpFieldErrors(failed) };
}

/** Changes the password, ends every other session and emails the owner. */
export async function changePassword(
  client: Viewer,
  limits: RateLimiter,
  head: EmailSender,
  proof: ReauthenticationInput,
  password: string,
): Promise<IntentError | null> {
  const person = await reauthenticate(client, limits, proof);
  if ("reason" in person) return person;
  const { error } = await person.auth.updateUser({ password, current_password: proof.currentPassword });
  const to = { email: client.email, account_id: client.id, kind: "password change" } as const;
  // A lost response does not show if the password was changed.
  const isUnknown = error !== null && toUserError(error).status === 503;
  if (error && !(isUnknown && (await isPasswordValid(client.email, password)))) {
    await person.auth.signOut({ scope: "local" }).catch(() => undefined);
    if (isUnknown) {
      await trySendEmail(serviceRoleClient(), head, to, passwordChangedEmail(head, "perhaps"));
      return { reason: "We do not know whether it was changed. Log in again, with the new one first.", status: 503 };
    }
    const same = error.code === "same_password" && "This is the password you have. Choose another one.";
    return same ? { reason: same, status: 400, fieldErrors: { password: [same] } } : toUserError(error);
  }
  log("info", "password changed", { account: pseudonym(client.email) });
  // Not every version of auth ends them with the change.
  await person.auth.signOut({ scope: "others" }).catch(() => undefined);
  const { data } = await person.auth.getSession();
  if (data.session) await client.supabase.auth.setSession(data.session);
  const company = serviceRoleClient();
  // A person who knew the old password may have requested these links.
  await company.rpc("revoke_account_links", { account_id: client.id }).then(undefined, () => undefined);
  await trySendEmail(company, head, to, passwordChangedEmail(head));
  return null;
}

async function isPasswordValid(email: string, password: string): Promise<boolean> {
  const { error } = await anonymousClient().auth.signInWithPassword({ email, password });
  return error === null;
}

/** Emails a link to the new address. The result is the same if that address has an account, so that nobody learns it. */
export async function requestEmailChange(
  client: Viewer,
  limits: RateLimiter,
  head: EmailSender,
  proof: ReauthenticationInput,
  email: string,
): Promise<IntentError | null> {
  // Checked before the code is used up.
  if (email.toLowerCase() === client.email.toLowerCase()) {
    const reason = "This is your address already.";
    return { reason, status: 400, fieldErrors: { email: [reason] } };
  }
  const mails = await limits.consumeEmailChange(client.id);
  if ("reason" in mails) return mails;
  const person = await reauthenticate(client, limits, proof);
  if ("reason" in person) {
    mails.refund();
    return person;
  }
  await person.auth.signOut({ scope: "local" }).catch(() => undefined);
  const company = serviceRoleClient();
  const { data: token, error, status } = await company.rpc("start_email_change", { account_id: client.id, email });
  if (error) {
    mails.refund();
    return toUserError({ ...error, status });
  }
  const about = { account_id: client.id, kind: "email change" } as const;
  // An email in both cases, so that the response time shows no difference.
  const letter = token ? emailChangeConfirmationEmail(head, token) : emailTakenEmail(head);
  const left = await sendEmail({ to: email, ...letter }, formatSender(head)).then(
    () => true,
    () => false,
  );
  if (!left) {
    await company.rpc("cancel_email_change", { account_id: client.id }).then(undefined, () => undefined);
    mails.refund();
    return { reason: "The mail could not be sent. Your address stays as it is. Try again in a minute.", status: 503 };
  }
  await trySendEmail(company, head, { email: client.email, ...about }, emailChangeRequestedEmail(head));
  log("info", "address change asked", { account: pseudonym(client.email) });
  return null;
}

const EmailChange = z.object({
  account_id: z.string(),
  email: z.string(),
  old_email: z.string(),
  factors: z.array(z.object({ id: z.string(), name: z.string() })),
});
type EmailChange = z.infer<typeof EmailChange>;

/** Returns null if the token is wrong, used or expired. Does not use it up. */
export async function openEmailChange(token: string): Promise<EmailChange | UserError | null> {
  const { data, error, status } = await serviceRoleClient().rpc("email_change", { token });
  if (error) return toUserError({ ...error, status });
  if (data === null) return null;
  const change = EmailChange.safeParse(data);
  return change.success ? change.data : userErrorFromThrown(change.error);
}

/**
 * Changes the email address of a link's account. Requires its password and code, so that a reader of the new mailbox does
 * not get the account. The link stays valid after a UserError.
 */
export async function confirmEmailChange(
  limits: RateLimiter,
  head: EmailSender,
  token: string,
  { account_id: account, email, old_email }: EmailChange,
  given: LinkCredentials,
): Promise<IntentError | null> {
  const { password: present, ...code } = given;
  const person = await reauthenticate({ id: account, email: old_email }, limits, {
    currentPassword: present,
    ...code,
    link: token,
  });
  if ("reason" in person) {
    const { currentPassword: wrong, ...others } = person.fieldErrors ?? {};
    return { ...person, fieldErrors: person.fieldErrors && { ...others, ...(wrong && { password: wrong }) } };
  }
  await person.auth.signOut({ scope: "local" }).catch(() => undefined);
  const company = serviceRoleClient();
  const spent = await company.rpc("redeem_email_change", { token });
  if (spent.error) return toUserError({ ...spent.error, status: spent.status });
  if (!spent.data) return { reason: "This link has been used or is too old.", status: 409 };
  const { error } = await company.auth.admin.updateUserById(account, { email, email_confirm: true });
  const to = { email: old_email, account_id: account, kind: "email change" } as const;
  const refused = error && toUserError(error);
  // A lost response does not show if the address was changed.
  const isUnknown = refused?.status === 503;
  const now = isUnknown && (await company.auth.admin.getUserById(account).catch(() => null));
  if (refused && !(now && now.data.user?.email === email)) {
    await company.rpc("restore_email_change", { token });
    if (isUnknown) await trySendEmail(company, head, to, emailChangedEmail(head, "perhaps"));
    return refused;
  }
  log("info", "address changed", { account: pseudonym(email) });
  // After an earlier lost response the account has the new address already.
  if (email !== old_email) await trySendEmail(company, head, to, emailChangedEmail(head));
  return null;
}

export async function setErasureRequest(client: Viewer, requested: boolean): Promise<UserError | null> {
  const { error, status } = await client.supabase.rpc("set_erasure_request", { requested });
  return error ? toUserError({ ...error, status }) : null;
}
