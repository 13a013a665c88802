import { randomUUID } from "node:crypto";
import { z } from "zod";
import { ActForm, ActProblems, ReasonForm, type RefusedAct, requestOf, showing, useAct } from "~/components/act-form";
import { Pager } from "~/components/desk/parts";
import { Field } from "~/components/field";
import { SubmitButton } from "~/components/form";
import { Title } from "~/components/title";
import { Card } from "~/components/ui/card";
import { answerForm, formOf, toastOf, toastOfMail } from "~/lib/act-form.server";
import { keepTyped } from "~/lib/connection";
import { theLetterhead } from "~/lib/content.server";
import { eastAfricaTime } from "~/lib/dates";
import { deskPage } from "~/lib/desk.server";
import { companyBackend } from "~/lib/supabase.server";
import { UnusedId } from "~/models/client-id";
import { issueClientIds, sendClientId, withdrawClientId } from "~/models/client-id.server";
import { Reason } from "~/models/colleague";
import { emailAddress } from "~/models/contact";
import { filterOf, searchOf } from "~/models/desk";
import { InvitationsPage } from "~/models/desk.server";
import { pageSize } from "~/models/shipment";
import { oneLine } from "~/models/text";
import type { Route } from "./+types/desk.invitations";

export { afterConflict as shouldRevalidate } from "~/lib/revalidate";

const howMany = "Give a number from 1 to 100.";
const Issue = z
  .object({
    count: z.coerce.number(howMany).int(howMany).min(1, howMany).max(100, howMany),
    for: oneLine("").max(120, "Use at most 120 characters.").optional(),
    email: emailAddress.optional(),
  })
  .refine(({ count, email }) => !email || count === 1, {
    path: ["count"],
    message: "Send one client ID at a time, or leave the e-mail address out.",
  });
const Withdraw = z.object({ clientId: UnusedId, reason: Reason });

export async function loader({ context, url }: Route.LoaderArgs) {
  const { invitations } = await deskPage(context, InvitationsPage);
  return {
    invitations: invitations.slice(0, pageSize).map((one) => ({ ...one, days: daysSince(one.created_at) })),
    hasMore: invitations.length > pageSize,
    page: filterOf(url).page,
    request: randomUUID(),
  };
}

export function action({ request, context }: Route.ActionArgs) {
  return answerForm(request, context, "/desk/invitations", {
    issue: formOf(Issue, async ({ backend }, issue, { request }) => {
      const issued = await issueClientIds(backend, issue, { request });
      if ("reason" in issued) return issued;
      const [first] = issued.answer;
      // This very form issued it, and it was withdrawn or used meanwhile.
      if (!first) return { reason: "This form issued a client ID before. Open the page again.", status: 409 };
      if (!issue.email)
        return { toast: issued.answer.length > 1 ? `${issued.answer.length} issued` : `${first} issued` };
      const told = await sendClientId(backend, companyBackend(), theLetterhead(), first, { request });
      return toastOfMail(told, `${first} is on its way`);
    }),
    send: formOf(z.object({ clientId: UnusedId }), async ({ backend }, { clientId }, { request }) =>
      toastOfMail(
        await sendClientId(backend, companyBackend(), theLetterhead(), clientId, { request }),
        `${clientId} is on its way`,
      ),
    ),
    withdraw: formOf(Withdraw, async ({ backend }, { clientId, reason }) =>
      toastOf(await withdrawClientId(backend, clientId, reason), () => `${clientId} is withdrawn`),
    ),
  });
}

export function clientAction({ serverAction }: Route.ClientActionArgs) {
  return keepTyped(serverAction);
}

export default function Invitations({ loaderData, actionData }: Route.ComponentProps) {
  const { invitations, hasMore, page } = loaderData;
  const request = requestOf(actionData, loaderData.request);
  const { id, act, fields, refused } = useAct("issue", actionData, ["count", "for", "email"]);
  return (
    <>
      <Title refused={actionData !== undefined}>Invitations</Title>
      <ActProblems answer={actionData} />
      <h1 className="mb-4 text-xl">Invitations</h1>
      <div className="grid items-start gap-6 lg:grid-cols-[2fr_3fr]">
        <Card title="New client IDs">
          <ActForm id={id} act={act} request={request} className="px-4 py-3">
            <Field
              field={showing(fields.count, refused, "1")}
              label="How many"
              inputMode="numeric"
              autoComplete="off"
            />
            <Field
              field={fields.for}
              label="For whom"
              hint="As you call them; clients never see it"
              optional
              autoComplete="off"
            />
            <Field
              field={fields.email}
              label="Email"
              hint="If you give it, we send the client ID there with a link to sign up"
              type="email"
              optional
              autoComplete="off"
            />
            <SubmitButton pending="Issuing…">Issue</SubmitButton>
          </ActForm>
        </Card>
        <Card title="Not used yet">
          {invitations.length === 0 && <p className="px-4 py-3 text-sm text-quiet">Every client ID has been used.</p>}
          <ul className="ruled">
            {invitations.map((invitation) => (
              <Row key={invitation.client_id} invitation={invitation} answer={actionData} request={request} />
            ))}
          </ul>
          <div className="px-4">
            <Pager page={page} hasMore={hasMore} to={(number) => `/desk/invitations${searchOf({ page: number })}`} />
          </div>
        </Card>
      </div>
    </>
  );
}

type Invitation = z.infer<typeof InvitationsPage>["invitations"][number] & { days: number };

/** How old something is, in whole days. */
const daysSince = (at: string) => Math.floor((Date.now() - Date.parse(at)) / 86_400_000);

const ageIn = (days: number) => (days < 1 ? "new today" : days === 1 ? "1 day old" : `${days} days old`);

function Row(props: { invitation: Invitation; answer: RefusedAct | undefined; request: string }) {
  const { invitation, answer, request } = props;
  const { client_id, issued_for, sent_to, created_at, days } = invitation;
  const send = useAct("send", answer, [], client_id);
  return (
    <li>
      <div className="flex flex-wrap items-center justify-between gap-x-4 gap-y-1 px-4 pt-3">
        <div className="min-w-0">
          <p>
            <span className="font-mono">{client_id} </span>
          </p>
          <p className="text-sm wrap-anywhere text-quiet">
            {[issued_for, sent_to, `${ageIn(days)}, since ${eastAfricaTime(created_at)}`].filter(Boolean).join(", ")}
          </p>
        </div>
        {sent_to && (
          <ActForm id={send.id} act="send" request={request}>
            <input type="hidden" name="clientId" value={client_id} />
            <SubmitButton look="plain" pending="Sending…">
              Send again<span className="sr-only"> {client_id}</span>
            </SubmitButton>
          </ActForm>
        )}
      </div>
      <ReasonForm act="withdraw" title="Withdraw" of={` ${client_id}`} on={{ clientId: client_id }} answer={answer} />
    </li>
  );
}
