/** The desk's forms, the staff commands and the activity log share one definition of each staff action. */
import { z } from "zod";
import type { IntentError } from "../lib/forms/intent-form.server.ts";
import { severalLines } from "../lib/forms/text-fields.ts";
import { maxLength } from "../models/limits.ts";
import type { OpenItems } from "../models/shipment.ts";
import { OpenItemsRecord } from "../models/shipment-fields.server.ts";
import type { StaffActionCall } from "../models/staff.server.ts";

/** The kind of record that an action changes, which is also the name of the form field with the record's ID. */
export type StaffActionTarget = "shipment" | "document" | "account" | "clientId" | "failedEmail";

/** `sent` is false if the action succeeded but its email could not be sent. */
type StaffActionOutcome<Result> = { result?: Result; sent?: boolean } | IntentError;

type FieldTexts<Fields> = { [Field in keyof Fields]?: string };

/**
 * The values of `arguments` and `options` are the help texts of the fields. On the command line, the arguments have the
 * order of the keys of `arguments`.
 */
type StaffCommand<Fields, Result> = {
  description: string;
  arguments?: FieldTexts<Fields>;
  options?: FieldTexts<Fields>;
  defaults?: FieldTexts<Fields>;
  /** The field whose value is the text of a file. On the command line, an argument names the file. */
  textFileField?: keyof Fields & string;
  /** The labels of a field's values. The command accepts a value or its label. */
  labels?: { [Field in keyof Fields]?: Readonly<Record<string, string>> };
  /** The field whose value on the command line is the path of a file. */
  fileField?: keyof Fields & string;
  formatLines?(result: Result): string[];
};

export type StaffAction<Schema extends z.ZodObject = z.ZodObject, Result = unknown> = {
  /** The name of the staff command and of the action in the audit log, such as "charge save". */
  name: string;
  label: string;
  target: StaffActionTarget | null;
  schema: Schema;
  run(call: StaffActionCall, target: string, fields: z.output<Schema>): Promise<StaffActionOutcome<Result>>;
  toast(result: Result, fields: z.output<Schema>): string;
  /** Returns the URL fragment, such as "#payments", of the page section that shows the change. */
  getAnchor?(target: string): string;
  redirectTo?(result: Result): string | undefined;
  command: StaffCommand<z.input<Schema>, Result>;
};

export function defineStaffAction<Schema extends z.ZodObject, Result>(action: StaffAction<Schema, Result>) {
  return action;
}

/** The database function private.require_reason raises the same message. */
export const reasonMissing = "Enter a reason.";

export const reasonField = severalLines(reasonMissing)
  .min(1, reasonMissing)
  .max(...maxLength("reason"));

/** Returns the open items that a page listed, or undefined, so that the database asks for a confirmation again. */
function parseOpenItems(json: string): OpenItems | undefined {
  try {
    return OpenItemsRecord.safeParse(JSON.parse(json)).data;
  } catch {
    return undefined;
  }
}

/** `confirm` is for staff commands. `confirmed` is for forms and contains the open items that the page listed. */
export const confirmFields = {
  confirm: z.literal("yes").optional(),
  confirmed: z.string().max(20_000).transform(parseOpenItems).optional(),
};
export type ConfirmFields = { confirm?: "yes"; confirmed?: OpenItems };

export const dayField = z
  .string("Enter a date.")
  .regex(/^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])$/, "Enter a date such as 2026-05-31.")
  .refine((day) => {
    const date = new Date(`${day}T00:00:00Z`);
    // Zod also runs this check on text that does not match the pattern. The check accepts text that is not a date,
    // because the pattern already causes an error for such text.
    return Number.isNaN(date.valueOf()) || date.toISOString().startsWith(day);
  }, "Enter a date that exists, such as 2026-05-31.");
