import type { Submission, SubmissionResult } from "@conform-to/react";
import { parseWithZod } from "@conform-to/zod/v4";
import { data } from "react-router";
import { z } from "zod";
import type { Toast } from "../http/toast.ts";
import type { UserError } from "../http/user-error.server.ts";

const secretFields = ["password", "currentPassword", "code"];

export type IntentError = UserError & { fieldErrors?: Record<string, string[]>; pageData?: object };

/** A rejected form returns at most 100 characters of a field whose schema has no maximum length. */
const defaultMaxLength = 100;

/** Returns Conform's submission, with each value in `payload` cut to the maximum length of its field. */
export function parseForm<Schema extends z.ZodType>(form: FormData | URLSearchParams, schema: Schema) {
  return shortenValues(parseWithZod(form, { schema }), schema);
}

export async function parseFormAsync<Schema extends z.ZodType>(form: FormData, schema: Schema) {
  return shortenValues(await parseWithZod(form, { schema, async: true }), schema);
}

const inputProperties = new WeakMap<z.ZodType, NonNullable<z.core.JSONSchema.BaseSchema["properties"]>>();

function getInputProperties(schema: z.ZodType) {
  const properties =
    inputProperties.get(schema) ?? z.toJSONSchema(schema, { io: "input", unrepresentable: "any" }).properties ?? {};
  inputProperties.set(schema, properties);
  return properties;
}

function shortenValues<Result extends Submission<unknown>>(submission: Result, schema: z.ZodType) {
  const { payload, status } = submission;
  const errors = status === "error" ? submission.error : null;
  const texts = Object.entries(payload).filter((entry): entry is [string, string] => typeof entry[1] === "string");
  if (status === "success" && texts.every(([, text]) => text.length <= defaultMaxLength)) return submission;
  const properties = getInputProperties(schema);
  for (const [name, text] of texts) {
    const field = Object.hasOwn(properties, name) ? properties[name] : undefined;
    const maxLength = (typeof field === "object" && field.maxLength) || defaultMaxLength;
    const typed = text.replaceAll("\r\n", "\n").trim();
    if (text.length > maxLength) payload[name] = typed.slice(0, maxLength);
    const error = errors?.[name]?.[0];
    if (!errors || !error || typed.length <= maxLength || secretFields.includes(name)) continue;
    const [written, shown] = [typed.length.toLocaleString("en"), maxLength.toLocaleString("en")];
    // The message says "possible", because with JavaScript most fields still contain the whole text.
    errors[name] = [
      `${error} You wrote ${written} characters. It is possible that the field shows only the first ${shown} characters.`,
    ];
  }
  return submission;
}

export function rejectForm<Extra extends object>(
  result: SubmissionResult,
  error?: Toast | string,
  status = 400,
  extra?: Extra,
) {
  const { toast, formError } = typeof error === "string" ? { formError: error } : { toast: error };
  return data({ result, toast, formError, ...(extra as Extra) }, { status });
}

/** Returns the response to an invalid form, or to a valid form whose action failed with `error`. */
export function rejectSubmission<Extra extends object>(
  submission: Pick<Submission<unknown, string[]>, "reply">,
  title: ErrorTitle | null,
  error?: IntentError,
  extra?: Extra,
) {
  const result = submission.reply({ hideFields: secretFields, fieldErrors: error?.fieldErrors });
  const formError = error?.fieldErrors ? undefined : error?.reason;
  const toast = title && createErrorToast(title, error?.reason ?? getFirstError(result));
  return rejectForm(result, toast ?? formError, error?.status, extra);
}

/** An ErrorTitle is a toast title of the error catalogue (specification, section 8). */
export type ErrorTitle =
  | "Sign up Failed"
  | "Sign-up Failed"
  | "Sign in Failed"
  | "Login Failed"
  | "Sign out Failed"
  | "Error setting up 2FA"
  | "Error challenging"
  | "Verification failed"
  | "Error fetching shipments"
  | "Failed to create shipment"
  | "Upload failed"
  | "Failed to update document status"
  | "No file selected."
  | "Tracking Number Required";

export function createErrorToast(title: ErrorTitle, description?: string): Toast {
  return { title, description, variant: "destructive" };
}

export function getFirstError(result: SubmissionResult): string | undefined {
  return Object.values(result.error ?? {}).flatMap((errors) => errors ?? [])[0];
}
