import { z } from "zod";
import { toUserError, type UserError, userErrorFromThrown } from "../lib/http/user-error.server.ts";
import type { AppSupabaseClient } from "../lib/supabase/client.server.ts";
import { type EmailResult, sendOnce, trySendEmail } from "./email.server.ts";
import { type EmailContent, type EmailSender, staffInvitationEmail } from "./emails.ts";
import { runStaffAction, type StaffActionOptions } from "./staff-action.server.ts";

const invitationHours = 7 * 24;

const InvitationResult = z.union([z.object({ account_id: z.string() }), z.object({ invite_id: z.string() })]);

/** Invites a team member by email. Can be repeated until the first login, and after a removal. */
export async function inviteStaffMember(
  supabase: AppSupabaseClient,
  serviceRole: AppSupabaseClient,
  head: EmailSender,
  who: { name: string; email: string; role: string },
  signed: Omit<StaffActionOptions, "expected_version"> = {},
): Promise<EmailResult> {
  const ask = async () => {
    const asked = await runStaffAction(supabase, "invite_staff_member", { ...who, ...signed });
    if ("reason" in asked) return asked;
    const invited = InvitationResult.safeParse(asked.result);
    return invited.success ? invited.data : userErrorFromThrown(invited.error);
  };
  let invited = await ask();
  if ("invite_id" in invited) {
    const made = await createStaffAccount(serviceRole, who, invited.invite_id);
    // The same form, sent twice in parallel, may have created the account.
    invited = "reason" in made ? await ask() : made;
    if ("invite_id" in invited) return made as UserError;
  }
  if ("reason" in invited) return invited;
  const to = { ...invited, email: who.email, kind: "team invite", hours: invitationHours } as const;
  return issuePasswordLink(
    serviceRole,
    head,
    to,
    (token) => staffInvitationEmail(head, who.name, token),
    signed.idempotency_key,
  );
}

async function createStaffAccount(
  serviceRole: AppSupabaseClient,
  { email, name }: { email: string; name: string },
  invitation: string,
): Promise<{ account_id: string } | UserError> {
  const { data, error } = await serviceRole.auth.admin.createUser({
    email,
    email_confirm: true,
    user_metadata: { full_name: name, staff_invite_id: invitation },
  });
  return error ? toUserError(error) : { account_id: data.user.id };
}

export async function issuePasswordLink(
  serviceRole: AppSupabaseClient,
  head: EmailSender,
  to: { account_id: string; email: string; kind: "team invite" | "new password"; hours: number },
  letter: (token: string) => EmailContent,
  request?: string,
): Promise<EmailResult> {
  const { account_id, email, kind, hours } = to;
  return sendOnce(serviceRole, request, email, async () => {
    const token = await serviceRole.rpc("issue_password_link", { account_id, valid_hours: hours });
    if (token.error) return toUserError({ ...token.error, status: token.status });
    return trySendEmail(serviceRole, head, { account_id, email, kind }, letter(token.data));
  });
}

export async function listStaffMembers(serviceRole: AppSupabaseClient) {
  const { data, error, status } = await serviceRole.rpc("list_staff_members");
  if (error) throw new Error(toUserError({ ...error, status }).reason);
  return data;
}

/** Throws if no account has the email address. */
export async function findAccountId(serviceRole: AppSupabaseClient, email: string): Promise<string> {
  const { data, error, status } = await serviceRole.rpc("find_account_id", { email });
  if (error) throw new Error(toUserError({ ...error, status }).reason);
  if (!data) throw new Error(`There is no account with the email address ${email}.`);
  return data;
}
