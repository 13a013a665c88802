import type { App } from "@supabase/lite";
import { convert } from "html-to-text";
import type { DeliverEmail, Email } from "../../app/models/email-delivery.server.ts";

export type Mailer = NonNullable<App["_mailer"]>;

/** Returns a mailer that sends sign-up confirmations and rejects every other kind of email. */
export function createTemplateMailer(options: {
  from: Email["from"];
  siteUrl: string;
  subject: string;
  template: string;
  deliver: DeliverEmail;
}): Mailer {
  const rejectKind = (kind: string) => async () => {
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
    sendRecovery: rejectKind("recovery"),
    sendMagicLink: rejectKind("magic links"),
    sendEmailChange: rejectKind("a change of address"),
    sendReauthentication: rejectKind("reauthentication"),
  };
}

/** Replaces each `{{ .Name }}` of a Go template by its value, escaped for HTML, or by nothing. */
function renderTemplate(template: string, values: Record<string, string>): string {
  return template.replace(/\{\{\s*\.(\w+)\s*\}\}/g, (_match, name: string) =>
    (values[name] ?? "").replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`),
  );
}
