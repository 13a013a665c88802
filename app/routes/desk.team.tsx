import { randomUUID } from "node:crypto";
import { Link } from "react-router";
import { resetSecondFactor, sendLink } from "~/actions/client-account.server";
import { createDeskIntents } from "~/actions/desk-intents.server";
import { changeRole, invite, remove } from "~/actions/team.server";
import { type Column, DeskTable, RelativeTime, useOpenRowAddress } from "~/components/desk/desk-table";
import { Field, SelectField } from "~/components/forms/field";
import { SubmitButton } from "~/components/forms/form";
import { getIntentErrors, IntentForm, ReasonForm, useIntentForm } from "~/components/forms/intent-form";
import { PageHeading } from "~/components/site/title";
import { Card } from "~/components/ui/card";
import { getStaffPage, requireLead } from "~/lib/auth/staff.server";
import { showTime } from "~/lib/dates";
import { handleIntent } from "~/lib/forms/intent-form.server";
import { type DeskStaffMember, TeamPage } from "~/models/desk.server";
import { staffRoleLabels } from "~/models/desk-labels";
import { readSort } from "~/models/desk-query.server";
import type { Route } from "./+types/desk.team";

export { revalidateAfterConflict as shouldRevalidate } from "~/lib/browser/revalidate";

export async function loader({ context, url }: Route.LoaderArgs) {
  requireLead(context);
  const { staff_members } = await getStaffPage(context, TeamPage);
  const sort = readSort(url) ?? "name";
  return {
    staffMembers: sortStaffMembers(staff_members, sort).map((staffMember) => ({
      ...staffMember,
      lastLogin: staffMember.last_sign_in_at ? showTime(staffMember.last_sign_in_at) : null,
      removed: staffMember.removed_at ? showTime(staffMember.removed_at) : null,
    })),
    opened: url.searchParams.get("open"),
    idempotencyKey: randomUUID(),
  };
}

const sortTexts: Record<string, (staffMember: DeskStaffMember) => string> = {
  name: ({ name }) => name,
  email: ({ email }) => email,
  role: ({ role }) => role,
  factor: ({ has_factor }) => String(has_factor),
  login: ({ last_sign_in_at }) => last_sign_in_at ?? "",
};

/** Current team members come before removed ones in every order. */
function sortStaffMembers(staffMembers: DeskStaffMember[], sort: string): DeskStaffMember[] {
  const text = sortTexts[sort.replace("-", "")] ?? (({ name }) => name);
  const direction = sort.startsWith("-") ? -1 : 1;
  return staffMembers.toSorted(
    (first, second) =>
      Number(first.removed_at !== null) - Number(second.removed_at !== null) ||
      direction * text(first).localeCompare(text(second), "en"),
  );
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

const columns: Column[] = [
  { label: "Name", sort: "name" },
  { label: "Role", sort: "role", className: "w-[10%]" },
  { label: "Email", sort: "email" },
  { label: "2FA", sort: "factor", className: "w-[10%]" },
  { label: "Last login", sort: "login", className: "w-[18%]" },
];

type StaffMemberItem = Route.ComponentProps["loaderData"]["staffMembers"][number];

export default function DeskTeamPage({ loaderData, actionData }: Route.ComponentProps) {
  const { staffMembers } = loaderData;
  const opened = staffMembers.find(({ id, removed_at }) => id === loaderData.opened && !removed_at);
  const openRow = useOpenRowAddress();
  return (
    <>
      <PageHeading title="Team" className="mb-2 text-lg" form={getIntentErrors(actionData)} />
      <div className="grid items-start gap-4 lg:grid-cols-[20rem_1fr]">
        <div className="grid gap-4">
          {opened && <OpenedStaffMember key={opened.id} staffMember={opened} />}
          <InviteForm />
        </div>
        <DeskTable columns={columns} defaultSort="name" label="Team members">
          {staffMembers.map((staffMember) => {
            const { id, name, email, role, lastLogin, removed, has_factor, is_viewer: isViewer } = staffMember;
            const shownTime = removed ?? lastLogin;
            return (
              <tr key={id} aria-current={id === opened?.id || undefined}>
                <th scope="row">
                  {removed ? (
                    name
                  ) : (
                    <Link data-row to={openRow(id)}>
                      {name}
                      {isViewer && " (you)"}
                    </Link>
                  )}
                </th>
                <td className="end">{removed ? "" : role}</td>
                <td>{email}</td>
                <td>{removed ? "" : has_factor ? "2FA on" : "2FA off"}</td>
                <td className="end">
                  {removed && "Removed "}
                  {shownTime ? <RelativeTime time={shownTime} /> : "Invited"}
                </td>
              </tr>
            );
          })}
        </DeskTable>
      </div>
    </>
  );
}

function InviteForm() {
  const { intent, fields } = useIntentForm("invite", ["name", "email", "role"], { stored: { role: "clerk" } });
  return (
    <Card title="Invite a team member">
      <IntentForm intent={intent} idempotent className="px-4 py-3">
        <Field field={fields.name} label="Name" hint="The activity log shows this name." autoComplete="off" />
        <Field field={fields.email} label="Email" type="email" autoComplete="off" />
        <SelectField field={fields.role} label="Role" options={Object.entries(staffRoleLabels)} />
        <SubmitButton pending="Sending…">Send invitation</SubmitButton>
      </IntentForm>
    </Card>
  );
}

function OpenedStaffMember({ staffMember }: { staffMember: StaffMemberItem }) {
  const { id: account, name, email, role, lastLogin, has_factor, is_viewer: isViewer } = staffMember;
  const otherRole = role === "lead" ? "clerk" : "lead";
  const values = { account };
  return (
    <Card title={name}>
      <p className="px-4 pt-3 text-sm wrap-anywhere text-quiet">
        {email}, {role}, {lastLogin ? `last login ${lastLogin.full}` : "invited, not logged in yet"}
      </p>
      {isViewer && <p className="px-4 py-3 text-sm">You cannot change your own role, or remove yourself.</p>}
      {!isViewer && (
        <>
          <div className="flex flex-wrap gap-2 px-4 py-3">
            {lastLogin ? (
              <IntentForm intent="send-link" values={values} idempotent>
                <SubmitButton look="plain" pending="Sending…">
                  Send password link
                </SubmitButton>
              </IntentForm>
            ) : (
              <IntentForm id={`invite-${account}`} intent="invite" values={{ name, email, role }} idempotent>
                <SubmitButton look="plain" pending="Sending…">
                  Send invitation again
                </SubmitButton>
              </IntentForm>
            )}
            <IntentForm intent="role" values={{ account, role: otherRole }}>
              <SubmitButton look="plain">Change role to {otherRole}</SubmitButton>
            </IntentForm>
          </div>
          {has_factor && <ReasonForm intent="remove-2fa" title="Reset 2FA" values={values} idempotent />}
          <ReasonForm intent="remove" title="Remove from the desk" values={values} idempotent />
        </>
      )}
    </Card>
  );
}
