/** A client's own account: name, password, e-mail address, sessions. */
import { z } from "zod";
import type { Failed } from "../lib/act-form.server.ts";
import { codeErrors } from "../lib/answer.server.ts";
import type { Limits } from "../lib/limits.server.ts";
import { log, pseudonym } from "../lib/log.server.ts";
import { sendMail } from "../lib/mail.server.ts";
import { type Refusal, refusalOf, refusalOfThrown } from "../lib/refusal.server.ts";
import type { Client } from "../lib/session.server.ts";
import { anonymousBackend, type Backend, companyBackend } from "../lib/supabase.server.ts";
import { givePassword } from "./account.server.ts";
import { tell } from "./colleague.server.ts";
import {
  addressChangeAsked,
  addressChanged,
  addressTaken,
  type Letterhead,
  newAddressLetter,
  passwordChanged,
  senderOf,
} from "./letter.ts";
import type { Given } from "./mail-link.server.ts";
import { giveCode } from "./second-factor.server.ts";

/**
 * What somebody gives who changes how their account is opened; the code where it has a second factor, and the token of the
 * link that they came by.
 */
export type Proof = { present: string; code?: string; factorId?: string; link?: string };

/** Saves the name of the client; null when it is saved. */
export async function saveName(client: Client, full_name: string): Promise<Refusal | null> {
  const { error } = await client.backend.auth.updateUser({ data: { full_name } });
  return error && refusalOf(error);
}

/** Signs the client out on every device but this one; null when done. */
export async function signOutElsewhere(client: Client): Promise<Refusal | null> {
  const { error } = await client.backend.auth.signOut({ scope: "others" });
  log("info", "sign-out elsewhere", { account: pseudonym(client.email), told: !error });
  return error && refusalOf(error);
}

/**
 * Signs in anew with the present password, and the code of a second factor: the handle of that session, or why not. Wrong
 * passwords and codes count as at the login. The caller ends the session, or makes it the browser's.
 */
async function provenBy(
  client: Pick<Client, "id" | "email">,
  limits: Limits,
  { present, code, factorId, link }: Proof,
): Promise<Backend | Failed> {
  const attempt = await limits.login(client.email);
  if ("reason" in attempt) return attempt;
  const person = anonymousBackend();
  const { error } = await givePassword(person, { email: client.email, password: present });
  if (error?.code === "invalid_credentials") {
    const reason = "This is not the password of the account.";
    log("warn", "proof failed", { account: pseudonym(client.email) });
    return { reason, status: 400, fieldErrors: { present: [reason] } };
  }
  attempt.release();
  if (error) return refusalOf(error);
  if (!factorId) return person;
  const failed = await giveCode({ ...client, backend: person }, limits, factorId, code ?? "", link);
  if (!failed) return person;
  await person.auth.signOut({ scope: "local" }).catch(() => undefined);
  return { ...failed, fieldErrors: codeErrors(failed) };
}

/**
 * Changes the password of the client; null when it is changed. Every other session ends, this browser's goes on in a new
 * one, and the owner is told by mail.
 */
export async function changePassword(
  client: Client,
  limits: Limits,
  head: Letterhead,
  proof: Proof,
  password: string,
): Promise<Failed | null> {
  const person = await provenBy(client, limits, proof);
  if ("reason" in person) return person;
  const { error } = await person.auth.updateUser({ password, current_password: proof.present });
  const to = { email: client.email, account: client.id, kind: "password change" } as const;
  // Without an answer it may be changed all the same: at once, when it opens the account, or a moment later.
  const isUnknown = error !== null && refusalOf(error).status === 503;
  if (error && !(isUnknown && (await opens(client.email, password)))) {
    await person.auth.signOut({ scope: "local" }).catch(() => undefined);
    if (isUnknown) {
      await tell(companyBackend(), head, to, passwordChanged(head, "perhaps"));
      return { reason: "We do not know whether it was changed. Log in again, with the new one first.", status: 503 };
    }
    const same = error.code === "same_password" && "This is the password you have. Choose another one.";
    return same ? { reason: same, status: 400, fieldErrors: { password: [same] } } : refusalOf(error);
  }
  log("info", "password changed", { account: pseudonym(client.email) });
  // Auth ends them with the change already; this is for one that does not.
  await person.auth.signOut({ scope: "others" }).catch(() => undefined);
  const { data } = await person.auth.getSession();
  if (data.session) await client.backend.auth.setSession(data.session);
  const company = companyBackend();
  // What waits in a mailbox was perhaps asked for by whoever knew the old password.
  await company.rpc("forget_links", { account: client.id }).then(undefined, () => undefined);
  await tell(company, head, to, passwordChanged(head));
  return null;
}

