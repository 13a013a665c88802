import { isRouteErrorResponse } from "react-router";
import type { Toast } from "../http/toast.ts";

export type ConnectionLostData = { result: null; formError: string; fieldErrors?: Record<string, string[]> };

export const fileChangedError = "This file has changed on your device. Choose the file again.";

/**
 * Returns false if `file` was changed, moved or deleted after the visitor chose it. Chromium returns the size 0 for a
 * deleted file. Firefox returns the old size, but reads the new content.
 */
export async function isReadable(file: File): Promise<boolean> {
  const content = await file.arrayBuffer().catch(() => null);
  return content !== null && content.byteLength > 0 && content.byteLength === file.size;
}

export const connectionLostError = "The connection was lost. Your text is still here. Send the form again.";

export const continuesStep = "The next page opens when you are back online.";
export const retryStep = "This page stays open. When you are back online, try again.";

/** Returns a new object each time, because each toast object is shown only once. */
export function createConnectionLostToast(nextStep: string): Toast {
  return { title: "Connection lost", description: nextStep, variant: "destructive" };
}

const networkErrorMessages = /failed to fetch|load failed|networkerror|unable to decode turbo-stream/i;

/** True for network errors, and for proxy errors with status 502 to 504, which contain text instead of an object. */
export function isConnectionLost(error: unknown): boolean {
  if (isRouteErrorResponse(error)) return [502, 503, 504].includes(error.status) && typeof error.data === "string";
  return error instanceof Error && networkErrorMessages.test(error.message);
}
