import { RouterContextProvider } from "react-router";
import { afterEach, expect, test, vi } from "vitest";
import { stubSettings } from "../../../tests/support/stub-settings.ts";

afterEach(() => {
  vi.unstubAllEnvs();
  vi.resetModules();
});

/**
 * Imports the request guard for a site at `origin`. afterEach resets the module, because the module reads the settings
 * only once.
 */
async function loadGuard(origin: string) {
  stubSettings({ APP_ORIGIN: origin });
  return import("./request-guard.server.ts");
}

test.each([
  {
    site: "https://portal.example",
    own: ["https://portal.example"],
    foreign: [
      ...["http://portal.example", "https://portal.example:8443", "https://portal.example.evil.example"],
      ...["https://portal.example@evil.example", "https://portal.example/", "http://localhost:3000", "null", ""],
    ],
  },
  { site: "https://portal.example:8443", own: ["https://portal.example:8443"], foreign: ["https://portal.example"] },
  {
    site: "http://127.0.0.1:3000",
    own: ["http://127.0.0.1:3000", "http://localhost:3000", "http://[::1]:3000"],
    foreign: [
      ...["http://127.0.0.1:3001", "https://127.0.0.1:3000", "http://localhost.evil.example:3000"],
      ...["http://evil.example:3000", "null", ""],
    ],
  },
])("The site at $site accepts forms only from its own origin.", async ({ site, own, foreign }) => {
  const { isOwnOrigin } = await loadGuard(site);
  expect([...own, ...foreign].filter(isOwnOrigin)).toEqual(own);
});

const site = "https://portal.example";
const evil = "https://evil.example";
const formHeaders = { "Content-Type": "application/x-www-form-urlencoded" };
const requests: [string, string, Record<string, string>, number][] = [
  ["from another site's link", "GET", { "Sec-Fetch-Site": "cross-site", Origin: evil }, 200],
  ["with a form from an old browser", "POST", formHeaders, 200],
  ["with a character set", "POST", { "Content-Type": "Application/X-WWW-Form-URLencoded;charset=UTF-8" }, 200],
  [
    "with an Origin that a proxy hides",
    "POST",
    { ...formHeaders, "Sec-Fetch-Site": "same-origin", Origin: "null" },
    200,
  ],
  ["with a hidden Origin from an old browser", "POST", { ...formHeaders, Origin: "null" }, 403],
  ["from a hidden other site", "POST", { ...formHeaders, "Sec-Fetch-Site": "cross-site", Origin: "null" }, 403],
  ["with contradicting headers", "POST", { ...formHeaders, "Sec-Fetch-Site": "same-origin", Origin: evil }, 403],
  ["with bytes outside the address for uploads", "POST", { "Content-Type": "application/octet-stream" }, 415],
  ["with a similar content type", "POST", { "Content-Type": "application/x-www-form-urlencoded-x" }, 415],
];
test.each(requests)("A request %s (method %s, headers %j) gets status %i.", async (_what, method, headers, status) => {
  const { requestGuardMiddleware } = await loadGuard(site);
  const request = new Request(`${site}/contact`, { method, headers });
  const args = { request, url: new URL(request.url), context: new RouterContextProvider() };
  let hasPassed = false;
  const result = requestGuardMiddleware({ ...args, params: {}, pattern: "/contact" }, async () => {
    hasPassed = true;
    return new Response();
  });
  if (status === 200) await result;
  else await expect(result).rejects.toMatchObject({ init: { status } });
  if (status === 403) await expect(result).rejects.toMatchObject({ data: expect.stringContaining(` ${site}, `) });
  expect(hasPassed).toBe(status === 200);
});
