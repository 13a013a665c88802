import { IntentForm } from "~/components/forms/intent-form";
import { Button, TextLink } from "~/components/ui/button";
import { eastAfricaTime } from "~/lib/dates";
import type { TodayPage } from "~/models/desk.server";

const emailKindLabels: Record<string, string> = {
  "shipment update": "Shipment update",
  "email change": "Email about a new email address",
  erasure: "Reply to an erasure request",
  "password change": "Email about a password change",
  "second factor": "Email about a 2FA reset",
  "team invite": "Team invitation",
  "client ID": "Email with a Client ID",
  "new password": "Email with a password link",
};

type FailedEmailSummary = TodayPage["failed_emails"]["rows"][number];

export function FailedEmailRow({ email, isLead }: { email: FailedEmailSummary; isLead: boolean }) {
  const { id, kind, sent_to, account_id, client_id, is_staff, failed_at: at } = email;
  const label = emailKindLabels[kind] ?? kind;
  const name = (
    <span className="sr-only">
      : {label} to {sent_to}
    </span>
  );
  const canBeResent = ["team invite", "client ID", "new password"].includes(kind);
  const accountPage = is_staff ? (isLead ? "/desk/team" : null) : account_id && `/desk/clients/${account_id}`;
  const resendText = is_staff ? "Send again from the Team page" : "Send again from the client's page";
  const openText = is_staff ? "Open the Team page" : "Open the client's page";
  return (
    <li className="flex flex-wrap items-center justify-between gap-2 px-4 py-2 text-sm">
      <span>
        {label} to <span className="font-semibold wrap-anywhere">{sent_to}</span>, {eastAfricaTime(at)}
        {is_staff && !isLead && canBeResent && <span className="block">Ask a lead to send this email again.</span>}
      </span>
      <span className="flex flex-wrap items-center gap-2">
        {client_id && (
          <IntentForm id={`send-${id}`} intent="send" values={{ clientId: client_id }} idempotent>
            <Button>Send again{name}</Button>
          </IntentForm>
        )}
        {accountPage && (
          <TextLink to={accountPage}>
            {canBeResent ? resendText : openText}
            {name}
          </TextLink>
        )}
        <IntentForm intent="dismiss-failed-email" values={{ failedEmail: id }}>
          <Button>Dismiss{name}</Button>
        </IntentForm>
      </span>
    </li>
  );
}
