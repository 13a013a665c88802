import { connect } from "node:net";
import { buffer } from "node:stream/consumers";
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { getTestApp, noStorePattern, password, startTestSite } from "../support/test-app.ts";

await getTestApp();
const site = await startTestSite();
const client = site.browser();
const email = await client.signUpAndLogIn("Requester");
const shipment = await client.createShipment("Requests");
afterAll(() => site.close());

describe("unusual addresses", () => {
  let lines: Record<string, unknown>[];
  beforeAll(() => {
    vi.spyOn(console, "log").mockImplementation((text: unknown) => {
      for (const line of String(text).split("\n")) if (line.startsWith("{")) lines.push(JSON.parse(line));
    });
  });
  beforeEach(() => {
    lines = [];
  });
  afterAll(() => {
    vi.restoreAllMocks();
  });

  /** Sends a request over a socket, because fetch normalizes URLs. Waits for the request's log line. */
  async function send(target: string, method = "GET", moreHeaders = "", body = "") {
    const socket = connect(site.port, "127.0.0.1").on("error", () => undefined);
    const head = `Host: x\r\nConnection: close\r\n${moreHeaders}Content-Length: ${body.length}`;
    socket.write(`${method} ${target} HTTP/1.1\r\n${head}\r\n\r\n${body}`);
    const [top = ""] = (await buffer(socket)).toString("latin1").split("\r\n\r\n");
    const [, ...rows] = top.split("\r\n");
    const headers = new Headers(
      rows.map((row): [string, string] => [row.split(": ", 1)[0] ?? "", row.replace(/^[^:]*: /, "")]),
    );
    const id = headers.get("X-Request-Id");
    await expect.poll(() => lines.filter(({ requestId }) => requestId === id && id)).not.toEqual([]);
    expect(headers.get("Cache-Control") ?? "", target).toMatch(noStorePattern);
    return { status: Number(top.slice(9, 12)), headers };
  }

  test.each([
    ...["%0a", "%0D", "%0d%0A", "%E2%80%A8", "%e2%80%a9"].flatMap((lineEnd) => [
      ...[`/x${lineEnd}`, `/${lineEnd}y`, `/portal/${lineEnd}`, `/login${lineEnd}.data`, `/%E0%A4%A/${lineEnd}`],
    ]),
    ...["/%85", "/%00", "/%E0%A4%A", "/%", "//x", "/x//y", "/./x", "/x/../../y", "/\\..\\x"],
    ...["/x.data", "//x.data", "/%00.data", "/x/_.data", "/_root.data/x", "/__manifest", "/x;y"],
    ...["http://evil.example/x%0a", "HTTPS://evil.example/%E2%80%A8.data"],
    ...[`/${"a".repeat(8000)}`, `/x?${"a".repeat(8000)}`],
  ])(
    "The unknown address %j rejects another site's form, and every response is logged and not cached.",
    async (address) => {
      // Below /portal/ a visitor is redirected to the login page, whether the page exists or not.
      expect(address.startsWith("/portal/") ? [303] : [404, 400]).toContain((await send(address)).status);
      const headers = "Sec-Fetch-Site: cross-site\r\nContent-Type: application/json\r\n";
      expect([403, 400]).toContain((await send(address, "POST", headers, "{}")).status);
    },
  );

  test.each(["OPTIONS", "TRACE", "PROPFIND", "PURGE", "PUT", "DELETE"])(
    "The method %s is rejected at every address, and the response lists the accepted methods.",
    async (method) => {
      for (const address of ["/login", "/favicon.svg", "/healthz", "/x%0a", "/portal.data"]) {
        const { status, headers } = await send(address, method);
        expect([address, status, headers.get("Allow")]).toEqual([address, 405, "GET, HEAD, POST"]);
      }
    },
  );

  test.each(["nonsense", "http://[", "https://a, https://b"])(
    "A form with the origin %j is rejected.",
    async (from) => {
      for (const address of ["/login", "/login.data", "/actions/theme"]) {
        const headers = `Origin: ${from}\r\nContent-Type: application/x-www-form-urlencoded\r\n`;
        expect([address, (await send(address, "POST", headers, "email=a")).status]).toEqual([address, 403]);
      }
    },
  );
});

function expectPrivate({ headers }: Response, what: string): void {
  expect(headers.get("Cache-Control") ?? "", what).toMatch(noStorePattern);
  expect(headers.get("X-Robots-Tag"), what).toBe("noindex");
}

test.each([
  ...["/login", "/signup", "/auth/confirm", "/auth/confirm?token_hash=x"],
  ...["/portal", "/portal/new", "/portal/2fa"],
])("The personal page %s is neither cached nor indexed.", async (path) => {
  const response = await client.get(path);
  expect([200, 303]).toContain(response.status);
  expectPrivate(response, path);
});

test("Redirects, errors and rejected forms are neither cached nor indexed, for pages and for script.", async () => {
  const visitor = site.browser();
  const redirects = ["/portal", "/portal/new", shipment, "/login/verify", "/actions/theme", "/portal/sign-out"];
  for (const path of redirects.flatMap((redirect) => [redirect, `${redirect}.data`])) {
    const response = await visitor.get(path);
    expect([202, 303], path).toContain(response.status);
    expectPrivate(response, path);
  }
  for (const path of ["/no-such-page", "/portal/no-such", "/resources/blog/no-such", "/no-such.data"])
    expectPrivate(await client.get(path), path);
  expectPrivate(await client.post("/contact", {}), "an empty form");
  expectPrivate(await client.post("/contact", {}, { Origin: "https://evil.example" }), "a form of another site");
});

test("Public pages can be cached and indexed.", async () => {
  for (const path of ["/", "/contact", "/resources/blog", "/sitemap.xml", "/robots.txt"]) {
    const { headers } = await site.browser().get(path);
    expect(headers.get("X-Robots-Tag"), path).toBeNull();
    expect(headers.get("Cache-Control"), path).not.toContain("no-store");
  }
});

test("No response that sets a cookie is cached.", async () => {
  const browser = site.browser();
  const responses = [
    await browser.post("/actions/theme", { theme: "light", to: "/" }),
    await browser.post("/actions/forgot-password", {}),
    await browser.get("/"),
    await browser.post("/login", { email, password }),
    await browser.get("/"),
    await browser.post(`${shipment}/payments`, { payment: "duties" }),
    await browser.get("/no-such-page"),
    await browser.post("/portal/new", { name: "" }),
    await browser.post("/portal/sign-out", {}),
    await browser.get("/signup"),
  ].filter((response) => response.headers.getSetCookie().length > 0);
  expect(responses.length).toBeGreaterThanOrEqual(8);
  for (const { headers } of responses)
    expect(headers.get("Cache-Control") ?? "", headers.getSetCookie().join()).toMatch(noStorePattern);
});

test.each(["/contact", "/contact.data"])("The response of %s to an accepted form is not cached.", async (path) => {
  const form = { name: "Amina Wanjiru", email: "amina@client.example", subject: "Tea", message: "When?" };
  const response = await client.post(path, form);
  expect(response.status).toBe(200);
  expect(await response.text()).toContain("amina@client.example");
  expect(response.headers.get("Set-Cookie")).toBeNull();
  expect(response.headers.get("Cache-Control")).toBe("private, no-store");
});
