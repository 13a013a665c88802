import type { SubmissionResult } from "@conform-to/react";
import { data } from "react-router";
import type { Toast } from "../http/toast.ts";

/** `error` is missing if every error belongs to a field. */
export function rejectForm<More extends object>(
  result: SubmissionResult,
  error?: Toast | string,
  status = 400,
  more?: More,
) {
  const { toast, formError } = typeof error === "string" ? { formError: error } : { toast: error };
  return data({ result, toast, formError, ...(more as More) }, { status });
}

/** The error catalogue, section 8 of the specification. Other errors are no toasts. */
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

/** Other statuses, such as a rate limit, are no error of the code field. */
export function createTotpFieldErrors(failed: { reason: string; status: number }) {
  return failed.status === 400 ? { code: [failed.reason] } : undefined;
}

export function getFirstError(result: SubmissionResult): string | undefined {
  return Object.values(result.error ?? {}).flatMap((errors) => errors ?? [])[0];
}
