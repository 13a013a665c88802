import type { Submission, SubmissionResult } from "@conform-to/react";
import { data } from "react-router";
import type { Toast } from "../http/toast.ts";
import type { UserError } from "../http/user-error.server.ts";

const secretFields = ["password", "currentPassword", "code"];

export type IntentError = UserError & { fieldErrors?: Record<string, string[]> };

export function rejectForm<Extra extends object>(result: SubmissionResult, toast?: Toast, status = 400, extra?: Extra) {
  return data({ result, toast, ...(extra as Extra) }, { status });
}

/** Rejects an invalid form, or a valid form after `error`. The response omits secrets. An empty reason shows no toast. */
export function rejectSubmission<Extra extends object>(
  submission: Pick<Submission<unknown, string[]>, "reply">,
  title: string,
  error?: IntentError,
  extra?: Extra,
) {
  const result = submission.reply({ hideFields: secretFields, fieldErrors: error?.fieldErrors });
  const toast = error?.reason === "" ? undefined : createErrorToast(title, error?.reason ?? getFirstError(result));
  return rejectForm(result, toast, error?.status, extra);
}

export function createErrorToast(title: string, description?: string): Toast {
  return { title, description, variant: "destructive" };
}

/** Returns an error of the code field for a wrong code. A rate limit or another failure does not concern that field. */
export function createTotpFieldErrors(failed: { reason: string; status: number }) {
  return failed.status === 400 ? { code: [failed.reason] } : undefined;
}

export function getFirstError(result: SubmissionResult): string | undefined {
  return Object.values(result.error ?? {}).flatMap((errors) => errors ?? [])[0];
}
