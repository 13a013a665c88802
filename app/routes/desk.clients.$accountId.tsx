import { data, Link } from "react-router";
import { z } from "zod";
import { ActForm, ActProblems, ReasonForm, type RefusedAct, useAct } from "~/components/act-form";
import { LogLines, TurnMark } from "~/components/desk/parts";
import { SubmitButton } from "~/components/form";
import { Title } from "~/components/title";
import { Card } from "~/components/ui/card";
import { answerForm, formOf, toastOf, toastOfMail } from "~/lib/act-form.server";
import { keepTyped } from "~/lib/connection";
import { theLetterhead } from "~/lib/content.server";
import { calendarDate, eastAfricaTime } from "~/lib/dates";
import { deskPage } from "~/lib/desk.server";
import { noPageOf } from "~/lib/refusal.server";
import { companyBackend } from "~/lib/supabase.server";
import { closeAccount, openAccount } from "~/models/client-account.server";
import { Reason } from "~/models/colleague";
import { searchOf } from "~/models/desk";
import { ClientsPage, type OpenedClient } from "~/models/desk.server";
import { sendPasswordLink } from "~/models/password.server";
import { eraseAccount, refuseErasure } from "~/models/retention.server";
import { removeSecondFactors } from "~/models/second-factor.server";
import { lastStage } from "~/models/shipment";
import { isUuid } from "~/models/shipment.server";
import type { Route } from "./+types/desk.clients.$accountId";

export { afterConflict as shouldRevalidate } from "~/lib/revalidate";

const WithReason = z.object({ reason: Reason });

export async function loader({ context }: Route.LoaderArgs) {
  const { opened } = await deskPage(context, ClientsPage);
  if (!opened) throw noPageOf("desk");
  return { client: opened };
}

export async function action({ request, context, params }: Route.ActionArgs) {
  const id = params.accountId;
  if (!isUuid(id)) throw data("Not found", { status: 404 });
  return answerForm(request, context, `/desk/clients/${id}`, {
    "send-link": formOf(z.object({}), async ({ backend }) => {
      const told = await sendPasswordLink(backend, companyBackend(), theLetterhead(), id);
      return toastOfMail(told, "The link is on its way");
    }),
    "remove-2fa": formOf(WithReason, async ({ backend }, { reason }) =>
      toastOf(
        await removeSecondFactors(backend, companyBackend(), theLetterhead(), id, reason),
        () => "The account opens with its password alone",
      ),
    ),
    close: formOf(WithReason, async ({ backend }, { reason }) =>
      toastOf(await closeAccount(backend, id, reason), () => "The account is closed"),
    ),
    open: formOf(WithReason, async ({ backend }, { reason }) =>
      toastOf(await openAccount(backend, id, reason), () => "The account is open again"),
    ),
    erase: formOf(WithReason, async ({ backend }, { reason }) => {
      const refused = await eraseAccount(backend, companyBackend(), id, reason, undefined, theLetterhead());
      return refused ?? { toast: "The account is gone", to: "/desk/clients" };
    }),
    keep: formOf(WithReason, async ({ backend }, { reason }) => {
      const told = await refuseErasure(backend, companyBackend(), theLetterhead(), id, reason);
      return toastOfMail(told, "The answer is on its way");
    }),
  });
}

export function clientAction({ serverAction }: Route.ClientActionArgs) {
  return keepTyped(serverAction);
}

export default function ClientPage({ loaderData, actionData }: Route.ComponentProps) {
  const { client } = loaderData;
  const name = client.name || client.email;
  return (
    <>
      <Title refused={actionData !== undefined}>{name}</Title>
      <ActProblems answer={actionData} />
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
          <dd>{client.factors > 0 ? `${client.factors} authenticator${client.factors > 1 ? "s" : ""}` : "Off"}</dd>
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
                    <TurnMark turn={shipment.turn} />
                  </span>
                </Link>
              </li>
            ))}
          </ul>
          {client.shipments.length > 0 && (
            <p className="border-t border-line px-4">
              <Link
                to={`/desk/shipments${searchOf({ q: client.email })}`}
                className="inline-flex min-h-11 items-center text-sm underline"
              >
                All their shipments
              </Link>
            </p>
          )}
        </Card>
        <div className="grid gap-6">
          <Account client={client} answer={actionData} />
          <Card title="Log">
            <LogLines acts={client.log} />
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

function Account({ client, answer }: { client: OpenedClient; answer: RefusedAct | undefined }) {
  const link = useAct("send-link", answer, []);
  const kept = client.kept_until && new Date(client.kept_until) >= new Date() ? client.kept_until : null;
  return (
    <Card title="Account">
      <p className="px-4 pt-3 text-sm text-quiet">Clients read the reasons you give in the copy of their data.</p>
      {client.erasure_asked_at && (
        <div className="border-b border-line pt-3">
          <p className="mb-1 px-4 text-sm font-semibold text-needs-you">
            Asked on {eastAfricaTime(client.erasure_asked_at)} to be erased.
          </p>
          <ReasonForm
            act="keep"
            title="Answer that it cannot be erased yet"
            text="The reason goes to them by mail, as you write it here."
            hint="Such as: the law has us keep your last shipment until 4 May 2033"
            answer={answer}
          />
        </div>
      )}
      {!client.closed && client.confirmed && (
        <ActForm id={link.id} act="send-link" className="px-4 py-3">
          <p className="mb-2 text-sm text-quiet">
            Be sure who asks. The link goes to {client.email} and is good for one hour.
          </p>
          <SubmitButton look="plain" pending="Sending…">
            Send a new-password link
          </SubmitButton>
        </ActForm>
      )}
      {client.factors > 0 && (
        <ReasonForm
          act="remove-2fa"
          title="Remove second factor"
          text="The account is signed out everywhere and opens with its password alone."
          answer={answer}
        />
      )}
      {client.closed ? (
        <ReasonForm key="open" act="open" title="Open account again" answer={answer} />
      ) : (
        <ReasonForm
          act="close"
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
          act="erase"
          title="Erase"
          text="The account, its shipments and their files are deleted for good."
          answer={answer}
        />
      )}
    </Card>
  );
}
