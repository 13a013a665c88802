import { randomUUID } from "node:crypto";
import { z } from "zod";
import { ActForm, ActProblems, type RefusedAct, requestOf, showing, useAct } from "~/components/desk/act-form";
import { Pager } from "~/components/desk/parts";
import { Field } from "~/components/field";
import { SubmitButton } from "~/components/form";
import { Title } from "~/components/title";
import { Card } from "~/components/ui/card";
import { answerForm, formOf, then } from "~/lib/act-form.server";
import { keepTyped } from "~/lib/connection";
import { theLetterhead } from "~/lib/content.server";
import { eastAfricaTime } from "~/lib/dates";
import { deskPage } from "~/lib/desk.server";
import { companyBackend } from "~/lib/supabase.server";
import { issueClientIds, sendClientId, withdrawClientId } from "~/models/client-id.server";
import { Reason } from "~/models/colleague";
import { emailAddress } from "~/models/contact";
import { filterOf, searchOf } from "~/models/desk";
import { InvitationsPage } from "~/models/desk.server";
import { pageSize } from "~/models/shipment";
import { oneLine } from "~/models/text";
import type { Route } from "./+types/desk.invitations";

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
const Withdraw = z.object({ clientId: z.string().min(12).max(64), reason: Reason });

export async function loader({ context, url }: Route.LoaderArgs) {
  const { invitations } = await deskPage(context, InvitationsPage);
  return {
    invitations: invitations.slice(0, pageSize),
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
      const [first = ""] = issued.answer;
      if (!issue.email)
        return { toast: issued.answer.length > 1 ? `${issued.answer.length} issued` : `${first} issued` };
      const { sent } = await sendClientId(companyBackend(), theLetterhead(), first, issue.email);
      return { toast: sent ? `${first} is on its way` : `${first} issued, but its mail could not be sent` };
    }),
    withdraw: formOf(Withdraw, async ({ backend }, { clientId, reason }) =>
      then(await withdrawClientId(backend, clientId, reason), () => `${clientId} is withdrawn`),
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
              <Row key={invitation.client_id} invitation={invitation} answer={actionData} />
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

type Invitation = z.infer<typeof InvitationsPage>["invitations"][number];

function Row({ invitation, answer }: { invitation: Invitation; answer: RefusedAct | undefined }) {
  const { client_id, issued_for, sent_to, created_at } = invitation;
  const { id, act, fields, refused } = useAct("withdraw", answer, ["reason"], client_id);
  return (
    <li className="px-4 py-2">
      <p className="flex flex-wrap justify-between gap-x-4">
        <span className="font-mono">{client_id} </span>
        <span className="text-sm text-quiet">since {eastAfricaTime(created_at)}</span>
      </p>
      {(issued_for || sent_to) && (
        <p className="text-sm wrap-anywhere text-quiet">{[issued_for, sent_to].filter(Boolean).join(", ")}</p>
      )}
      <details open={refused !== undefined}>
        <summary className="inline-flex min-h-11 cursor-pointer items-center text-sm underline">
          Withdraw<span className="sr-only"> {client_id}</span>
        </summary>
        <ActForm id={id} act={act}>
          <input type="hidden" name="clientId" value={client_id} />
          <Field field={fields.reason} label="Reason" autoComplete="off" />
          <SubmitButton look="plain" pending="Withdrawing…">
            Withdraw<span className="sr-only"> {client_id}</span>
          </SubmitButton>
        </ActForm>
      </details>
    </li>
  );
}
