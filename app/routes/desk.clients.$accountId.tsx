import { randomUUID } from "node:crypto";
import { data, Link } from "react-router";
import { labelAuditEntry } from "~/actions/all-staff-actions.server";
import * as account from "~/actions/client-account.server";
import { createDeskIntents } from "~/actions/desk-intents.server";
import { AuditLogCard, DeskWaitingOnLabel } from "~/components/desk/audit-log-card";
import { PhoneLinks, WhatsAppLink } from "~/components/desk/phone-links";
import { ErrorSummary, SubmitButton } from "~/components/forms/form";
import { FormDisclosure, getIntentErrors, IntentForm, ReasonForm, useIntentForm } from "~/components/forms/intent-form";
import { PhoneFields } from "~/components/forms/phone-fields";
import { Title } from "~/components/site/title";
import { TextLink } from "~/components/ui/button";
import { Card } from "~/components/ui/card";
import { FactList } from "~/components/ui/fact-list";
import { getStaffPage } from "~/lib/auth/staff.server";
import { calendarDate, eastAfricaTime } from "~/lib/dates";
import { handleIntent } from "~/lib/forms/intent-form.server";
import { areaNotFound } from "~/lib/http/user-error.server";
import { ClientsPage, type DeskClientDetails } from "~/models/desk.server";
import { getPhoneCountry } from "~/models/phone";
import { getRetentionEnd, lastStage } from "~/models/shipment";
import { isUuid } from "~/models/shipment.server";
import { createShipmentSearch } from "~/models/shipment-filter";
import type { Route } from "./+types/desk.clients.$accountId";

export { revalidateAfterConflict as shouldRevalidate } from "~/lib/browser/revalidate";

export async function loader({ context }: Route.LoaderArgs) {
  const { opened } = await getStaffPage(context, ClientsPage);
  if (!opened) throw areaNotFound("desk");
  return {
    client: { ...opened, audit_entries: opened.audit_entries.map(labelAuditEntry) },
    idempotencyKey: randomUUID(),
  };
}

export async function action({ request, context, params }: Route.ActionArgs) {
  const id = params.accountId;
  if (!isUuid(id)) throw data("Not found", { status: 404 });
  const actions = {
    "send-link": account.sendLink,
    "remove-2fa": account.resetSecondFactor,
    "close-account": account.close,
    "reopen-account": account.reopen,
    erase: account.erase,
    "reject-erasure": account.rejectErasure,
    phone: account.savePhone,
  };
  return handleIntent(request, context, `/desk/clients/${id}`, createDeskIntents(actions, { account: id }));
}

export default function ClientPage({ loaderData, actionData }: Route.ComponentProps) {
  const { client } = loaderData;
  const name = client.name || client.email;
  return (
    <>
      <Title rejected={actionData !== undefined}>{name}</Title>
      <ErrorSummary {...getIntentErrors(actionData)} />
      <TextLink to="/desk/clients" className="text-sm print:hidden">
        All clients
      </TextLink>
      <h1 className="mb-1 text-xl wrap-anywhere">{name}</h1>
      <FactList
        className="mb-6"
        facts={[
          ["Email", client.email, "wrap-anywhere"],
          ["Telephone", client.phone ? <PhoneLinks key="phone" phone={client.phone} /> : "N/A"],
          ["Client ID", client.client_id ?? "N/A", "font-mono"],
          ["Account", client.closed ? "Closed" : client.confirmed ? "Open" : "Email not confirmed"],
          ["2FA", formatFactorCount(client.factor_count)],
          ["Last login", client.last_sign_in_at ? eastAfricaTime(client.last_sign_in_at) : "Never"],
        ]}
      />
      <div className="grid items-start gap-6 lg:grid-cols-2">
        <Card title="Shipments">
          {client.shipments.length === 0 && <p className="px-4 py-3 text-sm text-quiet">No shipments yet.</p>}
          <ul className="ruled">
            {client.shipments.map((shipment) => (
              <li key={shipment.id} className="flex items-center">
                <Link
                  to={`/desk/shipments/${shipment.id}`}
                  className="min-w-0 grow px-4 py-2 text-sm no-underline hover:text-action"
                >
                  <span className="block font-semibold wrap-anywhere">{shipment.name} </span>
                  <span className="flex flex-wrap justify-between gap-x-4 text-quiet">
                    <span>
                      {shipment.stage}/{lastStage} {shipment.status}{" "}
                    </span>
                    <DeskWaitingOnLabel waitingOn={shipment.waiting_on} />
                  </span>
                </Link>
                {client.phone && (
                  <WhatsAppLink phone={client.phone} shipment={shipment} className="shrink-0 px-4 text-sm" />
                )}
              </li>
            ))}
          </ul>
          <p className="flex flex-wrap gap-x-4 border-t border-line px-4 text-sm print:hidden">
            <TextLink to={`/desk/clients/${client.id}/shipments`}>Open a shipment</TextLink>
            <TextLink to={`/desk/clients/${client.id}/shipments#several`}>Open several</TextLink>
            {client.shipments.length > 0 && (
              <TextLink to={`/desk/shipments${createShipmentSearch({ q: client.email })}`}>
                All shipments of this client
              </TextLink>
            )}
          </p>
        </Card>
        <div className="grid gap-6">
          <AccountCard client={client} />
          <AuditLogCard entries={client.audit_entries} search={`account=${client.id}`} />
        </div>
      </div>
    </>
  );
}

