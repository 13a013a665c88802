import { randomUUID } from "node:crypto";
import { issue, send, withdraw } from "~/actions/client-id.server";
import { createDeskIntents } from "~/actions/desk-intents.server";
import { FilterPager } from "~/components/desk/audit-entry-list";
import { Field } from "~/components/forms/field";
import { SubmitButton } from "~/components/forms/form";
import { getIntentErrors, IntentForm, ReasonForm, useIntentForm } from "~/components/forms/intent-form";
import { PageHeading } from "~/components/site/title";
import { Card } from "~/components/ui/card";
import { getStaffPage } from "~/lib/auth/staff.server";
import { eastAfricaTime } from "~/lib/dates";
import { handleIntent } from "~/lib/forms/intent-form.server";
import { InvitationsPage } from "~/models/desk.server";
import { shipmentsPerPage } from "~/models/shipment";
import { readShipmentFilter } from "~/models/shipment-filter";
import type { Route } from "./+types/desk.invitations";

export { revalidateAfterConflict as shouldRevalidate } from "~/lib/browser/revalidate";

export async function loader({ context, url }: Route.LoaderArgs) {
  const { invitations } = await getStaffPage(context, InvitationsPage);
  return {
    invitations: invitations
      .slice(0, shipmentsPerPage)
      .map((invitation) => ({ ...invitation, days: getDaysSince(invitation.created_at) })),
    hasMore: invitations.length > shipmentsPerPage,
    page: readShipmentFilter(url).page,
    idempotencyKey: randomUUID(),
  };
}

export function action({ request, context }: Route.ActionArgs) {
  return handleIntent(request, context, "/desk/invitations", createDeskIntents({ issue, send, withdraw }));
}

export default function DeskInvitationsPage({ loaderData, actionData }: Route.ComponentProps) {
  const { invitations, hasMore, page } = loaderData;
  const { intent, fields } = useIntentForm("issue", ["count", "for", "email"], { stored: { count: "1" } });
  return (
    <>
      <PageHeading title="Invitations" className="mb-4 text-xl" form={getIntentErrors(actionData)} />
      <div className="grid items-start gap-6 lg:grid-cols-[2fr_3fr]">
        <Card title="New Client IDs">
          <IntentForm intent={intent} idempotent className="px-4 py-3">
            <Field field={fields.count} label="Number of Client IDs" inputMode="numeric" autoComplete="off" />
            <Field
              field={fields.for}
              label="Name of the client"
              hint="Our email greets the client with this name."
              optional
              autoComplete="off"
            />
            <Field
              field={fields.email}
              label="Email"
              hint="We send the Client ID and a sign-up link to this address."
              type="email"
              optional
              autoComplete="off"
            />
            <SubmitButton pending="Issuing…">Issue Client IDs</SubmitButton>
          </IntentForm>
        </Card>
        <Card title="Unused Client IDs">
          {invitations.length === 0 && <p className="px-4 py-3 text-sm text-quiet">No unused Client IDs.</p>}
          <ul className="ruled">
            {invitations.map((invitation) => (
              <InvitationRow key={invitation.client_id} invitation={invitation} />
            ))}
          </ul>
          <div className="px-4">
            <FilterPager path="/desk/invitations" filter={{ page }} hasMore={hasMore} />
          </div>
        </Card>
      </div>
    </>
  );
}

type InvitationItem = Route.ComponentProps["loaderData"]["invitations"][number];

const getDaysSince = (at: string) => Math.floor((Date.now() - Date.parse(at)) / 86_400_000);

const formatAge = (days: number) => (days < 1 ? "less than a day ago" : days === 1 ? "1 day ago" : `${days} days ago`);

function InvitationRow({ invitation }: { invitation: InvitationItem }) {
  const { client_id, issued_for, sent_to, created_at, days } = invitation;
  return (
    <li>
      <div className="flex flex-wrap items-center justify-between gap-x-4 gap-y-1 px-4 pt-3">
        <div className="min-w-0">
          <p>
            <span className="font-mono">{client_id} </span>
          </p>
          <p className="text-sm wrap-anywhere text-quiet">
            {[issued_for, sent_to].filter(Boolean).join(", ")}{" "}
            <span className="block">
              Issued {eastAfricaTime(created_at)} ({formatAge(days)})
            </span>
          </p>
        </div>
        {sent_to && (
          <IntentForm intent="send" values={{ clientId: client_id }} idempotent>
            <SubmitButton look="plain" pending="Sending…">
              Send again<span className="sr-only">: {client_id}</span>
            </SubmitButton>
          </IntentForm>
        )}
      </div>
      <ReasonForm
        intent="withdraw"
        title="Withdraw"
        subject={` ${client_id}`}
        values={{ clientId: client_id }}
        idempotent
      />
    </li>
  );
}
