/** When the line breaks between the browser and us. */
import { data, isRouteErrorResponse } from "react-router";
import type { Toast } from "./flash.ts";

/** What a form hears when no answer of ours came: the toast, and the fields stay as they stand. */
export type Lost = { result: null; toast: Toast };

/**
 * Sends a form through its action. A line that breaks, or something between us that answers in our place, leaves the
 * page and what was typed on it alone; without this the page would make room for an error page.
 */
export async function keepTyped<Answer>(serverAction: () => Promise<Answer>) {
  try {
    return await serverAction();
  } catch (error) {
    if (error instanceof Response || (isRouteErrorResponse(error) && !isLost(error))) throw error;
    const toast: Toast = {
      title: "No answer",
      description: "The connection was lost before an answer came. What you typed is still here: send it again.",
      variant: "destructive",
    };
    // The status keeps the page from asking for its data again, over the same line.
    return data<Lost>({ result: null, toast }, { status: 504 });
  }
}

/** Where no form waits for the answer that did not come. Another one each time: each is shown. */
export function noAnswer(): Toast {
  return {
    title: "No answer",
    description: "The connection was lost before an answer came. This page stays as it was: try again.",
    variant: "destructive",
  };
}

// What browsers say when nothing answers, and the framework when an answer breaks off before its first line.
const nothingCame = /failed to fetch|load failed|networkerror|unable to decode turbo-stream/i;

/**
 * Whether an error means that no answer of ours came: the browser's own, or the text that a proxy sends while the site
 * behind it is away. What we throw with such a status is no text (refusal.server.ts).
 */
export function isLost(error: unknown): boolean {
  if (isRouteErrorResponse(error)) {
    return [502, 503, 504].includes(error.status) && typeof error.data === "string";
  }
  return error instanceof Error && nothingCame.test(error.message);
}
