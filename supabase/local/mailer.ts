import type { App } from "@supabase/lite";
import { convert } from "html-to-text";
import type { DeliverEmail, Mailbox } from "../contract/email-delivery.ts";

export type Mailer = NonNullable<App["_mailer"]>;

export function createTemplateMailer(options: {
  from: Mailbox;
  siteUrl: string;
  subject: string;
  template: string;
  deliver: DeliverEmail;
}): Mailer {
  const reject = (kind: string) => async () => {
    throw new Error(`The embedded backend has no email template for ${kind}.`);
  };
  return {
    async sendConfirmation(email, tokenHash) {
      const html = renderTemplate(options.template, { SiteURL: options.siteUrl, TokenHash: tokenHash, Email: email });
      await options.deliver({
        from: options.from,
        to: email,
        subject: options.subject,
        text: `${convert(html, { wordwrap: false, selectors: [{ selector: "a", options: { hideLinkHrefIfSameAsText: true } }] })}\n`,
      });
    },
    sendRecovery: reject("password recovery"),
    sendMagicLink: reject("magic links"),
    sendEmailChange: reject("email changes"),
    sendReauthentication: reject("reauthentication"),
  };
}

/** Renders the `{{ .Name }}` placeholders of a Go template, escaped for HTML. Unknown names become empty text. */
function renderTemplate(template: string, values: Record<string, string>): string {
  return template.replace(/\{\{\s*\.(\w+)\s*\}\}/g, (_place, name: string) =>
    (values[name] ?? "").replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`),
  );
}
