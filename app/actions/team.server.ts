/** Staff actions on team members. */
import { z } from "zod";
import { emailAddress, personName } from "../models/contact.ts";
import { STAFF_ROLES } from "../models/desk-labels.ts";
import { inviteStaffMember, runStaffAction } from "../models/staff.server.ts";
import { defineStaffAction, reasonField, reasonHelp } from "./staff-action.server.ts";

const role = z.enum(STAFF_ROLES, "Choose what they may do.");
const roleHelp = "clerk or lead; a lead also manages the team";

export const invite = defineStaffAction({
  name: "team invite",
  label: "Colleague invited",
  target: null,
  schema: z.object({ name: personName, email: emailAddress, role }),
  run: ({ supabase, serviceRole, emailSender, options: { idempotency_key, actor_name } }, _, fields) =>
    inviteStaffMember(supabase, serviceRole(), emailSender(), fields, { idempotency_key, actor_name }),
  toast: () => "The invitation is on its way",
  command: {
    description: "email an invitation to the desk, valid for seven days",
    arguments: { email: "an address without a client's account" },
    options: { name: "as the activity log shows it", role: roleHelp },
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
  toast: () => "Role changed",
  command: { description: "change the role of a team member", options: { role: roleHelp } },
});

export const remove = defineStaffAction({
  name: "team remove",
  label: "Colleague removed",
  target: "account",
  schema: z.object({ reason: reasonField }),
  run: ({ supabase, options: { actor_name } }, account_id, { reason }) =>
    runStaffAction(supabase, "remove_staff_member", { account_id, reason, actor_name }),
  toast: () => "Removed, and signed out everywhere",
  command: {
    description: "remove a team member and end their sessions",
    options: { reason: reasonHelp },
    defaults: { reason: "They left" },
  },
});
