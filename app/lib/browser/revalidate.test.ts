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
])("Opening or closing the quote form, from %s to %s, does not revalidate the page.", (from, to) => {
  expect(isQuotePanelChange(createChange(from, to))).toBe(true);
  expect(revalidateExceptForQuote(createChange(from, to))).toBe(false);
});

test.each([
  ["/about", "/services?quote", undefined],
  ["/about", "/about", undefined],
  ["/resources/blog?category=Customs", "/resources/blog?category=Freight&quote", undefined],
  ["/about", "/about?quote", "POST"],
] as const)("Any other navigation, from %s to %s with method %s, revalidates the page.", (from, to, method) => {
  expect(isQuotePanelChange(createChange(from, to, method))).toBe(false);
  expect(revalidateExceptForQuote(createChange(from, to, method))).toBe(true);
});
