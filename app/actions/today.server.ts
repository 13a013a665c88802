/** Staff actions of the page Today: the announcement and failed emails. */
import { z } from "zod";
import { oneLine } from "../lib/forms/text-fields.ts";
import { maxLength } from "../models/limits.ts";
import { runStaffAction } from "../models/staff.server.ts";
import { defineStaffAction } from "./staff-action.server.ts";

export const setAnnouncement = defineStaffAction({
  name: "announcement set",
  label: "Notice set",
  target: null,
  schema: z.object({
    text: oneLine("Write the notice.")
      .min(1, "Write the notice.")
      .max(...maxLength("announcement")),
  }),
  run: ({ supabase, options: { idempotency_key, actor_name } }, _, { text }) =>
    runStaffAction(supabase, "announce", { text, idempotency_key, actor_name }),
  toast: () => "All clients read it now",
  command: { description: "show all clients a text, instead of the current one", arguments: { text: "the text" } },
});

export const endAnnouncement = defineStaffAction({
  name: "announcement end",
  label: "Notice ended",
  target: null,
  schema: z.object({}),
  run: ({ supabase, options: { actor_name } }) => runStaffAction(supabase, "end_announcement", { actor_name }),
  toast: () => "Nothing is said to all clients any more",
  command: { description: "remove the announcement" },
});

export const resolveFailedEmail = defineStaffAction({
  name: "failed-email resolve",
  label: "Mail dealt with",
  target: "failedEmail",
  schema: z.object({}),
  run: ({ supabase, options: { actor_name } }, email_id) =>
    runStaffAction(supabase, "resolve_failed_email", { email_id, actor_name }),
  toast: () => "Taken off the list",
  command: { description: "take an email off the list" },
});
