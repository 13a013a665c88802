/** How an action answers a form that was refused. */
import type { SubmissionResult } from "@conform-to/react";
import { data } from "react-router";
import type { Toast } from "../http/toast.ts";

/**
 * The same page again with status 400 (or another), what was typed, what is wrong, and the toast of the catalogue;
 * `more` is what the page needs besides.
 */
export function rejectForm<More extends object>(result: SubmissionResult, toast?: Toast, status = 400, more?: More) {
  return data({ result, toast, ...(more as More) }, { status });
}

/** A destructive toast. */
export function createErrorToast(title: string, description?: string): Toast {
  return { title, description, variant: "destructive" };
}

/** Errors for the code field of a refused form; none when the reason is not the code itself. */
export function createTotpFieldErrors(failed: { reason: string; status: number }) {
  return failed.status === 400 ? { code: [failed.reason] } : undefined;
}

/** The first error of a submission, for the toast that goes with its summary. */
export function getFirstError(result: SubmissionResult): string | undefined {
  return Object.values(result.error ?? {}).flatMap((errors) => errors ?? [])[0];
}
