/** What is loaded again, and what is not. */
import type { ShouldRevalidateFunctionArgs } from "react-router";

/** Whether only the quote form over the page opens or closes. */
export function isOnlyQuote({ currentUrl, nextUrl, formMethod }: ShouldRevalidateFunctionArgs): boolean {
  return formMethod === undefined && currentUrl.href !== nextUrl.href && without(currentUrl) === without(nextUrl);
}

/** React Router's default, except that opening or closing the quote form does not revalidate. */
export function exceptForQuote(change: ShouldRevalidateFunctionArgs): boolean {
  return isOnlyQuote(change) ? false : change.defaultShouldRevalidate;
}

/** React Router's default, and also after a form that was refused because somebody else was first: the page shows what is. */
export function afterConflict({ actionStatus, defaultShouldRevalidate }: ShouldRevalidateFunctionArgs): boolean {
  return actionStatus === 409 || defaultShouldRevalidate;
}

/** An address without `?quote` and without its hash. */
function without({ pathname, searchParams }: URL): string {
  const rest = new URLSearchParams(searchParams);
  rest.delete("quote");
  return `${pathname}?${rest}`;
}
