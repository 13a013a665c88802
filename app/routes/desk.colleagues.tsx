import { z } from "zod";
import { ActForm, ActProblems, type RefusedAct, showing, useAct } from "~/components/desk/act-form";
import { Field, SelectField } from "~/components/field";
import { SubmitButton } from "~/components/form";
import { Title } from "~/components/title";
import { Card } from "~/components/ui/card";
import { answerForm, formOf, then } from "~/lib/act-form.server";
import { keepTyped } from "~/lib/connection";
import { theLetterhead } from "~/lib/content.server";
import { eastAfricaTime } from "~/lib/dates";
import { deskPage, requireLead } from "~/lib/desk.server";
import { companyBackend } from "~/lib/supabase.server";
import { InviteColleague, Reason, ROLES } from "~/models/colleague";
import { changeRole, inviteColleague, removeColleague, type Told } from "~/models/colleague.server";
import { ColleaguesPage, type ListedColleague } from "~/models/desk.server";
import { sendPasswordLink } from "~/models/password.server";
import { removeSecondFactors } from "~/models/second-factor.server";
import type { Route } from "./+types/desk.colleagues";

const Account = z.object({ account: z.uuid("Open this page again.") });

export async function loader({ context }: Route.LoaderArgs) {
  requireLead(context);
  return deskPage(context, ColleaguesPage);
}

const sent = (told: Told, toast: string) => {
  if ("reason" in told) return told;
  return { toast: told.sent ? toast : "This is done, but its mail could not be sent: it is on Today's list" };
};

export function action({ request, context }: Route.ActionArgs) {
  requireLead(context);
  return answerForm(request, context, "/desk/colleagues", {
    invite: formOf(InviteColleague, async ({ backend }, who) =>
      sent(await inviteColleague(backend, companyBackend(), theLetterhead(), who), "The invitation is on its way"),
    ),
    role: formOf(Account.extend({ role: z.enum(ROLES, "Choose what they may do.") }), async ({ backend }, to) =>
      then(await changeRole(backend, to.account, to.role), () => "Role changed"),
    ),
    "send-link": formOf(Account, async ({ backend }, { account }) =>
      sent(await sendPasswordLink(backend, companyBackend(), theLetterhead(), account), "The link is on its way"),
    ),
    "remove-2fa": formOf(Account.extend({ reason: Reason }), async ({ backend }, { account, reason }) =>
      then(await removeSecondFactors(backend, account, reason), () => "They set up a new second factor next"),
    ),
    remove: formOf(Account.extend({ reason: Reason }), async ({ backend }, { account, reason }) =>
      then(await removeColleague(backend, account, reason), () => "Removed, and signed out everywhere"),
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
  const here = loaderData.colleagues.filter(({ removed_at }) => !removed_at);
  const gone = loaderData.colleagues.filter(({ removed_at }) => removed_at);
  return (
    <>
      <Title refused={actionData !== undefined}>Colleagues</Title>
      <ActProblems answer={actionData} />
      <h1 className="mb-4 text-xl">Colleagues</h1>
      <div className="grid items-start gap-6 lg:grid-cols-[2fr_3fr]">
        <Card title="Invite a colleague">
          <ActForm id={id} act={act} className="px-4 py-3">
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
                <Row key={colleague.id} colleague={colleague} answer={actionData} />
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

type RowProps = { colleague: ListedColleague; answer: RefusedAct | undefined };

function Row({ colleague, answer }: RowProps) {
  const { id: account, name, email, role, last_sign_in_at, has_factor, is_me } = colleague;
  const other = role === "lead" ? "clerk" : "lead";
  const link = useAct("send-link", answer, [], account);
  const change = useAct("role", answer, [], account);
  return (
    <li className="px-4 py-3">
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
            <Again colleague={colleague} answer={answer} />
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
        <Asking act="remove-2fa" title="Remove second factor" colleague={colleague} answer={answer} />
      )}
      {!is_me && <Asking act="remove" title="Remove" colleague={colleague} answer={answer} />}
    </li>
  );
}

/** The same invitation once more, for somebody who has not come yet. */
function Again({ colleague: { id: account, name, email, role }, answer }: RowProps) {
  const { id } = useAct("invite", answer, [], account);
  return (
    <ActForm id={id} act="invite">
      <input type="hidden" name="name" value={name} />
      <input type="hidden" name="email" value={email} />
      <input type="hidden" name="role" value={role} />
      <SubmitButton look="plain" pending="Sending…">
        Send the invitation again<span className="sr-only"> to {name}</span>
      </SubmitButton>
    </ActForm>
  );
}

function Asking({ act, title, colleague, answer }: RowProps & { act: string; title: string }) {
  const { id: account, name } = colleague;
  const { id, fields, refused } = useAct(act, answer, ["reason"], account);
  return (
    <details open={refused !== undefined}>
      <summary className="inline-flex min-h-11 cursor-pointer items-center text-sm underline">
        {title}
        <span className="sr-only"> of {name}</span>
      </summary>
      <ActForm id={id} act={act}>
        <input type="hidden" name="account" value={account} />
        <Field field={fields.reason} label="Reason" autoComplete="off" />
        <SubmitButton look="plain" pending="Saving…">
          {title}
          <span className="sr-only"> of {name}</span>
        </SubmitButton>
      </ActForm>
    </details>
  );
}
