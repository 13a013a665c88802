/** The definition of a staff action, for the desk's forms, the staff commands and the activity log. */
import { z } from "zod";
import type { IntentError } from "../lib/forms/intent-form.server.ts";
import { severalLines } from "../lib/forms/text-fields.ts";
import type { AppSupabaseClient } from "../lib/supabase/client.server.ts";
import type { EmailSender } from "../models/emails.ts";
import type { StorageTariff } from "../models/free-storage.ts";
import { maxLength } from "../models/limits.ts";
import type { StaffActionOptions } from "../models/staff.server.ts";

/** `supabase` acts as the team member, or as the service role in a command. */
type StaffActionCall = {
  supabase: AppSupabaseClient;
  serviceRole: () => AppSupabaseClient;
  emailSender: () => EmailSender;
  storageTariff: () => StorageTariff;
  options: StaffActionOptions;
};

/** What an action changes. Also the name of the form field with its ID. */
export type StaffActionTarget = "shipment" | "document" | "account" | "clientId" | "failedEmail";

/** `sent` is false if the action was done but its email could not be sent. */
type StaffActionOutcome<Result> = { result?: Result; sent?: boolean } | IntentError;

type FieldTexts<Fields> = { [Field in keyof Fields]?: string };

/** Help texts by field. The keys of `arguments` are in the order that the command takes them. */
type StaffCommand<Fields, Result> = {
  description: string;
  arguments?: FieldTexts<Fields>;
  options?: FieldTexts<Fields>;
  defaults?: FieldTexts<Fields>;
  /** The lines to print instead of the toast. */
  formatLines?(result: Result): string[];
};

export type StaffAction<Schema extends z.ZodObject = z.ZodObject, Result = unknown> = {
  /** The name in the audit log, and the words of the command. */
  name: string;
  /** The words in the activity log. */
  label: string;
  target: StaffActionTarget | null;
  schema: Schema;
  run(call: StaffActionCall, target: string, fields: z.output<Schema>): Promise<StaffActionOutcome<Result>>;
  toast(result: Result, fields: z.output<Schema>): string;
  /** The part of the page that shows the change. */
  getAnchor?(target: string): string;
  redirectTo?: string;
  command: StaffCommand<z.input<Schema>, Result>;
};

export function defineStaffAction<Schema extends z.ZodObject, Result>(action: StaffAction<Schema, Result>) {
  return action;
}

/** The database has the same message (private.require_reason). */
export const reasonMissing = "Say why, in a few words.";

export const reasonField = severalLines(reasonMissing)
  .min(1, reasonMissing)
  .max(...maxLength("reason"));

export const reasonHelp = "for the activity log";

/** A calendar day as YYYY-MM-DD. */
export const dayField = z
  .string("Give the day.")
  .regex(/^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])$/, "Give a day such as 2026-05-31.")
  .refine((day) => {
    const date = new Date(`${day}T00:00:00Z`);
    // Zod also calls this after the pattern failed; the pattern's message is enough then.
    return Number.isNaN(date.valueOf()) || date.toISOString().startsWith(day);
  }, "There is no such day.");
