import { RouterContextProvider } from "react-router";
import { afterEach, expect, test, vi } from "vitest";
import { stubSettings } from "../../../tests/support/stub-settings.ts";

afterEach(() => {
  vi.unstubAllEnvs();
  vi.resetModules();
});

/** The gate of a site that visitors reach at this origin; settings are read once, so each has modules of its own. */
async function loadGuard(origin: string) {
  stubSettings({ APP_ORIGIN: origin });
  return import("./request-guard.server.ts");
}

const ownOrigins: [string, string][] = [
  ["https://portal.example", "https://portal.example"],
  ["https://portal.example:8443", "https://portal.example:8443"],
  ["http://127.0.0.1:3000", "http://127.0.0.1:3000"],
  ["http://127.0.0.1:3000", "http://localhost:3000"],
  ["http://127.0.0.1:3000", "http://[::1]:3000"],
  ["http://localhost:3000", "http://127.0.0.1:3000"],
];
test.each(ownOrigins)("for the site at %s, %s is its own origin", async (site, origin) => {
  const { isOwnOrigin: isOurs } = await loadGuard(site);
  expect(isOurs(origin)).toBe(true);
});

const foreignOrigins: [string, string][] = [
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
test.each(foreignOrigins)("for the site at %s, %j is somebody else's origin", async (site, origin) => {
  const { isOwnOrigin: isOurs } = await loadGuard(site);
  expect(isOurs(origin)).toBe(false);
});

const formHeaders = { "Content-Type": "application/x-www-form-urlencoded" };
const allowedRequests: [string, string, Record<string, string>][] = [
  ["a page is asked for", "GET", {}],
  ["another site links to a page", "GET", { "Sec-Fetch-Site": "cross-site", Origin: "https://evil.example" }],
  ["the head of a page is asked for", "HEAD", {}],
  [
    "an own form is sent",
    "POST",
    { ...formHeaders, "Sec-Fetch-Site": "same-origin", Origin: "https://portal.example" },
  ],
  ["an old browser sends a form", "POST", { ...formHeaders }],
  ["an own form with a file is sent", "POST", { "Content-Type": "multipart/form-data; boundary=x" }],
  ["a form names its letters", "POST", { "Content-Type": "Application/X-WWW-Form-URLencoded;charset=UTF-8" }],
];
test.each(allowedRequests)("the gate is open when %s", async (_what, method, headers) => {
  expect(await sendThroughGuard(method, headers)).toBe("open");
});

const rejectedRequests: [string, string, Record<string, string>, number][] = [
  ["another site's form", "POST", { ...formHeaders, "Sec-Fetch-Site": "cross-site" }, 403],
  ["a neighbour's form", "POST", { ...formHeaders, "Sec-Fetch-Site": "same-site" }, 403],
  ["a form of a foreign origin", "POST", { ...formHeaders, Origin: "https://evil.example" }, 403],
  ["a form of no origin", "POST", { ...formHeaders, Origin: "null" }, 403],
  [
    "a form that contradicts itself",
    "POST",
    { ...formHeaders, "Sec-Fetch-Site": "same-origin", Origin: "https://evil.example" },
    403,
  ],
  ["JSON", "POST", { "Content-Type": "application/json" }, 415],
  ["plain text", "POST", { "Content-Type": "text/plain" }, 415],
  ["nothing said about the body", "POST", {}, 415],
  ["a type that only begins right", "POST", { "Content-Type": "application/x-www-form-urlencoded-x" }, 415],
  ["PUT", "PUT", formHeaders, 405],
  ["PATCH", "PATCH", formHeaders, 405],
  ["DELETE", "DELETE", {}, 405],
  ["OPTIONS", "OPTIONS", {}, 405],
];
test.each(rejectedRequests)("the gate stops %s", async (_what, method, headers, status) => {
  const verdict = await sendThroughGuard(method, headers);
  expect(verdict).toMatchObject({ init: { status } });
});

/** What becomes of a request at the gate of https://portal.example: "open", or what it throws. */
async function sendThroughGuard(method: string, headers: Record<string, string>): Promise<unknown> {
  const { requestGuardMiddleware: gateMiddleware } = await loadGuard("https://portal.example");
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
