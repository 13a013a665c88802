import { isRouteErrorResponse } from "react-router";
import type { Toast } from "../http/toast.ts";

export type ConnectionLostData = { result: null; formError: string };

export const connectionLostError = "The connection was lost. What you typed is still here. Send it again.";

export const continuesStep = "This page stays as it was, and goes on by itself.";
export const retryStep = "This page stays as it was: try again.";

/** Returns a new object each time, because a toast is shown only once. */
export function createConnectionLostToast(nextStep: string): Toast {
  return {
    title: "No answer",
    description: `The connection was lost before an answer came. ${nextStep}`,
    variant: "destructive",
  };
}

const networkErrorMessages = /failed to fetch|load failed|networkerror|unable to decode turbo-stream/i;

/** True for a network error and for a proxy's plain-text response 502 to 504. The site's own errors are objects. */
export function isConnectionLost(error: unknown): boolean {
  if (isRouteErrorResponse(error)) {
    return [502, 503, 504].includes(error.status) && typeof error.data === "string";
  }
  return error instanceof Error && networkErrorMessages.test(error.message);
}
