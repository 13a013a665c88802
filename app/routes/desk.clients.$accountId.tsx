import { data, Link } from "react-router";
import { z } from "zod";
import { reasonField } from "~/actions/staff";
import { AuditEntryList, DeskWaitingOnLabel } from "~/components/desk/audit-entry-list";
import { SubmitButton } from "~/components/forms/form";
import {
  IntentErrorSummary,
  IntentForm,
  ReasonForm,
  type RejectedIntent,
  useIntentForm,
} from "~/components/forms/intent-form";
import { Title } from "~/components/site/title";
import { Card } from "~/components/ui/card";
import { getStaffPage } from "~/lib/auth/staff.server";
import { callServerAction } from "~/lib/browser/connection";
import { calendarDate, eastAfricaTime } from "~/lib/dates";
import { defineIntent, handleIntent, toEmailIntentResult, toIntentResult } from "~/lib/forms/intent-form.server";
import { areaNotFound } from "~/lib/http/user-error.server";
import { serviceRoleClient } from "~/lib/supabase/client.server";
import { closeAccount, reopenAccount } from "~/models/account.server";
import { getEmailSender } from "~/models/content.server";
import { createShipmentSearch } from "~/models/desk";
import { ClientsPage, type DeskClientDetails } from "~/models/desk.server";
import { sendPasswordLink } from "~/models/password-link.server";
import { eraseAccount, rejectErasure } from "~/models/retention.server";
import { removeSecondFactors } from "~/models/second-factor.server";
import { lastStage } from "~/models/shipment";
import { isUuid } from "~/models/shipment.server";
import type { Route } from "./+types/desk.clients.$accountId";

export { revalidateAfterConflict as shouldRevalidate } from "~/lib/browser/revalidate";

const ReasonFields = z.object({ reason: reasonField });

export async function loader({ context }: Route.LoaderArgs) {
  const { opened } = await getStaffPage(context, ClientsPage);
  if (!opened) throw areaNotFound("desk");
  return { client: opened };
}

export async function action({ request, context, params }: Route.ActionArgs) {
  const id = params.accountId;
  if (!isUuid(id)) throw data("Not found", { status: 404 });
  return handleIntent(request, context, `/desk/clients/${id}`, {
    "send-link": defineIntent(z.object({}), async ({ supabase: backend }) => {
      const told = await sendPasswordLink(backend, serviceRoleClient(), getEmailSender(), id);
      return toEmailIntentResult(told, "The link is on its way");
    }),
    "remove-2fa": defineIntent(ReasonFields, async ({ supabase: backend }, { reason }) =>
      toIntentResult(
        await removeSecondFactors(backend, serviceRoleClient(), getEmailSender(), id, reason),
        () => "The account opens with its password alone",
      ),
    ),
    "close-account": defineIntent(ReasonFields, async ({ supabase: backend }, { reason }) =>
      toIntentResult(await closeAccount(backend, id, reason), () => "The account is closed"),
    ),
    "reopen-account": defineIntent(ReasonFields, async ({ supabase: backend }, { reason }) =>
      toIntentResult(await reopenAccount(backend, id, reason), () => "The account is open again"),
    ),
    erase: defineIntent(ReasonFields, async ({ supabase: backend }, { reason }) => {
      const refused = await eraseAccount(backend, serviceRoleClient(), id, reason, undefined, getEmailSender());
      return refused ?? { toast: "The account is gone", redirectTo: "/desk/clients" };
    }),
    "reject-erasure": defineIntent(ReasonFields, async ({ supabase: backend }, { reason }) => {
      const told = await rejectErasure(backend, serviceRoleClient(), getEmailSender(), id, reason);
      return toEmailIntentResult(told, "The answer is on its way");
    }),
  });
}

export function clientAction({ serverAction }: Route.ClientActionArgs) {
  return callServerAction(serverAction);
}

