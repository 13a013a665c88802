import { z } from "zod";
import { emailAddress, personName } from "../models/contact.ts";
import { STAFF_ROLES } from "../models/desk-labels.ts";
import { inviteStaffMember, runStaffAction } from "../models/staff.server.ts";
import { defineStaffAction, reasonField } from "./staff-action.server.ts";

const role = z.enum(STAFF_ROLES, "Choose a role.");
const roleHelp = "the role; a lead also manages the team";

export const invite = defineStaffAction({
  name: "team invite",
  label: "Team member invited",
  target: null,
  schema: z.object({ name: personName, email: emailAddress, role }),
  run: ({ supabase, serviceRole, emailSender, options: { idempotency_key, actor_name } }, _, fields) =>
    inviteStaffMember(supabase, serviceRole(), emailSender(), fields, { idempotency_key, actor_name }),
  toast: (_, { email }) => `Invitation sent to ${email}`,
  command: {
    description: "invite a new team member by email; the invitation is valid for 7 days",
    arguments: { email: "the team member's email address; a client must not use the same address" },
    options: { name: "the name that the activity log shows", role: roleHelp },
    defaults: { role: "clerk" },
  },
});

export const changeRole = defineStaffAction({
  name: "team role",
  label: "Role changed",
  target: "account",
  schema: z.object({ role }),
  run: ({ supabase, options: { actor_name } }, account_id, { role }) =>
    runStaffAction(supabase, "change_staff_role", { account_id, role, actor_name }),
  toast: (name, { role }) => `Role of ${name} changed to ${role}`,
  command: { description: "change the role of a team member", options: { role: roleHelp } },
});

export const remove = defineStaffAction({
  name: "team remove",
  label: "Team member removed",
  target: "account",
  schema: z.object({ reason: reasonField }),
  run: ({ supabase, options: { idempotency_key, actor_name } }, account_id, { reason }) =>
    runStaffAction(supabase, "remove_staff_member", { account_id, reason, idempotency_key, actor_name }),
  toast: (name) => `${name} removed from the desk`,
  command: {
    description: "remove a team member from the desk and sign out all their devices",
    defaults: { reason: "Left the company" },
  },
});
