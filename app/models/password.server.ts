/** New passwords by a link from a mail: for colleagues who are invited, and for whoever is locked out. */
import { z } from "zod";
import type { Failed } from "../lib/act-form.server.ts";
import { codeErrors } from "../lib/answer.server.ts";
import type { Limits } from "../lib/limits.server.ts";
import { log, pseudonym } from "../lib/log.server.ts";
import { type Refusal, refusalOf, refusalOfThrown } from "../lib/refusal.server.ts";
import { anonymousBackend, type Backend, companyBackend } from "../lib/supabase.server.ts";
import { sendLink, type Told, tell } from "./colleague.server.ts";
import { act } from "./desk-act.server.ts";
import { type Letterhead, newPasswordLetter, passwordChanged } from "./letter.ts";
import type { Given } from "./mail-link.server.ts";
import { giveCode } from "./second-factor.server.ts";

/** Hours for which the link to a new password is good. */
const newPasswordHours = 1;

/** What a link opens: whose password is set, and the authenticators of which one has to give its code first. */
const Link = z.object({
  account: z.string(),
  email: z.string(),
  colleague: z.boolean(),
  is_invitation: z.boolean(),
  factors: z.array(z.object({ id: z.string(), name: z.string() })),
});
export type Link = z.infer<typeof Link>;

/** Mails a client, or a lead a colleague, the link to set a new password. */
export async function sendPasswordLink(
  backend: Backend,
  company: Backend,
  head: Letterhead,
  account: string,
  by_name?: string,
): Promise<Told> {
  const asked = await act(backend, "ask_password_link", { account, by_name });
  if ("reason" in asked) return asked;
  const to = { account, email: asked.answer, kind: "new password", hours: newPasswordHours } as const;
  return sendLink(company, head, to, (token) => newPasswordLetter(head, token));
}

/** What a link opens; null when it is wrong, used or too old. Looking spends nothing. */
export async function openLink(token: string): Promise<Link | Refusal | null> {
  const { data, error, status } = await companyBackend().rpc("password_link", { token });
  if (error) return refusalOf({ ...error, status });
  if (data === null) return null;
  const link = Link.safeParse(data);
  return link.success ? link.data : refusalOfThrown(link.error);
}

const gone: Refusal = { reason: "This link has been used or is too old. Ask for another one.", status: 409 };

/**
 * Sets the password of the account behind a link, with a code of its authenticator where it has one; null when it is set.
 * Every session of the account ends, and its owner is told by mail. Whatever is refused leaves the link good.
 */
export async function setPassword(
  limits: Limits,
  head: Letterhead,
  token: string,
  link: Link,
  given: Given,
): Promise<Failed | null> {
  const company = companyBackend();
  const recovery = await company.auth.admin.generateLink({ type: "recovery", email: link.email });
  if (recovery.error) return refusalOf(recovery.error);
  const person = anonymousBackend();
  const token_hash = recovery.data.properties.hashed_token;
  const opened = await person.auth.verifyOtp({ type: "recovery", token_hash });
  if (opened.error) return refusalOf(opened.error);
  let isSpent = false;
  let isSet = false;
  try {
    if (given.factorId) {
      const who = { id: link.account, email: link.email, backend: person };
      const failed = await giveCode(who, limits, given.factorId, given.code ?? "", token);
      if (failed) return { ...failed, fieldErrors: codeErrors(failed) };
    }
    const spent = await company.rpc("spend_password_link", { token });
    if (spent.error) return refusalOf({ ...spent.error, status: spent.status });
    if (!spent.data) return gone;
    isSpent = true;
    const { error } = await person.auth.updateUser({ password: given.password });
    // The one they had: it is theirs to choose.
    isSet = !error || error.code === "same_password";
    if (error && !isSet) return refusalOf(error);
  } finally {
    if (isSpent && !isSet) await company.rpc("unspend_password_link", { token });
    // Without a new password only the session that the link opened: another one may be setting it, or be the owner's.
    await person.auth.signOut({ scope: isSet ? "global" : "local" }).catch(() => undefined);
  }
  await company.rpc("forget_links", { account: link.account }).then(undefined, () => undefined);
  log("info", "password set", { account: pseudonym(link.email) });
  // The first password of a colleague changes nothing that they know.
  if (link.is_invitation) return null;
  const to = { email: link.email, account: link.account, kind: "password change" } as const;
  await tell(company, head, to, passwordChanged(head));
  return null;
}
