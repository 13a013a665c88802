import { expect, test } from "vitest";
import { toSitePath, toViewerPath } from "./redirect.server.ts";

const foreignTargets: unknown[] = [
  ...[
    "//evil.example",
    "///evil.example",
    "/\\evil.example",
    "\\\\evil.example",
    "/\t/evil.example",
    "/\n/evil.example",
  ],
  ...["\t//evil.example", " //evil.example", "/ /evil.example", "https://evil.example", "https:evil.example"],
  ...["http://127.0.0.1:3000@evil.example", "//127.0.0.1:3000@evil.example/portal"],
  ...["javascript:alert(1)", "java\nscript:alert(1)", "data:text/html,x", "mailto:x@evil.example"],
  ...["/%2F/evil.example", "/%2f%2fevil.example", "%2F%2Fevil.example", "/%5Cevil.example", "/%09/evil.example"],
  ...["/portal/../evil", "/portal/./evil", "/portal/%2e%2e/evil", "/portal/..%2fevil", "/portal//evil.example"],
  ...["/portal\\..\\evil", "/desk/..", "/desk/clients/../../evil?q=tea", "/portal\r\nLocation: https://evil.example"],
  ...["/portal\n", "/portal@evil.example", "/portal#//evil.example", "/portal;x", "/portal.evil.example", "portal"],
  ...["", ".", "/portal/\u0000", "/portal/\u202e", "/pörtal", "/ｐortal", null, undefined, 0, true, ["/portal"]],
  ...[{ toString: () => "/portal" }, new Blob(["/portal"])],
];

test.each(foreignTargets.map((value) => ({ value })))(
  "The invalid redirect target $value becomes the portal or the home page.",
  ({ value }) => {
    expect(toViewerPath(value)).toBe("/portal");
    expect(toSitePath(value)).toBe("/");
  },
);

const shipment = "/portal/5a000000-0000-4000-8000-000000000001";
test.each([
  ...["/portal", "/portal/new", "/portal/two-factor", "/portal?page=2", "/portal?q=&waiting=&stage=&page="],
  ...[shipment, `${shipment}/documents/bill-of-lading`, `${shipment}?page=123456`],
  `${shipment}?q=tea&waiting=client&page=2`,
])("The portal page %s is a valid redirect target.", (path) => {
  expect(toViewerPath(path)).toBe(path);
  expect(toSitePath(path)).toBe(path);
});

test.each([
  ...["/", "/login", "/portals", "/portal/a/b/c/d", "/portal/", `/portal/${"x".repeat(65)}`, "/portal?page=1234567"],
  ...["/portal?q=tea&page=2&q=tea&page=2&q=tea", "/portal?waiting=//evil.example", "/portal?page=-1"],
  ...["/portal?q=tea&waiting=&stage=&next=", "/portal?next=//evil.example"],
])("The redirect target %s, which is not a page of the portal, becomes /portal.", (path) => {
  expect(toViewerPath(path)).toBe("/portal");
});

test.each([
  ...["/", "/?quote", "/contact", "/resources/blog", "/resources/blog/some-article"],
  "/resources/blog?category=Customs",
])("The page %s is a valid redirect target for visitors.", (path) => {
  expect(toSitePath(path)).toBe(path);
});

test.each([
  ...["/contact/", "//contact", "/a/b/c/d/e/f", `/${"x".repeat(101)}`, `/?${"x".repeat(301)}`],
  ...['/contact?x="><script>', "/contact?x=\\evil", "/contact? x"],
])("The redirect target %j, which is not a page of the site, becomes the home page.", (path) => {
  expect(toSitePath(path)).toBe("/");
});

test("No redirect target leads a browser to another site.", () => {
  const site = "https://portal.example";
  const targets = [...foreignTargets, "/?next=//evil.example", "/?u=https:%2F%2Fevil.example", "/portal?page=1"];
  for (const value of targets) {
    for (const path of [toViewerPath(value), toSitePath(value)]) {
      expect(new URL(path, `${site}/login`).origin).toBe(site);
      expect(path).not.toMatch(/[\r\n\t\\]/);
    }
  }
});
