import { expect, test } from "vitest";
import { exceptForQuote, isOnlyQuote } from "./revalidate.ts";

function change(from: string, to: string, formMethod?: "POST") {
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
])("opening or closing the quote form does not revalidate: %s to %s", (from, to) => {
  expect(isOnlyQuote(change(from, to))).toBe(true);
  expect(exceptForQuote(change(from, to))).toBe(false);
});

test.each([
  ["/about", "/services?quote", undefined],
  ["/about", "/about", undefined],
  ["/resources/blog?category=Customs", "/resources/blog?category=Freight&quote", undefined],
  ["/about", "/about?quote", "POST"],
] as const)("everything else revalidates as before: %s to %s %s", (from, to, method) => {
  expect(isOnlyQuote(change(from, to, method))).toBe(false);
  expect(exceptForQuote(change(from, to, method))).toBe(true);
});
