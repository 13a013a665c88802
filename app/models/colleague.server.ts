/** Colleagues: invited, changed and removed by a lead or by the command, which the database judges. */

import { z } from "zod";
import { sendMail } from "../lib/mail.server.ts";
import { type Refusal, refusalOf, refusalOfThrown } from "../lib/refusal.server.ts";
import type { Backend } from "../lib/supabase.server.ts";
import { act } from "./desk-act.server.ts";
import { colleagueInvitation, type Letter, type Letterhead, senderOf } from "./letter.ts";

/** Hours for which an invitation's link is good: 7 days. */
const invitationHours = 7 * 24;

const Invited = z.union([z.object({ account: z.string() }), z.object({ invitation: z.string() })]);

/** Whether the mail of an act left, or the act was refused. The act stands when its mail did not. */
export type Told = { sent: boolean } | Refusal;

/**
 * Invites a colleague by mail, or one who never came or was removed again. `company` makes the account and the link, which
 * a colleague never sees.
 */
export async function inviteColleague(
  backend: Backend,
  company: Backend,
  head: Letterhead,
  who: { name: string; email: string; role: string },
  by_name?: string,
): Promise<Told> {
  const asked = await act(backend, "invite_colleague", { ...who, by_name });
  if ("reason" in asked) return asked;
  const invited = Invited.safeParse(asked.answer);
  if (!invited.success) return refusalOfThrown(invited.error);
  const made = "account" in invited.data ? invited.data : await makeAccount(company, who, invited.data.invitation);
  if ("reason" in made) return made;
  const letter = (token: string) => colleagueInvitation(head, who.name, token);
  return sendLink(company, head, { ...made, email: who.email, kind: "invitation", hours: invitationHours }, letter);
}

/** Makes the account of an invitation, confirmed, with a password that nobody knows. */
async function makeAccount(
  company: Backend,
  { email, name }: { email: string; name: string },
  invitation: string,
): Promise<{ account: string } | Refusal> {
  const { data, error } = await company.auth.admin.createUser({
    email,
    email_confirm: true,
    user_metadata: { full_name: name, colleague_invitation: invitation },
  });
  return error ? refusalOf(error) : { account: data.user.id };
}

/** Makes a link to the page that sets a password, and mails it. What could not be handed over is listed at the desk. */
export async function sendLink(
  company: Backend,
  head: Letterhead,
  to: { account: string; email: string; kind: "invitation" | "new password"; hours: number },
  letter: (token: string) => Letter,
): Promise<Told> {
  const { account, email, kind, hours } = to;
  const token = await company.rpc("issue_password_link", { account, hours });
  if (token.error) return refusalOf({ ...token.error, status: token.status });
  const sent = await deliver(head, email, letter(token.data));
  if (!sent) await company.rpc("note_undelivered", { kind, sent_to: email, account });
  return { sent };
}

/** Sends a letter; whether it could be handed over. */
export async function deliver(head: Letterhead, to: string, letter: Letter): Promise<boolean> {
  return sendMail({ to, ...letter }, senderOf(head)).then(
    () => true,
    () => false,
  );
}

/** Makes a clerk a lead, or a lead a clerk. */
export function changeRole(backend: Backend, account: string, role: string, by_name?: string) {
  return act(backend, "change_role", { account, role, by_name });
}

/** Removes a colleague: signed out everywhere at once. */
export function removeColleague(backend: Backend, account: string, reason: string, by_name?: string) {
  return act(backend, "remove_colleague", { account, reason, by_name });
}

/** Commands: the colleagues who are not removed, by name. Throws. */
export async function listColleagues(company: Backend) {
  const { data, error, status } = await company
    .from("colleagues")
    .select("account, name, role, created_at, removed_at")
    .order("name")
    .retry(false);
  if (error) throw new Error(refusalOf({ ...error, status }).reason);
  return data.filter(({ removed_at }) => !removed_at);
}

/** Commands: the account of an e-mail address. Throws when there is none. */
export async function findAccount(company: Backend, email: string): Promise<string> {
  const { data, error, status } = await company.rpc("find_account", { email });
  if (error) throw new Error(refusalOf({ ...error, status }).reason);
  if (!data) throw new Error(`There is no account with the e-mail address ${email}.`);
  return data;
}
