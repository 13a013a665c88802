import { data, type RouterContextProvider } from "react-router";
import { z } from "zod";
import type { StaffViewer } from "../auth/staff.server.ts";
import { requireStaff } from "../auth/staff.server.ts";
import { hashAccountId } from "../http/cookies.server.ts";
import { redirectWithToast } from "../http/toast.server.ts";
import { type UserError, userErrorFromThrown } from "../http/user-error.server.ts";
import { readForm, readUpload } from "./form-data.server.ts";
import { type IntentError, parseForm, rejectForm, rejectSubmission } from "./rejected-form.server.ts";

export type { IntentError };

export type IntentMetadata = { expected_version?: number; idempotency_key?: string };

/** `anchor` is a URL fragment, such as "#payments". `cookie` is the value of a Set-Cookie header. */
export type IntentResult = {
  toast: string;
  description?: string;
  redirectTo?: string;
  anchor?: string;
  cookie?: string;
};

export type IntentDefinition<Sender = StaffViewer> = {
  schema: z.ZodType;
  run: (viewer: Sender, value: never, sent: IntentMetadata) => Promise<IntentResult | IntentError>;
};

export function defineIntent<Value, Sender = StaffViewer>(
  schema: z.ZodType<Value>,
  run: (viewer: Sender, value: Value, sent: IntentMetadata) => Promise<IntentResult | IntentError>,
): IntentDefinition<Sender> {
  return { schema, run };
}

export async function handleIntent(
  request: Request,
  context: Readonly<RouterContextProvider>,
  page: string,
  forms: Readonly<Record<string, IntentDefinition>>,
) {
  return handleIntentFor(requireStaff(context), request, context, page, forms);
}

/** Handles the desk's form `intent`, which has the file field `fileField`. Shows an error of the upload at this field. */
export function handleUploadIntent(
  request: Request,
  context: Readonly<RouterContextProvider>,
  page: string,
  forms: Readonly<Record<string, IntentDefinition>>,
  { intent, fileField }: { intent: string; fileField: string },
) {
  const viewer = requireStaff(context);
  return readUpload(request, context, viewer.id, async (form) => {
    if (form instanceof FormData) return handleForm(viewer, form, context, page, forms);
    const { fields, status } = form;
    const { initialValue } = parseForm(fields, forms[intent]?.schema ?? z.object({})).reply();
    const reason = status === 413 ? `${form.reason} Choose a smaller file.` : form.reason;
    const error = { [fileField]: [reason] };
    const formState = { ...readFormState(fields), form: intent };
    return rejectForm({ status: "error", initialValue, error }, undefined, status, formState);
  });
}

/**
 * Returns an error if another account has logged in since the page of this form was loaded. A script hides such a page
 * and loads the login page. The hidden field `pageAccount` has the hash of the page's account.
 */
export function findAccountError(form: FormData, { id }: { id: string }): UserError | null {
  const account = form.get("pageAccount");
  return typeof account !== "string" || account === hashAccountId(id)
    ? null
    : {
        reason: "Another account is now logged in on this device. Log in to your account, then send the form again.",
        status: 409,
      };
}

export async function handleIntentFor<Sender extends { id: string }>(
  viewer: Sender,
  request: Request,
  context: Readonly<RouterContextProvider>,
  page: string,
  forms: Readonly<Record<string, IntentDefinition<Sender>>>,
) {
  return handleForm(viewer, await readForm(request), context, page, forms);
}

async function handleForm<Sender extends { id: string }>(
  viewer: Sender,
  form: FormData,
  context: Readonly<RouterContextProvider>,
  page: string,
  forms: Readonly<Record<string, IntentDefinition<Sender>>>,
) {
  const intent = String(form.get("intent"));
  const definition = Object.hasOwn(forms, intent) ? forms[intent] : undefined;
  if (!definition)
    throw data("This page has changed since you opened it. Reload the page, then send the form again.", {
      status: 400,
    });
  const metadata = readIntentMetadata(form);
  const formState = readFormState(form);
  const submission = parseForm(form, definition.schema);
  if (submission.status !== "success") return rejectSubmission(submission, null, undefined, formState);
  const outcome =
    findAccountError(form, viewer) ??
    (await definition.run(viewer, submission.value as never, metadata).catch(userErrorFromThrown));
  if ("reason" in outcome) {
    const { pageData }: IntentError = outcome;
    return rejectSubmission(submission, null, outcome, { ...formState, ...pageData });
  }
  const target = outcome.redirectTo ?? `${page}${outcome.anchor ?? ""}`;
  const { toast: title, description } = outcome;
  const response = redirectWithToast(context, target, { title, description, variant: "default" });
  if (outcome.cookie) response.headers.append("Set-Cookie", outcome.cookie);
  return response;
}

function readFormState(form: FormData) {
  const { idempotency_key: idempotencyKey } = readIntentMetadata(form);
  return { form: String(form.get("form") ?? "").slice(0, 100), idempotencyKey };
}

export function readVersion(form: FormData, name = "expectedVersion"): number | undefined {
  const version = form.get(name);
  return typeof version === "string" && /^-?\d{1,9}$/.test(version) ? Number(version) : undefined;
}

export function readIntentMetadata(form: FormData): IntentMetadata {
  const key = form.get("idempotencyKey");
  return {
    expected_version: readVersion(form),
    idempotency_key:
      typeof key === "string" && /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(key) ? key : undefined,
  };
}