export default function ClientPage({ loaderData, actionData }: Route.ComponentProps) {
  const { client } = loaderData;
  const name = client.name || client.email;
  return (
    <>
      <Title refused={actionData !== undefined}>{name}</Title>
      <IntentErrorSummary answer={actionData} />
      <Link to="/desk/clients" className="inline-flex min-h-11 items-center text-sm underline print:hidden">
        All clients
      </Link>
      <h1 className="mb-1 text-xl wrap-anywhere">{name}</h1>
      <dl className="mb-6 flex flex-wrap gap-x-6 gap-y-1 text-sm *:flex *:gap-2 [&_dt]:text-quiet">
        <div>
          <dt>Email</dt>
          <dd className="wrap-anywhere">{client.email}</dd>
        </div>
        <div>
          <dt>Client ID</dt>
          <dd className="font-mono">{client.client_id ?? "N/A"}</dd>
        </div>
        <div>
          <dt>Account</dt>
          <dd>{client.closed ? "Closed" : client.confirmed ? "Open" : "Address not confirmed"}</dd>
        </div>
        <div>
          <dt>2FA</dt>
          <dd>
            {client.factor_count > 0
              ? `${client.factor_count} authenticator${client.factor_count > 1 ? "s" : ""}`
              : "Off"}
          </dd>
        </div>
        <div>
          <dt>Last login</dt>
          <dd>{client.last_sign_in_at ? eastAfricaTime(client.last_sign_in_at) : "Never"}</dd>
        </div>
      </dl>
      <div className="grid items-start gap-6 lg:grid-cols-2">
        <Card title="Shipments">
          {client.shipments.length === 0 && <p className="px-4 py-3 text-sm text-quiet">None yet.</p>}
          <ul className="ruled">
            {client.shipments.map((shipment) => (
              <li key={shipment.id}>
                <Link
                  to={`/desk/shipments/${shipment.id}`}
                  className="block px-4 py-2 text-sm no-underline hover:text-action"
                >
                  <span className="block font-semibold wrap-anywhere">{shipment.name} </span>
                  <span className="flex flex-wrap justify-between gap-x-4 text-quiet">
                    <span>
                      {shipment.stage}/{lastStage} {shipment.status}{" "}
                    </span>
                    <DeskWaitingOnLabel waitingOn={shipment.waiting_on} />
                  </span>
                </Link>
              </li>
            ))}
          </ul>
          {client.shipments.length > 0 && (
            <p className="border-t border-line px-4">
              <Link
                to={`/desk/shipments${createShipmentSearch({ q: client.email })}`}
                className="inline-flex min-h-11 items-center text-sm underline"
              >
                All their shipments
              </Link>
            </p>
          )}
        </Card>
        <div className="grid gap-6">
          <AccountCard client={client} answer={actionData} />
          <Card title="Log">
            <AuditEntryList acts={client.audit_entries} />
            <p className="border-t border-line px-4">
              <Link
                to={`/desk/log?account=${client.id}`}
                className="inline-flex min-h-11 items-center text-sm underline"
              >
                All of the log
              </Link>
            </p>
          </Card>
        </div>
      </div>
    </>
  );
}

function AccountCard({ client, answer }: { client: DeskClientDetails; answer: RejectedIntent | undefined }) {
  const link = useIntentForm("send-link", answer, []);
  const kept =
    client.retention_ends_on && new Date(client.retention_ends_on) >= new Date() ? client.retention_ends_on : null;
  return (
    <Card title="Account">
      <p className="px-4 pt-3 text-sm text-quiet">Clients read the reasons you give in the copy of their data.</p>
      {client.erasure_requested_at && (
        <div className="border-b border-line pt-3">
          <p className="mb-1 px-4 text-sm font-semibold text-attention">
            Asked on {eastAfricaTime(client.erasure_requested_at)} to be erased.
          </p>
          <ReasonForm
            intent="reject-erasure"
            title="Answer that it cannot be erased yet"
            text="The reason goes to them by mail, as you write it here."
            hint="Such as: the law has us keep your last shipment until 4 May 2033"
            answer={answer}
          />
        </div>
      )}
      {!client.closed && client.confirmed && (
        <IntentForm id={link.id} intent="send-link" className="px-4 py-3">
          <p className="mb-2 text-sm text-quiet">
            Be sure who asks. The link goes to {client.email} and is good for one hour.
          </p>
          <SubmitButton look="plain" pending="Sending…">
            Send a new-password link
          </SubmitButton>
        </IntentForm>
      )}
      {client.factor_count > 0 && (
        <ReasonForm
          intent="remove-2fa"
          title="Remove second factor"
          text="The account is signed out everywhere and opens with its password alone."
          answer={answer}
        />
      )}
      {client.closed ? (
        <ReasonForm key="open" intent="reopen-account" title="Open account again" answer={answer} />
      ) : (
        <ReasonForm
          intent="close-account"
          title="Close account"
          text="It is signed out everywhere at once, and nobody gets in. Its shipments stay."
          answer={answer}
        />
      )}
      {kept ? (
        <p className="border-t border-line px-4 py-3 text-sm text-quiet">
          It cannot be erased before {calendarDate(kept)}: its shipments have to be kept until then.
        </p>
      ) : (
        <ReasonForm
          intent="erase"
          title="Erase"
          text="The account, its shipments and their files are deleted for good."
          answer={answer}
        />
      )}
    </Card>
  );
}
