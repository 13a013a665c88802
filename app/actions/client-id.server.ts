import { z } from "zod";
import { oneLine } from "../lib/forms/text-fields.ts";
import { issueClientIds, sendClientId } from "../models/client-id.server.ts";
import { emailAddress } from "../models/contact.ts";
import { maxLength } from "../models/limits.ts";
import { runStaffAction } from "../models/staff.server.ts";
import { defineStaffAction, reasonField } from "./staff-action.server.ts";

const countError = "Enter a number from 1 to 100.";

export const issue = defineStaffAction({
  name: "client-id issue",
  label: "Client IDs issued",
  target: null,
  schema: z
    .object({
      count: z.coerce.number(countError).int(countError).min(1, countError).max(100, countError),
      for: oneLine("")
        .max(...maxLength("issuedFor"))
        .optional(),
      email: emailAddress.optional(),
    })
    .refine(({ count, email }) => !email || count === 1, {
      path: ["count"],
      message: "We can email one Client ID at a time. Enter 1, or clear the email field.",
    }),
  async run(call, _, fields) {
    const { idempotency_key, actor_name } = call.options;
    const issued = await issueClientIds(call.supabase, fields, { idempotency_key, actor_name });
    if ("reason" in issued) return issued;
    const [first] = issued.result;
    // Sending a form again returns the Client ID of the first submission. The result is empty if this Client ID has
    // been withdrawn.
    const repeatedText = "This form has already been sent. To issue another Client ID, reload the page.";
    if (!first) return { reason: repeatedText, status: 409 };
    if (!fields.email) return issued;
    const email = await sendClientId(call, first);
    return "reason" in email
      ? { ...email, reason: `Client ID ${first} was issued. The email was not sent. ${email.reason}` }
      : { ...issued, ...email };
  },
  toast(ids, { email }) {
    if (email) return `Client ID issued and sent to ${email}`;
    return ids.length > 1 ? `${ids.length} Client IDs issued` : `Client ID ${ids[0]} issued`;
  },
  command: {
    description: "issue Client IDs",
    options: {
      count: "the number of Client IDs, from 1 to 100",
      for: "the client's name; the email greets the client with this name",
      email: "the email address to send the Client ID to",
    },
    defaults: { count: "1" },
    formatLines: (ids) => ids,
  },
});

export const send = defineStaffAction({
  name: "client-id send",
  label: "Client ID sent",
  target: "clientId",
  schema: z.object({}),
  async run(call, clientId) {
    const email = await sendClientId(call, clientId);
    return "reason" in email ? email : { ...email, result: clientId };
  },
  toast: (clientId) => `Client ID ${clientId} sent again`,
  command: { description: "send an unused Client ID again to the same email address" },
});

export const withdraw = defineStaffAction({
  name: "client-id withdraw",
  label: "Client ID withdrawn",
  target: "clientId",
  schema: z.object({ reason: reasonField }),
  async run({ supabase, options: { idempotency_key, actor_name } }, client_id, { reason }) {
    const staffOptions = { idempotency_key, actor_name };
    const withdrawn = await runStaffAction(supabase, "withdraw_client_id", { client_id, reason, ...staffOptions });
    return "reason" in withdrawn ? withdrawn : { result: client_id };
  },
  toast: (clientId) => `Client ID ${clientId} withdrawn`,
  command: { description: "withdraw an unused Client ID" },
});
