/** Colleagues: invited, changed and removed by a lead or by the command, which the database judges. */

import { z } from "zod";
import { sendMail } from "../lib/mail.server.ts";
import { type Refusal, refusalOf, refusalOfThrown } from "../lib/refusal.server.ts";
import type { Backend } from "../lib/supabase.server.ts";
import { act, type Signed } from "./desk-act.server.ts";
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
  signed: Omit<Signed, "seen"> = {},
): Promise<Told> {
  const ask = async () => {
    const asked = await act(backend, "invite_colleague", { ...who, ...signed });
    if ("reason" in asked) return asked;
    const invited = Invited.safeParse(asked.answer);
    return invited.success ? invited.data : refusalOfThrown(invited.error);
  };
  let invited = await ask();
  if ("invitation" in invited) {
    const made = await makeAccount(company, who, invited.invitation);
    // The same form, sent twice at once: the other one has made it.
    invited = "reason" in made ? await ask() : made;
    if ("invitation" in invited) return made as Refusal;
  }
  if ("reason" in invited) return invited;
  const to = { ...invited, email: who.email, kind: "invitation", hours: invitationHours } as const;
  return sendLink(company, head, to, (token) => colleagueInvitation(head, who.name, token), signed.request);
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
  request?: string,
): Promise<Told> {
  const { account, email, kind, hours } = to;
  return once(company, request, email, async () => {
    const token = await company.rpc("issue_password_link", { account, hours });
    if (token.error) return refusalOf({ ...token.error, status: token.status });
    return tell(company, head, { account, email, kind }, letter(token.data));
  });
}

/** Sends what a form asks for once, however often the form is sent; again only when that failed. */
export async function once(
  company: Backend,
  request: string | undefined,
  sent_to: string,
  send: () => Promise<Told>,
): Promise<Told> {
  if (!request) return send();
  const { data, error, status } = await company.rpc("claim_mail", { request, sent_to });
  if (error) return refusalOf({ ...error, status });
  if (!data) return { sent: true };
  const told = await send().catch(refusalOfThrown);
  if ("reason" in told || !told.sent) await company.rpc("release_mail", { request, sent_to });
  return told;
}

type Mailed = { email: string; kind: string; account?: string; client_id?: string };

/** Sends a letter; whether it could be handed over. What could not is listed at the desk. */
export async function tell(company: Backend, head: Letterhead, to: Mailed, letter: Letter): Promise<{ sent: boolean }> {
  const { email, ...about } = to;
  const sent = await sendMail({ to: email, ...letter }, senderOf(head)).then(
    () => true,
    () => false,
  );
  if (!sent) await company.rpc("note_undelivered", { sent_to: email, ...about });
  return { sent };
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
  const { data, error, status } = await company.rpc("list_colleagues");
  if (error) throw new Error(refusalOf({ ...error, status }).reason);
  return data;
}

/** Commands: the account of an e-mail address. Throws when there is none. */
export async function findAccount(company: Backend, email: string): Promise<string> {
  const { data, error, status } = await company.rpc("find_account", { email });
  if (error) throw new Error(refusalOf({ ...error, status }).reason);
  if (!data) throw new Error(`There is no account with the e-mail address ${email}.`);
  return data;
}
