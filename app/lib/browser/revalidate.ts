import type { ShouldRevalidateFunctionArgs } from "react-router";

export function isQuotePanelChange({ currentUrl, nextUrl, formMethod }: ShouldRevalidateFunctionArgs): boolean {
  return (
    formMethod === undefined &&
    currentUrl.href !== nextUrl.href &&
    getUrlWithoutQuote(currentUrl) === getUrlWithoutQuote(nextUrl)
  );
}

export function revalidateExceptForQuote(change: ShouldRevalidateFunctionArgs): boolean {
  return isQuotePanelChange(change) ? false : change.defaultShouldRevalidate;
}

export function revalidateAfterConflict({
  actionStatus,
  defaultShouldRevalidate,
}: ShouldRevalidateFunctionArgs): boolean {
  return actionStatus === 409 || defaultShouldRevalidate;
}

function getUrlWithoutQuote({ pathname, searchParams }: URL): string {
  const searchWithoutQuote = new URLSearchParams(searchParams);
  searchWithoutQuote.delete("quote");
  return `${pathname}?${searchWithoutQuote}`;
}