/** Whether a password opens an account, as far as auth answers. */
async function opens(email: string, password: string): Promise<boolean> {
  const { error } = await anonymousBackend().auth.signInWithPassword({ email, password });
  return error === null;
}

/**
 * Begins a change of address: the new one gets a link, the present one is told. Null when done, also for an address that
 * has an account: nobody learns that here.
 */
export async function askEmailChange(
  client: Client,
  limits: Limits,
  head: Letterhead,
  proof: Proof,
  email: string,
): Promise<Failed | null> {
  // Before the code is spent.
  if (email.toLowerCase() === client.email.toLowerCase()) {
    const reason = "This is your address already.";
    return { reason, status: 400, fieldErrors: { email: [reason] } };
  }
  const mails = await limits.addressMails(client.id);
  if ("reason" in mails) return mails;
  const person = await provenBy(client, limits, proof);
  if ("reason" in person) {
    mails.release();
    return person;
  }
  await person.auth.signOut({ scope: "local" }).catch(() => undefined);
  const company = companyBackend();
  const { data: token, error, status } = await company.rpc("begin_email_change", { account: client.id, email });
  if (error) {
    mails.release();
    return refusalOf({ ...error, status });
  }
  const about = { account: client.id, kind: "address change" } as const;
  // A mail in any case: the time of the answer tells nothing either.
  const letter = token ? newAddressLetter(head, token) : addressTaken(head);
  const left = await sendMail({ to: email, ...letter }, senderOf(head)).then(
    () => true,
    () => false,
  );
  if (!left) {
    await company.rpc("forget_email_change", { account: client.id }).then(undefined, () => undefined);
    mails.release();
    return { reason: "The mail could not be sent. Your address stays as it is. Try again in a minute.", status: 503 };
  }
  await tell(company, head, { email: client.email, ...about }, addressChangeAsked(head));
  log("info", "address change asked", { account: pseudonym(client.email) });
  return null;
}

const Change = z.object({
  account: z.string(),
  email: z.string(),
  old_email: z.string(),
  factors: z.array(z.object({ id: z.string(), name: z.string() })),
});
type Change = z.infer<typeof Change>;

/** What the link to a new address opens; null when it is wrong, used or too old. Looking spends nothing. */
export async function openEmailChange(token: string): Promise<Change | Refusal | null> {
  const { data, error, status } = await companyBackend().rpc("email_change", { token });
  if (error) return refusalOf({ ...error, status });
  if (data === null) return null;
  const change = Change.safeParse(data);
  return change.success ? change.data : refusalOfThrown(change.error);
}

/**
 * Changes the address of the account behind a link, by its password, and the code of a second factor where it has one: who
 * reads the new mailbox gets no account with it. Null when it is changed. The old address is told. Whatever is refused
 * leaves the link good.
 */
export async function confirmEmailChange(
  limits: Limits,
  head: Letterhead,
  token: string,
  { account, email, old_email }: Change,
  given: Given,
): Promise<Failed | null> {
  const { password: present, ...code } = given;
  const person = await provenBy({ id: account, email: old_email }, limits, { present, ...code, link: token });
  if ("reason" in person) {
    const { present: wrong, ...others } = person.fieldErrors ?? {};
    return { ...person, fieldErrors: person.fieldErrors && { ...others, ...(wrong && { password: wrong }) } };
  }
  await person.auth.signOut({ scope: "local" }).catch(() => undefined);
  const company = companyBackend();
  const spent = await company.rpc("spend_email_change", { token });
  if (spent.error) return refusalOf({ ...spent.error, status: spent.status });
  if (!spent.data) return { reason: "This link has been used or is too old.", status: 409 };
  const { error } = await company.auth.admin.updateUserById(account, { email, email_confirm: true });
  const to = { email: old_email, account, kind: "address change" } as const;
  const refused = error && refusalOf(error);
  // Without an answer it may be changed all the same, at once or a moment later: then the old address is told too.
  const isUnknown = refused?.status === 503;
  const now = isUnknown && (await company.auth.admin.getUserById(account).catch(() => null));
  if (refused && !(now && now.data.user?.email === email)) {
    await company.rpc("unspend_email_change", { token });
    if (isUnknown) await tell(company, head, to, addressChanged(head, "perhaps"));
    return refused;
  }
  log("info", "address changed", { account: pseudonym(email) });
  // An account that has it already, as an answer was lost before, has no other address: the old one was told then.
  if (email !== old_email) await tell(company, head, to, addressChanged(head));
  return null;
}

/** Asks for the erasure of the client's account, or takes that back; null when done. */
export async function askErasure(client: Client, wanted: boolean): Promise<Refusal | null> {
  const { error, status } = await client.backend.rpc("ask_erasure", { wanted });
  return error ? refusalOf({ ...error, status }) : null;
}
