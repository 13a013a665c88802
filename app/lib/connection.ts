/** When the line breaks between the browser and us. */
import { isRouteErrorResponse } from "react-router";
import type { Toast } from "./flash.ts";

/** What a form hears when no answer of ours came: the toast, and the fields stay as they stand. */
export type Lost = { result: null; toast: Toast };

/**
 * Sends a form through its action. A line that breaks, or something between us that answers in our place, leaves the
 * page and what was typed on it alone; without this the page would make room for an error page.
 */
export async function keepTyped<Answer>(serverAction: () => Promise<Answer>): Promise<Answer | Lost> {
  try {
    return await serverAction();
  } catch (error) {
    if (error instanceof Response || isRouteErrorResponse(error)) throw error;
    return {
      result: null,
      toast: {
        title: "No answer",
        description: "The connection was lost before an answer came. What you typed is still here: send it again.",
        variant: "destructive",
      },
    };
  }
}
