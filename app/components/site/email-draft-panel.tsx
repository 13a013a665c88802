import { Mail } from "lucide";
import { useEffect, useRef } from "react";
import { useSiteData } from "~/components/site/site-data";
import { Icon } from "~/components/ui/icon";
import { type EmailDraft, mailtoHref, openEmailApp } from "~/models/email-draft";
import { focusInView } from "../ui/page-navigation";
import { chatHref } from "./chat";
import { OfficePhone } from "./office-phone";

export function EmailDraftPanel({ draft, opens = false }: { draft: EmailDraft; opens?: boolean }) {
  const company = useSiteData()?.company;
  const panel = useRef<HTMLElement>(null);
  useEffect(() => {
    if (!opens) return;
    if (panel.current) focusInView(panel.current);
    openEmailApp(draft);
  }, [draft, opens]);
  return (
    <section
      ref={panel}
      tabIndex={-1}
      aria-labelledby="email-draft"
      className="max-w-prose rounded-label border border-line bg-raised p-4 sm:p-6"
    >
      <h2 id="email-draft" className="text-lg font-semibold">
        Your email has not been sent yet
      </h2>
      <p className="mt-1 text-quiet">
        Send this message to {draft.to} from your email app. We store no copy of the message.
      </p>
      <a
        href={mailtoHref(draft)}
        className="mt-4 inline-flex min-h-11 items-center gap-2 rounded-label bg-action px-4 py-2 text-sm font-semibold text-on-action no-underline"
      >
        <Icon of={Mail} className="size-5" />
        Open your email app
      </a>
      <label htmlFor="email-text" className="mt-6 block text-sm font-semibold">
        No email app? Copy this text into WhatsApp
      </label>
      <textarea
        id="email-text"
        readOnly
        rows={9}
        className="mt-1 w-full rounded-label border border-edge bg-sunken p-3 font-mono text-base"
        value={`To: ${draft.to}\nSubject: ${draft.subject}\n\n${draft.body}`}
      />
      {company && (
        <p className="mt-2 text-sm">
          You can also call <OfficePhone /> or{" "}
          <a
            className="inline-flex min-h-11 items-center underline"
            href={chatHref(company.chat_phone)}
            target="_blank"
            rel="noreferrer"
          >
            chat with us
          </a>
          .
        </p>
      )}
    </section>
  );
}
