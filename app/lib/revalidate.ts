/** Which changes of the address need no revalidation. */
import type { ShouldRevalidateFunctionArgs } from "react-router";

/** Whether only the quote form over the page opens or closes. */
export function isOnlyQuote({ currentUrl, nextUrl, formMethod }: ShouldRevalidateFunctionArgs): boolean {
  return formMethod === undefined && currentUrl.href !== nextUrl.href && without(currentUrl) === without(nextUrl);
}

/** React Router's default, except that opening or closing the quote form does not revalidate. */
export function exceptForQuote(change: ShouldRevalidateFunctionArgs): boolean {
  return isOnlyQuote(change) ? false : change.defaultShouldRevalidate;
}

/** An address without `?quote` and without its hash. */
function without({ pathname, searchParams }: URL): string {
  const rest = new URLSearchParams(searchParams);
  rest.delete("quote");
  return `${pathname}?${rest}`;
}
