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

const passwordLinkHours = 1;

const PasswordLink = z.object({
  account_id: z.string(),
  email: z.string(),
  is_staff: z.boolean(),
  is_invite: z.boolean(),
  factors: z.array(z.object({ id: z.string(), name: z.string() })),
});
export type PasswordLink = z.infer<typeof PasswordLink>;

export async function sendPasswordLink(
  supabase: AppSupabaseClient,
  serviceRole: AppSupabaseClient,
  head: EmailSender,
  account: string,
  actor_name?: string,
): Promise<EmailResult> {
  const action = await runStaffAction(supabase, "request_password_link", { account_id: account, actor_name });
  if ("reason" in action) return action;
  const to = { account_id: account, email: action.result, kind: "new password", hours: passwordLinkHours } as const;
  return issuePasswordLink(serviceRole, head, to, (token) => passwordLinkEmail(head, token));
}

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

/** Ends every session of the account. An error leaves the link valid. */
export async function setPassword(
  limits: RateLimiter,
  head: EmailSender,
  token: string,
  link: PasswordLink,
  credentials: LinkCredentials,
): Promise<IntentError | null> {
  const company = serviceRoleClient();
  const recovery = await company.auth.admin.generateLink({ type: "recovery", email: link.email });
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
      const failure = await verifyTotp(viewer, limits, credentials.factorId, credentials.code ?? "", token);
      if (failure) return { ...failure, fieldErrors: createTotpFieldErrors(failure) };
    }
    const redeemed = await company.rpc("redeem_password_link", { token });
    if (redeemed.error) return toUserError({ ...redeemed.error, status: redeemed.status });
    if (!redeemed.data) return expiredLinkError;
    isSpent = true;
    const { error } = await session.auth.updateUser({ password: credentials.password });
    // Choosing the same password again is allowed.
    isSet = !error || error.code === "same_password";
    if (error && !isSet) return toUserError(error);
  } finally {
    if (isSpent && !isSet) await company.rpc("restore_password_link", { token });
    // Without a new password, the other sessions may be the owner's.
    await session.auth.signOut({ scope: isSet ? "global" : "local" }).catch(() => undefined);
  }
  await company.rpc("revoke_account_links", { account_id: link.account_id }).then(undefined, () => undefined);
  log("info", "password set", { account: pseudonym(link.email) });
  // A new team member knows about the first password.
  if (link.is_invite) return null;
  const to = { email: link.email, account_id: link.account_id, kind: "password change" } as const;
  await trySendEmail(company, head, to, passwordChangedEmail(head));
  return null;
}
