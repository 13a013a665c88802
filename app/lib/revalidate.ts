/** Which changes of the address ask the server for nothing. */
import type { ShouldRevalidateFunctionArgs } from "react-router";

/** Whether only the quote form over the page opens or closes. */
export function isOnlyQuote({ currentUrl, nextUrl, formMethod }: ShouldRevalidateFunctionArgs): boolean {
  return formMethod === undefined && currentUrl.href !== nextUrl.href && without(currentUrl) === without(nextUrl);
}

/** For routes that read nothing of the quote form: what the framework would do, except for that. */
export function exceptForQuote(change: ShouldRevalidateFunctionArgs): boolean {
  return isOnlyQuote(change) ? false : change.defaultShouldRevalidate;
}

/** An address without the quote form and the place on the page. */
function without({ pathname, searchParams }: URL): string {
  const rest = new URLSearchParams(searchParams);
  rest.delete("quote");
  return `${pathname}?${rest}`;
}
