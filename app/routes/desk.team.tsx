import { randomUUID } from "node:crypto";
import { resetSecondFactor, sendLink } from "~/actions/client-account.server";
import { createDeskIntents } from "~/actions/desk-intents.server";
import { changeRole, invite, remove } from "~/actions/team.server";
import { Field, SelectField } from "~/components/forms/field";
import { SubmitButton } from "~/components/forms/form";
import { getIntentErrors, IntentForm, ReasonForm, useIntentForm } from "~/components/forms/intent-form";
import { PageHeading } from "~/components/site/title";
import { Card } from "~/components/ui/card";
import { getStaffPage, requireLead } from "~/lib/auth/staff.server";
import { eastAfricaTime } from "~/lib/dates";
import { handleIntent } from "~/lib/forms/intent-form.server";
import { type DeskStaffMember, TeamPage } from "~/models/desk.server";
import { staffRoleLabels } from "~/models/desk-labels";
import type { Route } from "./+types/desk.team";

export { revalidateAfterConflict as shouldRevalidate } from "~/lib/browser/revalidate";

export async function loader({ context }: Route.LoaderArgs) {
  requireLead(context);
  return { ...(await getStaffPage(context, TeamPage)), idempotencyKey: randomUUID() };
}

export function action({ request, context }: Route.ActionArgs) {
  requireLead(context);
  const actions = {
    invite,
    role: changeRole,
    "send-link": sendLink,
    "remove-2fa": {
      ...resetSecondFactor,
      toast: (email: unknown) => `2FA reset for ${email}. The team member must set up 2FA again at the next login.`,
    },
    remove,
  };
  return handleIntent(request, context, "/desk/team", createDeskIntents(actions));
}

export default function DeskTeamPage({ loaderData, actionData }: Route.ComponentProps) {
  const { intent, fields } = useIntentForm("invite", ["name", "email", "role"], { stored: { role: "clerk" } });
  const current = loaderData.staff_members.filter(({ removed_at }) => !removed_at);
  const removed = loaderData.staff_members.filter(({ removed_at }) => removed_at);
  return (
    <>
      <PageHeading title="Team" className="mb-4 text-xl" form={getIntentErrors(actionData)} />
      <div className="grid items-start gap-6 lg:grid-cols-[2fr_3fr]">
        <Card title="Invite a team member">
          <IntentForm intent={intent} idempotent className="px-4 py-3">
            <Field field={fields.name} label="Name" hint="The activity log shows this name." autoComplete="off" />
            <Field field={fields.email} label="Email" type="email" autoComplete="off" />
            <SelectField field={fields.role} label="Role" options={Object.entries(staffRoleLabels)} />
            <SubmitButton pending="Sending…">Send invitation</SubmitButton>
          </IntentForm>
        </Card>
        <div className="grid gap-6">
          <Card title="Current team members">
            <ul className="ruled">
              {current.map((staffMember) => (
                <StaffMemberRow key={staffMember.id} staffMember={staffMember} />
              ))}
            </ul>
          </Card>
          {removed.length > 0 && (
            <Card title="Removed team members">
              <ul className="ruled text-sm">
                {removed.map(({ id, name, email, removed_at }) => (
                  <li key={id} className="px-4 py-2 wrap-anywhere">
                    {name}, {email}{" "}
                    <span className="text-quiet">{removed_at && `removed ${eastAfricaTime(removed_at)}`}</span>
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

function StaffMemberRow({ staffMember }: { staffMember: DeskStaffMember }) {
  const { id: account, name, email, role, last_sign_in_at, has_factor, is_viewer: isViewer } = staffMember;
  const otherRole = role === "lead" ? "clerk" : "lead";
  const values = { account };
  return (
    <li className="py-3 *:px-4">
      <p className="font-semibold wrap-anywhere">
        {name}
        {isViewer && " (you)"}{" "}
      </p>
      <p className="text-sm wrap-anywhere text-quiet">
        {email}, {role},{" "}
        {last_sign_in_at ? `last login ${eastAfricaTime(last_sign_in_at)}` : "invited, not logged in yet"}
      </p>
      {!isViewer && has_factor && (
        <ReasonForm intent="remove-2fa" title="Reset 2FA" subject={`: ${name}`} values={values} idempotent />
      )}
      {!isViewer && (
        <div className="mt-2 flex flex-wrap gap-2">
          {last_sign_in_at ? (
            <IntentForm intent="send-link" values={values} idempotent>
              <SubmitButton look="plain" pending="Sending…">
                Send password link<span className="sr-only">: {name}</span>
              </SubmitButton>
            </IntentForm>
          ) : (
            <IntentForm id={`invite-${account}`} intent="invite" values={{ name, email, role }} idempotent>
              <SubmitButton look="plain" pending="Sending…">
                Send invitation again<span className="sr-only">: {name}</span>
              </SubmitButton>
            </IntentForm>
          )}
          <IntentForm intent="role" values={{ account, role: otherRole }}>
            <SubmitButton look="plain">
              Change role to {otherRole}
              <span className="sr-only">: {name}</span>
            </SubmitButton>
          </IntentForm>
        </div>
      )}
      {!isViewer && (
        <ReasonForm intent="remove" title="Remove from the desk" subject={`: ${name}`} values={values} idempotent />
      )}
    </li>
  );
}
