import type { SubmissionResult } from "@conform-to/react";
import { data } from "react-router";
import type { Toast } from "../http/toast.ts";

export function rejectForm<More extends object>(result: SubmissionResult, toast?: Toast, status = 400, more?: More) {
  return data({ result, toast, ...(more as More) }, { status });
}

export function createErrorToast(title: string, description?: string): Toast {
  return { title, description, variant: "destructive" };
}

/** Returns an error of the code field for a wrong code. A rate limit or another failure is no error of that field. */
export function createTotpFieldErrors(failed: { reason: string; status: number }) {
  return failed.status === 400 ? { code: [failed.reason] } : undefined;
}

export function getFirstError(result: SubmissionResult): string | undefined {
  return Object.values(result.error ?? {}).flatMap((errors) => errors ?? [])[0];
}
