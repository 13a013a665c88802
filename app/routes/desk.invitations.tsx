import { randomUUID } from "node:crypto";
import { Link } from "react-router";
import { issue, send, withdraw } from "~/actions/client-id.server";
import { createDeskIntents } from "~/actions/desk-intents.server";
import { ListPager } from "~/components/desk/audit-log-card";
import { type Column, DeskTable, RelativeTime, useOpenRowAddress } from "~/components/desk/desk-table";
import { Field } from "~/components/forms/field";
import { SubmitButton } from "~/components/forms/form";
import { getIntentErrors, IntentForm, ReasonForm, useIntentForm } from "~/components/forms/intent-form";
import { PageHeading } from "~/components/site/title";
import { Card } from "~/components/ui/card";
import { getStaffPage } from "~/lib/auth/staff.server";
import { showTime } from "~/lib/dates";
import { handleIntent } from "~/lib/forms/intent-form.server";
import { InvitationsPage } from "~/models/desk.server";
import { shipmentsPerPage } from "~/models/shipment";
import { readShipmentFilter } from "~/models/shipment-filter";
import type { Route } from "./+types/desk.invitations";

export { revalidateAfterConflict as shouldRevalidate } from "~/lib/browser/revalidate";

export async function loader({ context, url }: Route.LoaderArgs) {
  const { invitations } = await getStaffPage(context, InvitationsPage);
  const opened = invitations.find(({ client_id }) => client_id === url.searchParams.get("open"));
  return {
    invitations: invitations
      .slice(0, shipmentsPerPage)
      .map(({ created_at, ...invitation }) => ({ ...invitation, issued: showTime(created_at) })),
    opened: opened && { clientId: opened.client_id, sentTo: opened.sent_to },
    hasMore: invitations.length > shipmentsPerPage,
    page: readShipmentFilter(url).page,
    idempotencyKey: randomUUID(),
  };
}

export function action({ request, context }: Route.ActionArgs) {
  return handleIntent(request, context, "/desk/invitations", createDeskIntents({ issue, send, withdraw }));
}

const columns: Column[] = [
  { label: "Client ID", sort: "id", className: "w-[24%]" },
  { label: "Issued", sort: "created", className: "w-[14%]" },
  { label: "Client", sort: "for" },
  { label: "Sent to", sort: "email" },
];

export default function DeskInvitationsPage({ loaderData, actionData }: Route.ComponentProps) {
  const { invitations, opened, hasMore, page } = loaderData;
  const openRow = useOpenRowAddress();
  return (
    <>
      <PageHeading title="Invitations" className="mb-2 text-lg" form={getIntentErrors(actionData)} />
      <div className="grid items-start gap-4 lg:grid-cols-[20rem_1fr]">
        <div className="grid gap-4">
          {opened && <OpenedInvitation key={opened.clientId} {...opened} />}
          <IssueForm />
        </div>
        <div>
          {invitations.length === 0 && <p className="text-quiet">No unused Client IDs.</p>}
          {invitations.length > 0 && (
            <DeskTable columns={columns} defaultSort="-created" label="Unused Client IDs">
              {invitations.map(({ client_id, issued_for, sent_to, issued }) => (
                <tr key={client_id} aria-current={client_id === opened?.clientId || undefined}>
                  <th scope="row" className="font-mono">
                    <Link data-row to={openRow(client_id)}>
                      {client_id}
                    </Link>
                  </th>
                  <td className="end">
                    <RelativeTime time={issued} />
                  </td>
                  <td>{issued_for}</td>
                  <td>{sent_to}</td>
                </tr>
              ))}
            </DeskTable>
          )}
          <ListPager path="/desk/invitations" page={page} hasMore={hasMore} />
        </div>
      </div>
    </>
  );
}

function OpenedInvitation({ clientId, sentTo }: { clientId: string; sentTo: string | null }) {
  return (
    <Card title={clientId}>
      {sentTo && (
        <IntentForm intent="send" values={{ clientId }} idempotent className="px-4 pt-3">
          <SubmitButton look="plain" pending="Sending…">
            Send again
          </SubmitButton>
        </IntentForm>
      )}
      <ReasonForm intent="withdraw" title="Withdraw" values={{ clientId }} idempotent />
    </Card>
  );
}

function IssueForm() {
  const { intent, fields } = useIntentForm("issue", ["count", "for", "email"], { stored: { count: "1" } });
  return (
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
  );
}
