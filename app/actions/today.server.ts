import { z } from "zod";
import { oneLine } from "../lib/forms/text-fields.ts";
import { maxLength } from "../models/limits.ts";
import { runStaffAction } from "../models/staff.server.ts";
import { defineStaffAction } from "./staff-action.server.ts";

export const setAnnouncement = defineStaffAction({
  name: "announcement set",
  label: "Announcement published",
  target: null,
  schema: z.object({
    text: oneLine("Enter an announcement.")
      .min(1, "Enter an announcement.")
      .max(...maxLength("announcement")),
  }),
  run: ({ supabase, options: { idempotency_key, actor_name } }, _, { text }) =>
    runStaffAction(supabase, "announce", { text, idempotency_key, actor_name }),
  toast: () => "Announcement published",
  command: {
    description: "publish or replace the announcement for all clients",
    arguments: { text: "the text of the announcement" },
  },
});

export const endAnnouncement = defineStaffAction({
  name: "announcement end",
  label: "Announcement removed",
  target: null,
  schema: z.object({}),
  run: ({ supabase, options: { actor_name } }) => runStaffAction(supabase, "end_announcement", { actor_name }),
  toast: () => "Announcement removed",
  command: { description: "remove the announcement" },
});

export const resolveFailedEmail = defineStaffAction({
  name: "failed-email resolve",
  label: "Failed email dismissed",
  target: "failedEmail",
  schema: z.object({}),
  run: ({ supabase, options: { actor_name } }, email_id) =>
    runStaffAction(supabase, "resolve_failed_email", { email_id, actor_name }),
  toast: (email) => `Dismissed the failed email to ${email}`,
  command: { description: "remove an email from the list of failed emails" },
});
