import { RouterContextProvider } from "react-router";
import { afterEach, expect, test, vi } from "vitest";
import { withSettings } from "../../tests/support/settings.ts";

afterEach(() => {
  vi.unstubAllEnvs();
  vi.resetModules();
});

/** The gate of a site that visitors reach at this origin; settings are read once, so each has modules of its own. */
async function gateOf(origin: string) {
  withSettings({ APP_ORIGIN: origin });
  return import("./gate.server.ts");
}

const ours: [string, string][] = [
  ["https://portal.example", "https://portal.example"],
  ["https://portal.example:8443", "https://portal.example:8443"],
  ["http://127.0.0.1:3000", "http://127.0.0.1:3000"],
  ["http://127.0.0.1:3000", "http://localhost:3000"],
  ["http://127.0.0.1:3000", "http://[::1]:3000"],
  ["http://localhost:3000", "http://127.0.0.1:3000"],
];
test.each(ours)("for the site at %s, %s is its own origin", async (site, origin) => {
  const { isOurs } = await gateOf(site);
  expect(isOurs(origin)).toBe(true);
});

const theirs: [string, string][] = [
  ["https://portal.example", "http://portal.example"],
  ["https://portal.example", "https://portal.example:8443"],
  ["https://portal.example", "https://www.portal.example"],
  ["https://portal.example", "https://portal.example.evil.example"],
  ["https://portal.example", "https://evilportal.example"],
  ["https://portal.example", "https://portal.example@evil.example"],
  ["https://portal.example", "https://portal.example/"],
  ["https://portal.example", "http://localhost:3000"],
  ["https://portal.example", "null"],
  ["https://portal.example", ""],
  ["https://portal.example", "*"],
  ["http://127.0.0.1:3000", "http://127.0.0.1:3001"],
  ["http://127.0.0.1:3000", "https://127.0.0.1:3000"],
  ["http://127.0.0.1:3000", "http://localhost"],
  ["http://127.0.0.1:3000", "http://localhost.evil.example:3000"],
  ["http://127.0.0.1:3000", "http://127.0.0.1.evil.example:3000"],
  ["http://127.0.0.1:3000", "http://evil.example:3000"],
  ["http://127.0.0.1:3000", "null"],
  ["http://127.0.0.1:3000", ""],
];
test.each(theirs)("for the site at %s, %j is somebody else's origin", async (site, origin) => {
  const { isOurs } = await gateOf(site);
  expect(isOurs(origin)).toBe(false);
});

const form = { "Content-Type": "application/x-www-form-urlencoded" };
const passing: [string, string, Record<string, string>][] = [
  ["a page is asked for", "GET", {}],
  ["another site links to a page", "GET", { "Sec-Fetch-Site": "cross-site", Origin: "https://evil.example" }],
  ["the head of a page is asked for", "HEAD", {}],
  ["an own form is sent", "POST", { ...form, "Sec-Fetch-Site": "same-origin", Origin: "https://portal.example" }],
  ["an old browser sends a form", "POST", { ...form }],
  ["an own form with a file is sent", "POST", { "Content-Type": "multipart/form-data; boundary=x" }],
  ["a form names its letters", "POST", { "Content-Type": "Application/X-WWW-Form-URLencoded;charset=UTF-8" }],
];
test.each(passing)("the gate is open when %s", async (_what, method, headers) => {
  expect(await pass(method, headers)).toBe("open");
});

const stopped: [string, string, Record<string, string>, number][] = [
  ["another site's form", "POST", { ...form, "Sec-Fetch-Site": "cross-site" }, 403],
  ["a neighbour's form", "POST", { ...form, "Sec-Fetch-Site": "same-site" }, 403],
  ["a form of a foreign origin", "POST", { ...form, Origin: "https://evil.example" }, 403],
  ["a form of no origin", "POST", { ...form, Origin: "null" }, 403],
  [
    "a form that contradicts itself",
    "POST",
    { ...form, "Sec-Fetch-Site": "same-origin", Origin: "https://evil.example" },
    403,
  ],
  ["JSON", "POST", { "Content-Type": "application/json" }, 415],
  ["plain text", "POST", { "Content-Type": "text/plain" }, 415],
  ["nothing said about the body", "POST", {}, 415],
  ["a type that only begins right", "POST", { "Content-Type": "application/x-www-form-urlencoded-x" }, 415],
  ["PUT", "PUT", form, 405],
  ["PATCH", "PATCH", form, 405],
  ["DELETE", "DELETE", {}, 405],
  ["OPTIONS", "OPTIONS", {}, 405],
];
test.each(stopped)("the gate stops %s", async (_what, method, headers, status) => {
  const verdict = await pass(method, headers);
  expect(verdict).toMatchObject({ init: { status } });
});

/** What becomes of a request at the gate of https://portal.example: "open", or what it throws. */
async function pass(method: string, headers: Record<string, string>): Promise<unknown> {
  const { gateMiddleware } = await gateOf("https://portal.example");
  const request = new Request("https://portal.example/contact", { method, headers });
  const url = new URL(request.url);
  const context = new RouterContextProvider();
  let opened = false;
  try {
    await gateMiddleware({ request, url, context, params: {}, pattern: "/contact" }, async () => {
      opened = true;
      return new Response();
    });
  } catch (thrown) {
    expect(opened).toBe(false);
    return thrown;
  }
  return opened ? "open" : "closed";
}
