import { expect, test } from "vitest";
import { isQuotePanelChange, revalidateExceptForQuote } from "./revalidate.ts";

function createChange(from: string, to: string, formMethod?: "POST") {
  return {
    currentUrl: new URL(from, "http://site"),
    nextUrl: new URL(to, "http://site"),
    currentParams: {},
    nextParams: {},
    formMethod,
    defaultShouldRevalidate: true,
  };
}

test.each([
  ["/about", "/about?quote"],
  ["/about?quote", "/about"],
  ["/resources/blog?category=Customs", "/resources/blog?category=Customs&quote="],
  ["/about?quote", "/about#story"],
])("A navigation from %s to %s changes only the quote form or the fragment, so no loader runs again.", (from, to) => {
  expect(isQuotePanelChange(createChange(from, to))).toBe(true);
  expect(revalidateExceptForQuote(createChange(from, to))).toBe(false);
});

test.each([
  ["/about", "/services?quote", undefined],
  ["/about", "/about", undefined],
  ["/resources/blog?category=Customs", "/resources/blog?category=Freight&quote", undefined],
  ["/about", "/about?quote", "POST"],
] as const)(
  "A navigation from %s to %s with the method %s changes more than the quote form, so the loaders run again.",
  (from, to, method) => {
    expect(isQuotePanelChange(createChange(from, to, method))).toBe(false);
    expect(revalidateExceptForQuote(createChange(from, to, method))).toBe(true);
  },
);
