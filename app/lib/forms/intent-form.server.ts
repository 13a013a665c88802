import { parseWithZod } from "@conform-to/zod/v4";
import { data, type RouterContextProvider } from "react-router";
import type { z } from "zod";
import type { StaffViewer } from "../auth/staff.server.ts";
import { requireStaff } from "../auth/staff.server.ts";
import { redirectWithToast } from "../http/toast.server.ts";
import { type UserError, userErrorFromThrown } from "../http/user-error.server.ts";
import { readForm } from "./form-data.server.ts";
import { rejectForm } from "./rejected-form.server.ts";

export type IntentMetadata = { expected_version?: number; idempotency_key?: string };

/** `anchor` is a place on the page, such as "#payments". `cookie` is a Set-Cookie. */
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

export type IntentError = UserError & { fieldErrors?: Record<string, string[]> };

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

export async function handleIntentFor<Sender>(
  viewer: Sender,
  request: Request,
  context: Readonly<RouterContextProvider>,
  page: string,
  forms: Readonly<Record<string, IntentDefinition<Sender>>>,
) {
  const form = await readForm(request);
  const intent = String(form.get("intent"));
  const definition = Object.hasOwn(forms, intent) ? forms[intent] : undefined;
  if (!definition) throw data("This form is not known here. Open the page again.", { status: 400 });
  const metadata = readIntentMetadata(form);
  const formState = { form: String(form.get("form") ?? ""), idempotencyKey: metadata.idempotency_key };
  const hideFields = ["password", "currentPassword", "code"];
  const submission = parseWithZod(form, { schema: definition.schema });
  if (submission.status !== "success") {
    return rejectForm(submission.reply({ hideFields }), undefined, 400, formState);
  }
  const outcome = await definition.run(viewer, submission.value as never, metadata).catch(userErrorFromThrown);
  if ("reason" in outcome) {
    const { reason, status, fieldErrors } = outcome as IntentError;
    const result = submission.reply({ hideFields, fieldErrors });
    return rejectForm(result, fieldErrors ? undefined : reason, status, formState);
  }
  const target = outcome.redirectTo ?? `${page}${outcome.anchor ?? ""}`;
  const { toast: title, description } = outcome;
  const response = redirectWithToast(context, target, { title, description, variant: "default" });
  if (outcome.cookie) response.headers.append("Set-Cookie", outcome.cookie);
  return response;
}

export function readIntentMetadata(form: FormData): IntentMetadata {
  const version = form.get("expectedVersion");
  const key = form.get("idempotencyKey");
  return {
    expected_version: typeof version === "string" && /^-?\d{1,9}$/.test(version) ? Number(version) : undefined,
    idempotency_key:
      typeof key === "string" && /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(key) ? key : undefined,
  };
}
