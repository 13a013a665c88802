/** Staff actions on client accounts. A lead can use some of these actions on accounts of team members too. */
import { z } from "zod";
import { rejectErasure as emailRejection, eraseAccount } from "../models/retention.server.ts";
import { removeSecondFactors } from "../models/second-factor.server.ts";
import { runStaffAction, sendPasswordLink } from "../models/staff.server.ts";
import { defineStaffAction, reasonField } from "./staff-action.server.ts";

const ReasonFields = z.object({ reason: reasonField });

export const sendLink = defineStaffAction({
  name: "account send-password-link",
  label: "New-password link sent",
  target: "account",
  schema: z.object({}),
  run: ({ supabase, serviceRole, emailSender, options: { actor_name } }, account) =>
    sendPasswordLink(supabase, serviceRole(), emailSender(), account, actor_name),
  toast: () => "The link is on its way",
  command: { description: "email a link to set a new password; check first who is calling" },
});

export const resetSecondFactor = defineStaffAction({
  name: "account reset-2fa",
  label: "Second factor removed",
  target: "account",
  schema: ReasonFields,
  run: ({ supabase, serviceRole, emailSender, options: { actor_name } }, account, { reason }) =>
    removeSecondFactors(supabase, serviceRole(), emailSender(), account, reason, actor_name),
  toast: () => "The account opens with its password alone",
  command: { description: "remove a lost second factor; check first who is calling" },
});

export const close = defineStaffAction({
  name: "account close",
  label: "Account closed",
  target: "account",
  schema: ReasonFields,
  run: ({ supabase, options: { actor_name } }, account_id, { reason }) =>
    runStaffAction(supabase, "close_account", { account_id, reason, actor_name }),
  toast: () => "The account is closed",
  command: { description: "end all sessions of a client's account and prevent new logins" },
});

export const reopen = defineStaffAction({
  name: "account reopen",
  label: "Account opened again",
  target: "account",
  schema: ReasonFields,
  run: ({ supabase, options: { actor_name } }, account_id, { reason }) =>
    runStaffAction(supabase, "reopen_account", { account_id, reason, actor_name }),
  toast: () => "The account is open again",
  command: { description: "reopen a closed account" },
});

export const erase = defineStaffAction({
  name: "account erase",
  label: "Account erased",
  target: "account",
  schema: ReasonFields,
  run: async ({ supabase, serviceRole, emailSender, options: { actor_name } }, account, { reason }) =>
    (await eraseAccount(supabase, serviceRole(), account, reason, actor_name, emailSender())) ?? {},
  toast: () => "The account is gone",
  redirectTo: "/desk/clients",
  command: {
    description: "delete a client's account, unless its shipments have to be stored longer",
    defaults: { reason: "The client asked for it" },
  },
});

export const rejectErasure = defineStaffAction({
  name: "account reject-erasure",
  label: "Erasing refused",
  target: "account",
  schema: ReasonFields,
  run: ({ supabase, serviceRole, emailSender, options: { actor_name } }, account, { reason }) =>
    emailRejection(supabase, serviceRole(), emailSender(), account, reason, actor_name),
  toast: () => "The answer is on its way",
  command: { description: "reject a client's request for erasure by email", options: { reason: "for the client" } },
});
