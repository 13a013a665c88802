/** What is loaded again, and what is not. */
import type { ShouldRevalidateFunctionArgs } from "react-router";

/** Whether only the quote form over the page opens or closes. */
export function isQuotePanelChange({ currentUrl, nextUrl, formMethod }: ShouldRevalidateFunctionArgs): boolean {
  return (
    formMethod === undefined &&
    currentUrl.href !== nextUrl.href &&
    getUrlWithoutQuote(currentUrl) === getUrlWithoutQuote(nextUrl)
  );
}

/** React Router's default, except that opening or closing the quote form does not revalidate. */
export function revalidateExceptForQuote(change: ShouldRevalidateFunctionArgs): boolean {
  return isQuotePanelChange(change) ? false : change.defaultShouldRevalidate;
}

/** React Router's default, and also after a form that was refused because somebody else was first: the page shows what is. */
export function revalidateAfterConflict({
  actionStatus,
  defaultShouldRevalidate,
}: ShouldRevalidateFunctionArgs): boolean {
  return actionStatus === 409 || defaultShouldRevalidate;
}

/** An address without `?quote` and without its hash. */
function getUrlWithoutQuote({ pathname, searchParams }: URL): string {
  const rest = new URLSearchParams(searchParams);
  rest.delete("quote");
  return `${pathname}?${rest}`;
}
