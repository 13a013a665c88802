/** Pages with several forms, of the desk or of an account: one action reads which was sent, judges it, acts, and answers. */
import { parseWithZod } from "@conform-to/zod/v4";
import { data, type RouterContextProvider } from "react-router";
import type { z } from "zod";
import type { StaffViewer } from "../auth/staff.server.ts";
import { requireStaff } from "../auth/staff.server.ts";
import { redirectWithToast } from "../http/toast.server.ts";
import { type UserError, userErrorFromThrown } from "../http/user-error.server.ts";
import { readForm } from "./form-data.server.ts";
import { createErrorToast, getFirstError, rejectForm } from "./rejected-form.server.ts";

/** What a form says of itself besides its fields; see models/staff-action.server.ts. */
export type IntentMetadata = { expected_version?: number; idempotency_key?: string };

/**
 * The toast that follows an act, and where it leads: another page, or a place `at` on the same one, such as "#payments";
 * `cookie` is a Set-Cookie that goes with it.
 */
export type IntentResult = { toast: string; redirectTo?: string; anchor?: string; cookie?: string };

/** One form of a page: its schema, and what it does for who sends it. */
export type IntentDefinition<Who = StaffViewer> = {
  schema: z.ZodType;
  run: (who: Who, value: never, sent: IntentMetadata) => Promise<IntentResult | IntentError>;
};

/** A refusal, perhaps of one field. */
export type IntentError = UserError & { fieldErrors?: Record<string, string[]> };

/** Declares a form; the value that `run` gets is what the schema makes of the fields. */
export function defineIntent<Value, Who = StaffViewer>(
  schema: z.ZodType<Value>,
  run: (who: Who, value: Value, sent: IntentMetadata) => Promise<IntentResult | IntentError>,
): IntentDefinition<Who> {
  return { schema, run };
}

/** Handles a form of the desk. */
export async function handleIntent(
  request: Request,
  context: Readonly<RouterContextProvider>,
  page: string,
  forms: Readonly<Record<string, IntentDefinition>>,
) {
  return handleIntentFor(requireStaff(context), request, context, page, forms);
}

/**
 * Runs the form that its field `intent` names, and redirects to `page` with a toast. A rejected form returns with its values,
 * its id and its idempotency key: if only the response was lost, sending it again runs nothing twice. Passwords and codes do not
 * return.
 */
export async function handleIntentFor<Who>(
  who: Who,
  request: Request,
  context: Readonly<RouterContextProvider>,
  page: string,
  forms: Readonly<Record<string, IntentDefinition<Who>>>,
) {
  const sent = await readForm(request);
  const intent = String(sent.get("intent"));
  const one = Object.hasOwn(forms, intent) ? forms[intent] : undefined;
  if (!one) throw data("This form is not known here. Open the page again.", { status: 400 });
  const signed = readIntentMetadata(sent);
  const again = { form: String(sent.get("form") ?? ""), idempotencyKey: signed.idempotency_key };
  const hideFields = ["password", "currentPassword", "code"];
  const submission = parseWithZod(sent, { schema: one.schema });
  if (submission.status !== "success") {
    const result = submission.reply({ hideFields });
    return rejectForm(result, createNotDoneToast(getFirstError(result)), 400, again);
  }
  const outcome = await one.run(who, submission.value as never, signed).catch(userErrorFromThrown);
  if ("reason" in outcome) {
    const { reason, status, fieldErrors } = outcome as IntentError;
    // A question of the page's own is no failure: it has no words here.
    return rejectForm(
      submission.reply({ hideFields, fieldErrors }),
      reason ? createNotDoneToast(reason) : undefined,
      status,
      again,
    );
  }
  const place = outcome.redirectTo ?? `${page}${outcome.anchor ?? ""}`;
  const response = redirectWithToast(context, place, { title: outcome.toast, variant: "default" });
  if (outcome.cookie) response.headers.append("Set-Cookie", outcome.cookie);
  return response;
}

const createNotDoneToast = (why: string | undefined) => createErrorToast("Not done", why);

/** The version a form was opened at, and its own id. What is no number or no uuid counts as not sent. */
export function readIntentMetadata(form: FormData): IntentMetadata {
  const version = form.get("expectedVersion");
  const key = form.get("idempotencyKey");
  return {
    expected_version: typeof version === "string" && /^-?\d{1,9}$/.test(version) ? Number(version) : undefined,
    idempotency_key:
      typeof key === "string" && /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(key) ? key : undefined,
  };
}
