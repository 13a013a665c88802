/** When the connection between browser and server is lost. */
import { data, isRouteErrorResponse } from "react-router";
import type { Toast } from "../http/toast.ts";

/** The actionData of a form that got no answer of ours: a toast; the fields keep what was typed. */
export type ConnectionLostData = { result: null; toast: Toast };

/**
 * Calls the server action of a form. If the connection is lost, or a proxy answers in our place, the page and what was
 * typed stay; without this an error page would replace them.
 */
export async function callServerAction<Answer>(serverAction: () => Promise<Answer>) {
  try {
    return await serverAction();
  } catch (error) {
    if (error instanceof Response || (isRouteErrorResponse(error) && !isConnectionLost(error))) throw error;
    const toast: Toast = {
      title: "No answer",
      description: "The connection was lost before an answer came. What you typed is still here: send it again.",
      variant: "destructive",
    };
    // An error status keeps React Router from revalidating over the lost connection.
    return data<ConnectionLostData>({ result: null, toast }, { status: 504 });
  }
}

/**
 * For a lost request other than a form; `goesOn` for a link, which is followed once there is a connection
 * (components/offline/navigation-fallback.ts). A new object each time: the same one is shown only once.
 */
export function createConnectionLostToast(goesOn: boolean): Toast {
  return {
    title: "No answer",
    description: `The connection was lost before an answer came. This page stays as it was${goesOn ? ", and goes on by itself" : ": try again"}.`,
    variant: "destructive",
  };
}

// Messages of browsers when nothing answers, and of React Router when an answer ends before its first line.
const networkErrorMessages = /failed to fetch|load failed|networkerror|unable to decode turbo-stream/i;

/**
 * Whether an error means that no answer of ours came: an error of the browser, or the text of a proxy while the site is
 * down. Our own errors with such a status carry an object, not text (refusal.server.ts).
 */
export function isConnectionLost(error: unknown): boolean {
  if (isRouteErrorResponse(error)) {
    return [502, 503, 504].includes(error.status) && typeof error.data === "string";
  }
  return error instanceof Error && networkErrorMessages.test(error.message);
}
