import { z } from "zod";
import { oneLine } from "../lib/forms/text-fields.ts";
import { maxLength } from "../models/limits.ts";
import { runStaffAction } from "../models/staff.server.ts";
import { defineStaffAction } from "./staff-action.server.ts";

export const publishAnnouncement = defineStaffAction({
  name: "announcement publish",
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

export const removeAnnouncement = defineStaffAction({
  name: "announcement remove",
  label: "Announcement removed",
  target: null,
  schema: z.object({}),
  run: ({ supabase, options: { actor_name } }) => runStaffAction(supabase, "remove_announcement", { actor_name }),
  toast: () => "Announcement removed",
  command: { description: "remove the announcement" },
});

export const dismissFailedEmail = defineStaffAction({
  name: "failed-email dismiss",
  label: "Failed email dismissed",
  target: "failedEmail",
  schema: z.object({}),
  run: ({ supabase, options: { actor_name } }, email_id) =>
    runStaffAction(supabase, "dismiss_failed_email", { email_id, actor_name }),
  toast: (email) => `Dismissed the failed email to ${email}`,
  command: { description: "dismiss an email, which removes it from the list of failed emails" },
});
