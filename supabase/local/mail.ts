/** Mails of the embedded backend: written to a folder as .eml files, or sent by SMTP. */
import { randomUUID } from "node:crypto";
import { mkdir, rename, writeFile } from "node:fs/promises";
import path from "node:path";
import type { App } from "@supabase/lite";
import { convert } from "html-to-text";
import nodemailer from "nodemailer";
import MailComposer from "nodemailer/lib/mail-composer/index.js";

export type Mail = { from: { name: string; address: string }; to: string; subject: string; html: string; text: string };

/** Hands one mail over; rejects when that failed. */
export type Deliver = (mail: Mail) => Promise<void>;

export type Mailer = NonNullable<App["_mailer"]>;

/** Writes each mail to `folder` as `<UTC time>-<random>.eml`, readable by any mail program. */
export function outbox(folder: string): Deliver {
  return async (mail) => {
    const message = await new MailComposer(mail).compile().build();
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const name = `${new Date().toISOString().replaceAll(":", "-")}-${randomUUID().slice(0, 8)}.eml`;
    const file = path.join(folder, name);
    await writeFile(`${file}.part`, message, { mode: 0o600 });
    await rename(`${file}.part`, file);
  };
}

/** Sends each mail through the server at `url`, such as smtps://user:password@mail.example:465. */
export function smtp(url: string): Deliver {
  const transport = nodemailer.createTransport({ url, connectionTimeout: 4000, greetingTimeout: 4000 } as object);
  return async (mail) => {
    await transport.sendMail(mail);
  };
}

/**
 * A mailer for the confirmation of a sign-up, from the same template the hosted backend uses. The product sends no
 * other mail, so the other kinds reject.
 */
export function templateMailer(options: {
  from: Mail["from"];
  siteUrl: string;
  subject: string;
  template: string;
  deliver: Deliver;
}): Mailer {
  const refuse = (kind: string) => async () => {
    throw new Error(`The embedded backend has no mail template for ${kind}.`);
  };
  return {
    async sendConfirmation(email, tokenHash) {
      const html = fill(options.template, { SiteURL: options.siteUrl, TokenHash: tokenHash, Email: email });
      await options.deliver({
        from: options.from,
        to: email,
        subject: options.subject,
        html,
        text: convert(html, { wordwrap: 100, selectors: [{ selector: "h1", options: { uppercase: false } }] }),
      });
    },
    sendRecovery: refuse("recovery"),
    sendMagicLink: refuse("magic links"),
    sendEmailChange: refuse("a change of address"),
    sendReauthentication: refuse("reauthentication"),
  };
}

/** Puts values into the `{{ .Name }}` places of a Go template, escaped for HTML. Unknown names become empty. */
function fill(template: string, values: Record<string, string>): string {
  return template.replace(/\{\{\s*\.(\w+)\s*\}\}/g, (_place, name: string) =>
    (values[name] ?? "").replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`),
  );
}
