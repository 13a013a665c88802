/** New passwords by a link from a mail: for colleagues who are invited, and for whoever is locked out. */
import { z } from "zod";
import type { LinkCredentials } from "../actions/email-link.server.ts";
import type { IntentError } from "../lib/forms/intent-form.server.ts";
import { createTotpFieldErrors } from "../lib/forms/rejected-form.server.ts";
import { log, pseudonym } from "../lib/http/log.server.ts";
import type { RateLimiter } from "../lib/http/rate-limiter.server.ts";
import { toUserError, type UserError, userErrorFromThrown } from "../lib/http/user-error.server.ts";
import { type AppSupabaseClient, anonymousClient, serviceRoleClient } from "../lib/supabase/client.server.ts";
import { type EmailResult, trySendEmail } from "./email.server.ts";
import { type EmailSender, passwordChangedEmail, passwordLinkEmail } from "./emails.ts";
import { verifyTotp } from "./second-factor.server.ts";
import { issuePasswordLink } from "./staff.server.ts";
import { runStaffAction } from "./staff-action.server.ts";

/** Hours for which the link to a new password is good. */
const passwordLinkHours = 1;

/** What a link opens: whose password is set, and the authenticators of which one has to give its code first. */
const PasswordLink = z.object({
  account_id: z.string(),
  email: z.string(),
  is_staff: z.boolean(),
  is_invite: z.boolean(),
  factors: z.array(z.object({ id: z.string(), name: z.string() })),
});
export type PasswordLink = z.infer<typeof PasswordLink>;

/** Mails a client, or a lead a colleague, the link to set a new password. */
export async function sendPasswordLink(
  backend: AppSupabaseClient,
  company: AppSupabaseClient,
  head: EmailSender,
  account: string,
  actor_name?: string,
): Promise<EmailResult> {
  const asked = await runStaffAction(backend, "request_password_link", { account_id: account, actor_name });
  if ("reason" in asked) return asked;
  const to = { account_id: account, email: asked.result, kind: "new password", hours: passwordLinkHours } as const;
  return issuePasswordLink(company, head, to, (token) => passwordLinkEmail(head, token));
}

/** What a link opens; null when it is wrong, used or too old. Looking spends nothing. */
export async function openPasswordLink(token: string): Promise<PasswordLink | UserError | null> {
  const { data, error, status } = await serviceRoleClient().rpc("password_link", { token });
  if (error) return toUserError({ ...error, status });
  if (data === null) return null;
  const link = PasswordLink.safeParse(data);
  return link.success ? link.data : userErrorFromThrown(link.error);
}

const expiredLinkError: UserError = {
  reason: "This link has been used or is too old. Ask for another one.",
  status: 409,
};

/**
 * Sets the password of the account behind a link, with a code of its authenticator where it has one; null when it is set.
 * Every session of the account ends, and its owner is told by mail. Whatever is refused leaves the link good.
 */
export async function setPassword(
  limits: RateLimiter,
  head: EmailSender,
  token: string,
  link: PasswordLink,
  given: LinkCredentials,
): Promise<IntentError | null> {
  const company = serviceRoleClient();
  const recovery = await company.auth.admin.generateLink({ type: "recovery", email: link.email });
  if (recovery.error) return toUserError(recovery.error);
  const person = anonymousClient();
  const token_hash = recovery.data.properties.hashed_token;
  const opened = await person.auth.verifyOtp({ type: "recovery", token_hash });
  if (opened.error) return toUserError(opened.error);
  let isSpent = false;
  let isSet = false;
  try {
    if (given.factorId) {
      const who = { id: link.account_id, email: link.email, supabase: person };
      const failed = await verifyTotp(who, limits, given.factorId, given.code ?? "", token);
      if (failed) return { ...failed, fieldErrors: createTotpFieldErrors(failed) };
    }
    const spent = await company.rpc("redeem_password_link", { token });
    if (spent.error) return toUserError({ ...spent.error, status: spent.status });
    if (!spent.data) return expiredLinkError;
    isSpent = true;
    const { error } = await person.auth.updateUser({ password: given.password });
    // The one they had: it is theirs to choose.
    isSet = !error || error.code === "same_password";
    if (error && !isSet) return toUserError(error);
  } finally {
    if (isSpent && !isSet) await company.rpc("restore_password_link", { token });
    // Without a new password only the session that the link opened: another one may be setting it, or be the owner's.
    await person.auth.signOut({ scope: isSet ? "global" : "local" }).catch(() => undefined);
  }
  await company.rpc("revoke_account_links", { account_id: link.account_id }).then(undefined, () => undefined);
  log("info", "password set", { account: pseudonym(link.email) });
  // The first password of a colleague changes nothing that they know.
  if (link.is_invite) return null;
  const to = { email: link.email, account_id: link.account_id, kind: "password change" } as const;
  await trySendEmail(company, head, to, passwordChangedEmail(head));
  return null;
}
