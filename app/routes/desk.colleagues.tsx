import { randomUUID } from "node:crypto";
import { z } from "zod";
import { ActForm, ActProblems, ReasonForm, type RefusedAct, requestOf, showing, useAct } from "~/components/act-form";
import { Field, SelectField } from "~/components/field";
import { SubmitButton } from "~/components/form";
import { Title } from "~/components/title";
import { Card } from "~/components/ui/card";
import { answerForm, formOf, toastOf, toastOfMail } from "~/lib/act-form.server";
import { keepTyped } from "~/lib/connection";
import { theLetterhead } from "~/lib/content.server";
import { eastAfricaTime } from "~/lib/dates";
import { deskPage, requireLead } from "~/lib/desk.server";
import { companyBackend } from "~/lib/supabase.server";
import { InviteColleague, Reason, ROLES } from "~/models/colleague";
import { changeRole, inviteColleague, removeColleague } from "~/models/colleague.server";
import { ColleaguesPage, type ListedColleague } from "~/models/desk.server";
import { sendPasswordLink } from "~/models/password.server";
import { removeSecondFactors } from "~/models/second-factor.server";
import type { Route } from "./+types/desk.colleagues";

export { afterConflict as shouldRevalidate } from "~/lib/revalidate";

const Account = z.object({ account: z.uuid("Open this page again.") });

export async function loader({ context }: Route.LoaderArgs) {
  requireLead(context);
  return { ...(await deskPage(context, ColleaguesPage)), request: randomUUID() };
}

export function action({ request, context }: Route.ActionArgs) {
  requireLead(context);
  return answerForm(request, context, "/desk/colleagues", {
    invite: formOf(InviteColleague, async ({ backend }, who, { request }) => {
      const told = await inviteColleague(backend, companyBackend(), theLetterhead(), who, { request });
      return toastOfMail(told, "The invitation is on its way");
    }),
    role: formOf(Account.extend({ role: z.enum(ROLES, "Choose what they may do.") }), async ({ backend }, to) =>
      toastOf(await changeRole(backend, to.account, to.role), () => "Role changed"),
    ),
    "send-link": formOf(Account, async ({ backend }, { account }) =>
      toastOfMail(
        await sendPasswordLink(backend, companyBackend(), theLetterhead(), account),
        "The link is on its way",
      ),
    ),
    "remove-2fa": formOf(Account.extend({ reason: Reason }), async ({ backend }, { account, reason }) =>
      toastOf(
        await removeSecondFactors(backend, companyBackend(), theLetterhead(), account, reason),
        () => "They set up a new second factor next",
      ),
    ),
    remove: formOf(Account.extend({ reason: Reason }), async ({ backend }, { account, reason }) =>
      toastOf(await removeColleague(backend, account, reason), () => "Removed, and signed out everywhere"),
    ),
  });
}

export function clientAction({ serverAction }: Route.ClientActionArgs) {
  return keepTyped(serverAction);
}

const roles = [
  { value: "clerk", words: "Clerk: the day's work" },
  { value: "lead", words: "Lead: invites and removes colleagues too" },
];

export default function Colleagues({ loaderData, actionData }: Route.ComponentProps) {
  const { id, act, fields, refused } = useAct("invite", actionData, ["name", "email", "role"]);
  const request = requestOf(actionData, loaderData.request);
  const here = loaderData.colleagues.filter(({ removed_at }) => !removed_at);
  const gone = loaderData.colleagues.filter(({ removed_at }) => removed_at);
  return (
    <>
      <Title refused={actionData !== undefined}>Colleagues</Title>
      <ActProblems answer={actionData} />
      <h1 className="mb-4 text-xl">Colleagues</h1>
      <div className="grid items-start gap-6 lg:grid-cols-[2fr_3fr]">
        <Card title="Invite a colleague">
          <ActForm id={id} act={act} request={request} className="px-4 py-3">
            <Field field={fields.name} label="Name" hint="As it stands in the log" autoComplete="off" />
            <Field field={fields.email} label="Email" type="email" autoComplete="off" />
            <SelectField field={showing(fields.role, refused, "clerk")} label="What they may do" options={roles} />
            <SubmitButton pending="Inviting…">Invite</SubmitButton>
          </ActForm>
        </Card>
        <div className="grid gap-6">
          <Card title="At the desk">
            <ul className="ruled">
              {here.map((colleague) => (
                <Row key={colleague.id} colleague={colleague} answer={actionData} request={request} />
              ))}
            </ul>
          </Card>
          {gone.length > 0 && (
            <Card title="Removed">
              <ul className="ruled text-sm">
                {gone.map(({ id, name, email, removed_at }) => (
                  <li key={id} className="px-4 py-2 wrap-anywhere">
                    {name}, {email} <span className="text-quiet">{removed_at && eastAfricaTime(removed_at)}</span>
                  </li>
                ))}
              </ul>
            </Card>
          )}
        </div>
      </div>
    </>
  );
}

type RowProps = { colleague: ListedColleague; answer: RefusedAct | undefined; request: string };

function Row({ colleague, answer, request }: RowProps) {
  const { id: account, name, email, role, last_sign_in_at, has_factor, is_me } = colleague;
  const other = role === "lead" ? "clerk" : "lead";
  const link = useAct("send-link", answer, [], account);
  const change = useAct("role", answer, [], account);
  const on = { account };
  return (
    <li className="py-3 *:px-4">
      <p className="font-semibold wrap-anywhere">
        {name}
        {is_me && " (you)"}{" "}
      </p>
      <p className="text-sm wrap-anywhere text-quiet">
        {email}, {role}, {last_sign_in_at ? `last login ${eastAfricaTime(last_sign_in_at)}` : "invited, not come yet"}
      </p>
      {!is_me && (
        <div className="mt-2 flex flex-wrap gap-2">
          {last_sign_in_at ? (
            <ActForm id={link.id} act="send-link">
              <input type="hidden" name="account" value={account} />
              <SubmitButton look="plain" pending="Sending…">
                Send a new-password link<span className="sr-only"> to {name}</span>
              </SubmitButton>
            </ActForm>
          ) : (
            <Again colleague={colleague} answer={answer} request={request} />
          )}
          <ActForm id={change.id} act="role">
            <input type="hidden" name="account" value={account} />
            <input type="hidden" name="role" value={other} />
            <SubmitButton look="plain" pending="Saving…">
              Make a {other}
              <span className="sr-only"> of {name}</span>
            </SubmitButton>
          </ActForm>
        </div>
      )}
      {!is_me && has_factor && (
        <ReasonForm act="remove-2fa" title="Remove second factor" of={` of ${name}`} on={on} answer={answer} />
      )}
      {!is_me && <ReasonForm act="remove" title="Remove" of={` ${name}`} on={on} answer={answer} />}
    </li>
  );
}

/** The same invitation once more, for somebody who has not come yet. */
function Again({ colleague: { id: account, name, email, role }, answer, request }: RowProps) {
  const { id } = useAct("invite", answer, [], account);
  return (
    <ActForm id={id} act="invite" request={request}>
      <input type="hidden" name="name" value={name} />
      <input type="hidden" name="email" value={email} />
      <input type="hidden" name="role" value={role} />
      <SubmitButton look="plain" pending="Sending…">
        Send the invitation again<span className="sr-only"> to {name}</span>
      </SubmitButton>
    </ActForm>
  );
}
