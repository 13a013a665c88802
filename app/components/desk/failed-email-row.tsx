import { IntentForm } from "~/components/forms/intent-form";
import { Button } from "~/components/ui/button";
import { TextLink } from "~/components/ui/text-link";
import { eastAfricaTime } from "~/lib/dates";
import type { TodayPage } from "~/models/desk.server";

const emailKindLabels: Record<string, string> = {
  "shipment update": "A notice",
  "email change": "A mail about a new address",
  erasure: "The answer about erasing",
  "password change": "The news of the changed password",
  "second factor": "The news of the removed second factor",
};

type FailedEmailSummary = TodayPage["failed_emails"]["rows"][number];

export function FailedEmailRow({ mail, isLead }: { mail: FailedEmailSummary; isLead: boolean }) {
  const { id, kind, sent_to, account_id, client_id, is_staff, failed_at: at } = mail;
  const name = (
    <span className="sr-only">
      : the {kind} to {sent_to}
    </span>
  );
  const canBeResent = ["team invite", "client ID", "new password"].includes(kind);
  const accountPage = is_staff ? (isLead ? "/desk/team" : null) : account_id && `/desk/clients/${account_id}`;
  return (
    <li className="flex flex-wrap items-center justify-between gap-2 px-4 py-2 text-sm">
      <span>
        {emailKindLabels[kind] ?? `The ${kind}`} to <span className="font-semibold wrap-anywhere">{sent_to}</span>,{" "}
        {eastAfricaTime(at)}
        {is_staff && !isLead && canBeResent && ". A lead sends it again."}
      </span>
      <span className="flex flex-wrap items-center gap-2">
        {client_id && (
          <IntentForm id={`send-${id}`} intent="send" values={{ clientId: client_id }} idempotent>
            <Button>Send again{name}</Button>
          </IntentForm>
        )}
        {accountPage && (
          <TextLink to={accountPage}>
            {canBeResent ? "Send again" : "Tell them"}
            {name}
          </TextLink>
        )}
        <IntentForm intent="dismiss-failed-email" values={{ failedEmail: id }}>
          <Button>Dealt with{name}</Button>
        </IntentForm>
      </span>
    </li>
  );
}
