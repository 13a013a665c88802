/** Staff actions on client accounts. A lead can also send a team member a password link and reset this member's 2FA. */
import { z } from "zod";
import { formatPhone, PhoneFields, parsePhone } from "../models/phone.server.ts";
import { PHONE_COUNTRY_LABELS } from "../models/phone.ts";
import { rejectErasure as emailRejection, eraseAccount } from "../models/retention.server.ts";
import { removeSecondFactors } from "../models/second-factor.server.ts";
import { runStaffAction, sendPasswordLink } from "../models/staff.server.ts";
import { defineStaffAction, reasonField } from "./staff-action.server.ts";

const ReasonFields = z.object({ reason: reasonField });

export const sendLink = defineStaffAction({
  name: "account send-password-link",
  label: "Password link sent",
  target: "account",
  schema: z.object({}),
  run: ({ supabase, serviceRole, emailSender, options: { idempotency_key, actor_name } }, account) =>
    sendPasswordLink(supabase, serviceRole(), emailSender(), account, { idempotency_key, actor_name }),
  toast: (email) => `Password link sent to ${email}`,
  command: {
    description: "email a link to set a new password; first check the identity of the person who asked for the link",
  },
});

export const resetSecondFactor = defineStaffAction({
  name: "account reset-2fa",
  label: "2FA reset",
  target: "account",
  schema: ReasonFields,
  run: (call, account, { reason }) => removeSecondFactors(call, account, reason),
  toast: (email) => `2FA reset for ${email}. The next login needs only the password.`,
  command: {
    description:
      "remove all authenticator apps of an account; first check that the account's owner asked for the removal",
  },
});

export const close = defineStaffAction({
  name: "account close",
  label: "Account closed",
  target: "account",
  schema: ReasonFields,
  run: ({ supabase, options: { idempotency_key, actor_name } }, account_id, { reason }) =>
    runStaffAction(supabase, "close_account", { account_id, reason, idempotency_key, actor_name }),
  toast: (email) => `Account ${email} closed`,
  command: { description: "close a client's account; this signs the client out on all devices and prevents logins" },
});

export const reopen = defineStaffAction({
  name: "account reopen",
  label: "Account reopened",
  target: "account",
  schema: ReasonFields,
  run: ({ supabase, options: { idempotency_key, actor_name } }, account_id, { reason }) =>
    runStaffAction(supabase, "reopen_account", { account_id, reason, idempotency_key, actor_name }),
  toast: (email) => `Account ${email} reopened`,
  command: { description: "reopen a closed account" },
});

export const savePhone = defineStaffAction({
  name: "account save-phone",
  label: "Telephone number changed",
  target: "account",
  schema: PhoneFields,
  async run({ supabase, options }, account_id, fields) {
    const parsed = parsePhone(fields);
    if ("reason" in parsed) return parsed;
    const { phone } = parsed;
    const saved = await runStaffAction(supabase, "save_client_phone", { account_id, phone, ...options });
    return "reason" in saved ? saved : { result: phone };
  },
  toast: (phone) => (phone ? `Telephone number ${formatPhone(phone)} saved` : "Telephone number removed"),
  command: {
    description: "save a client's telephone number, or remove the number if none is given",
    arguments: { phone: "the telephone number" },
    options: { country: "the country of a number without a country code" },
    labels: { country: PHONE_COUNTRY_LABELS },
    defaults: { country: "KE" },
  },
});

export const erase = defineStaffAction({
  name: "account erase",
  label: "Account erased",
  target: "account",
  schema: ReasonFields,
  run: ({ supabase, serviceRole, emailSender, options: { actor_name } }, account, { reason }) =>
    eraseAccount(supabase, serviceRole(), account, reason, actor_name, emailSender()),
  toast: (email) => `Account ${email} erased`,
  redirectTo: () => "/desk/clients",
  command: {
    description: "erase a client's account; the retention periods of all its shipments must have ended",
    defaults: { reason: "Requested by the client" },
  },
});

export const rejectErasure = defineStaffAction({
  name: "account reject-erasure",
  label: "Erasure request rejected",
  target: "account",
  schema: ReasonFields,
  run: (call, account, { reason }) => emailRejection(call, account, reason),
  toast: (email) => `Erasure request from ${email} rejected`,
  command: {
    description: "reject a client's erasure request and email the reason to the client",
    options: { reason: "the reason that the client reads in the email" },
  },
});