function formatFactorCount(count: number): string {
  if (count === 0) return "Off";
  return count === 1 ? "1 authenticator app" : `${count} authenticator apps`;
}

function PhoneForm({
  client: { phone, phone_version },
}: {
  client: Pick<DeskClientDetails, "phone" | "phone_version">;
}) {
  const { intent, fields, rejected } = useIntentForm("phone", ["phone", "country"], {
    stored: { phone: phone ?? "", country: getPhoneCountry(phone) },
  });
  return (
    <FormDisclosure title={phone ? "Change telephone number" : "Add telephone number"} open={rejected !== undefined}>
      <IntentForm intent={intent} expectedVersion={phone_version} idempotent>
        <PhoneFields fields={fields} autoComplete="off" />
        <SubmitButton look="plain">Save telephone number</SubmitButton>
      </IntentForm>
    </FormDisclosure>
  );
}

function AccountCard({ client }: { client: Omit<DeskClientDetails, "audit_entries"> }) {
  const retentionEnd = getRetentionEnd(client.retention_ends_on);
  return (
    <Card title="Account">
      <p className="px-4 pt-3 text-sm text-quiet">Clients can read your reasons in the data that they download.</p>
      <PhoneForm client={client} />
      {client.erasure_requested_at && (
        <div className="border-b border-line pt-3">
          <p className="mb-1 px-4 text-sm font-semibold text-attention">
            The client requested the erasure of this account on {eastAfricaTime(client.erasure_requested_at)}.
          </p>
          <ReasonForm
            intent="reject-erasure"
            idempotent
            title="Reject erasure request"
            text="We email your reason to the client, word for word."
            hint="For example: By law, we must store the records of your last shipment until 4 May 2033"
          />
        </div>
      )}
      {!client.closed && client.confirmed && (
        <IntentForm intent="send-link" idempotent className="px-4 py-3">
          <p className="mb-2 text-sm text-quiet">
            First check the identity of the person who asked for the link. We email the link to {client.email}. The link
            works for one hour.
          </p>
          <SubmitButton look="plain" pending="Sending…">
            Send password link
          </SubmitButton>
        </IntentForm>
      )}
      {client.factor_count > 0 && (
        <ReasonForm
          intent="remove-2fa"
          idempotent
          title="Reset 2FA"
          text="Resetting 2FA signs the client out on all devices. After the reset, the client logs in with the password only."
        />
      )}
      {client.closed ? (
        <ReasonForm key="open" intent="reopen-account" idempotent title="Reopen account" />
      ) : (
        <ReasonForm
          intent="close-account"
          idempotent
          title="Close account"
          text="If you close the account, the client is signed out on all devices and cannot log in. The desk still shows the client's shipments."
        />
      )}
      {retentionEnd ? (
        <p className="border-t border-line px-4 py-3 text-sm text-quiet">
          You can erase this account after {calendarDate(retentionEnd)}, the last day on which we must store its
          shipment records.
        </p>
      ) : (
        <ReasonForm
          intent="erase"
          title="Erase account"
          text="The account, its shipments and their files are deleted permanently."
        />
      )}
    </Card>
  );
}
