import { data, isRouteErrorResponse } from "react-router";
import type { Toast } from "../http/toast.ts";

export type ConnectionLostData = { result: null; formError: string; toast?: undefined };

/** On a lost connection, the page and its fields stay. Otherwise an error page would replace them. */
export async function callServerAction<Result>(serverAction: () => Promise<Result>) {
  try {
    return await serverAction();
  } catch (error) {
    if (error instanceof Response || (isRouteErrorResponse(error) && !isConnectionLost(error))) throw error;
    const formError = "The connection was lost. What you typed is still here. Send it again.";
    // An error status stops React Router from revalidating over the lost connection.
    return data<ConnectionLostData>({ result: null, formError }, { status: 504 });
  }
}

/** For requests other than forms. Returns a new object each time, because a toast is shown only once. */
export function createConnectionLostToast(continuesLater: boolean): Toast {
  return {
    title: "No answer",
    description: `The connection was lost before an answer came. This page stays as it was${continuesLater ? ", and goes on by itself" : ": try again"}.`,
    variant: "destructive",
  };
}

const networkErrorMessages = /failed to fetch|load failed|networkerror|unable to decode turbo-stream/i;

/** True for a network error and for a 502 to 504 response of a proxy, which is plain text. The site's own errors are objects. */
export function isConnectionLost(error: unknown): boolean {
  if (isRouteErrorResponse(error)) {
    return [502, 503, 504].includes(error.status) && typeof error.data === "string";
  }
  return error instanceof Error && networkErrorMessages.test(error.message);
}
