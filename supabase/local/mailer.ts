/** Mails of the embedded backend. */
import type { App } from "@supabase/lite";
import { convert } from "html-to-text";
import type { DeliverEmail, Email } from "../../app/models/email-delivery.server.ts";

export type Mailer = NonNullable<App["_mailer"]>;

/**
 * A mailer for the confirmation of a sign-up, from the same template the hosted backend uses. The product sends no
 * other mail, so the other kinds reject.
 */
export function createTemplateMailer(options: {
  from: Email["from"];
  siteUrl: string;
  subject: string;
  template: string;
  deliver: DeliverEmail;
}): Mailer {
  const refuse = (kind: string) => async () => {
    throw new Error(`The embedded backend has no mail template for ${kind}.`);
  };
  return {
    async sendConfirmation(email, tokenHash) {
      const html = renderTemplate(options.template, { SiteURL: options.siteUrl, TokenHash: tokenHash, Email: email });
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
function renderTemplate(template: string, values: Record<string, string>): string {
  return template.replace(/\{\{\s*\.(\w+)\s*\}\}/g, (_place, name: string) =>
    (values[name] ?? "").replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`),
  );
}
