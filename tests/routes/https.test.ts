import process from "node:process";
import { RouterContextProvider } from "react-router";
import { afterAll, describe, expect, test, vi } from "vitest";
import { acquireUploadSlot } from "../../app/lib/http/transfer-slots.server.ts";
import { demoCredentials } from "../support/site-sandbox.ts";
import { getTestApp, password, sendRequest, startTestSite, TestBrowser } from "../support/test-app.ts";

const portalOrigin = "https://portal.example";

process.env.APP_ORIGIN = portalOrigin;
process.env.TRUSTED_PROXIES = "";
// The limits are low, so the tests need only a few requests to exceed a limit.
Object.assign(process.env, { LOGINS_PER_ADDRESS: "3", CLIENT_ID_GUESSES: "2" });
await getTestApp();
const printed = vi.spyOn(console, "log");
const site = await startTestSite();
// Waits for the next event loop iteration, in which the site writes log lines.
await new Promise(setImmediate);
const readLines = (spy: typeof printed) => spy.mock.calls.join("\n").split("\n").filter(Boolean);
const logLines = readLines(printed);
printed.mockRestore();
afterAll(() => site.close());

/** Returns the log lines with the event `event` from the start of the site. */
const filterLog = (event: string) => logLines.map((line) => JSON.parse(line)).filter((line) => line.event === event);

/** Returns a browser that uses https://portal.example through a proxy that terminates TLS. */
function createBrowser(): TestBrowser {
  return new TestBrowser(async (request) => {
    const { pathname, search } = new URL(request.url);
    const { method, headers } = request;
    if (headers.has("Origin")) headers.set("Origin", portalOrigin);
    const body = request.body ? new Uint8Array(await request.arrayBuffer()) : undefined;
    return fetch(`http://127.0.0.1:${site.port}${pathname}${search}`, { method, headers, body, redirect: "manual" });
  });
}

const readCookies = async (response: Promise<Response>) => (await response).headers.getSetCookie();

describe("Cookies over https", () => {
  test("Over https, every cookie is only for this host and https. Script can read only three cookies without personal data.", async () => {
    const visitor = createBrowser();
    const cookies = [
      await readCookies(visitor.post("/actions/theme", { theme: "light" })),
      await readCookies(visitor.post("/actions/lite", { lite: "on" })),
      await readCookies(visitor.post("/actions/forgot-password", {})),
      await readCookies(visitor.post("/cookie-settings", { performance: "on" })),
      await readCookies(visitor.post("/login", { ...demoCredentials, shared: "on" })),
      await readCookies(visitor.post("/login", demoCredentials)),
      await readCookies(visitor.get("/portal")),
      await readCookies(visitor.post("/portal/account", { intent: "offline-pages" })),
      await readCookies(visitor.post("/portal/sign-out", {})),
    ].flat();
    const names = new Set(cookies.map((cookie) => cookie.split("=")[0]));
    expect([...names].sort()).toEqual(
      ["account", "cookieSettings", "flash", "known", "lite", "offline", "reminded", "session", "shared", "theme"].map(
        (name) => `__Host-${name}`,
      ),
    );
    for (const cookie of cookies) {
      expect(cookie.split("; ")).toEqual(expect.arrayContaining(["Path=/", "Secure", "SameSite=Lax"]));
      expect(cookie.includes("; HttpOnly"), cookie).toBe(!/^__Host-(account|shared|offline)=/.test(cookie));
      expect(cookie).not.toMatch(/; Domain/i);
    }
  });

  test("A client's cookies and the cookie of the text-only version work over https as over http.", async () => {
    const client = createBrowser();
    await client.post("/login", { ...demoCredentials, shared: "on" });
    expect((await readCookies(client.get("/portal"))).join()).toContain("reminded");
    expect((await readCookies(client.get("/portal"))).join()).not.toContain("reminded");
    expect((await client.post("/portal/sign-out", {})).headers.get("Clear-Site-Data")).toBe('"cache", "storage"');
    await client.post("/actions/lite", { lite: "on" });
    expect(await (await client.get("/about")).text()).not.toContain("modulepreload");
  });

  test("Over https, a cookie without the prefix __Host- has no effect, because another host of the same domain can set it.", async () => {
    const visitor = createBrowser();
    await visitor.post("/login", demoCredentials);
    const session = visitor.cookies.get("__Host-session") ?? "";
    visitor.cookies.clear();
    for (const [name, value] of Object.entries({ session, shared: "1", lite: "1" })) visitor.cookies.set(name, value);
    expect((await visitor.get("/portal")).headers.get("Location")).toBe("/login");
    expect((await visitor.post("/portal/sign-out", {})).headers.get("Clear-Site-Data")).toBeNull();
    expect(await (await visitor.get("/about")).text()).toContain("modulepreload");
  });
});

test("Every response over https, even to a rejected form, has an HSTS header for two years.", async () => {
  const visitor = createBrowser();
  const asset = /"(\/assets\/[^"]+\.js)"/.exec(await (await visitor.get("/")).text())?.[1] ?? "";
  const paths = ["/", "/login", "/portal", "/favicon.svg", "/robots.txt", "/no-such-page", "/healthz", asset];
  const responses = await Promise.all(paths.map((each) => visitor.get(each)));
  responses.push(await visitor.post("/login", {}, { "Sec-Fetch-Site": "cross-site" }));
  expect(responses.slice(-2).map(({ status }) => status)).toEqual([200, 403]);
  const policies = responses.map(({ headers }) => headers.get("Strict-Transport-Security"));
  expect(policies).toEqual(Array(9).fill("max-age=63072000"));
});

test("A site with sample content and without TRUSTED_PROXIES logs one warning about each at its start.", () => {
  const samples = { level: "warn", values: expect.any(Number), message: expect.stringContaining("`npm run content`") };
  expect(filterLog("sample values")).toEqual([expect.objectContaining(samples)]);
  const proxy = { level: "warn", message: expect.stringContaining("Set TRUSTED_PROXIES") };
  expect(filterLog("visitor addresses unknown")).toEqual([expect.objectContaining(proxy)]);
});

describe("Other host names", () => {
  const open = (Host: string, address = "/about?quote", method = "GET") =>
    sendRequest(site.port, address, { Host, "Sec-Fetch-Site": "none" }, method);

  test("A request to another host name is redirected to the same page of the site, except if a proxy causes a redirect loop.", async () => {
    for (const [host, path, method] of [
      ["www.portal.example", "/about?quote", "GET"],
      ["WWW.Portal.Example:443", "/favicon.svg", "GET"],
      ["portal.example.", "//evil.example/x", "HEAD"],
      ["old-name.example:8080", "/about?quote", "GET"],
    ] as const) {
      const { status, headers } = await open(host, path, method);
      expect([host, status, headers.location]).toEqual([host, 301, portalOrigin + path]);
      expect(headers["cache-control"]).toContain("no-store");
      expect((await open("portal.example")).status).toBe(200);
    }
    const statuses = [];
    for (let count = 0; count < 6; count += 1) statuses.push((await open("origin.portal.example")).status);
    expect(statuses).toEqual([301, 301, 301, 301, 301, 200]);
    expect((await open("portal.example")).status).toBe(200);
  });

  test("A request with the internal host name of a proxy gets the page without a redirect.", async () => {
    for (const host of ["portal.example", "portal.example:8443", "127.0.0.1:3000", "[::1]:3000", "site:3000"])
      expect([host, (await open(host)).status]).toEqual([host, 200]);
  });

  test("A health check with another host name gets a response, and the log contains each other host name once.", async () => {
    const log = vi.spyOn(console, "log");
    for (const path of ["/healthz", "/about", "/about"]) await open("monitor.portal.example", path);
    await new Promise(setImmediate);
    const lines = readLines(log).filter((line) => line.includes("other host name"));
    log.mockRestore();
    expect(lines.map((line) => JSON.parse(line).host)).toEqual(["monitor.portal.example"]);
    expect((await open("monitor.portal.example", "/healthz")).status).toBe(200);
    await open("portal.example");
  });
});

test("After the check-by days of its figures, a site logs one warning with the number of figures to check at its start.", async () => {
  const lines = vi.spyOn(console, "log").mockImplementation(() => undefined);
  vi.useFakeTimers({ toFake: ["Date"], now: new Date("2099-01-01T00:00:00Z") });
  try {
    await (await startTestSite()).close();
    await new Promise(setImmediate);
    const warnings = readLines(lines).filter((line) => line.includes("figures to check"));
    expect(warnings).toEqual([expect.stringContaining("run `npm run content`")]);
    expect(JSON.parse(warnings[0] ?? "")).toMatchObject({ level: "warn", figures: expect.any(Number) });
  } finally {
    vi.useRealTimers();
    lines.mockRestore();
  }
});

describe("Proxy that TRUSTED_PROXIES does not contain", () => {
  test("A visitor who guesses passwords behind an unknown proxy does not lock out other visitors.", async () => {
    const guesser = createBrowser();
    for (let attempt = 0; attempt < 4; attempt += 1) {
      const login = { email: `nobody-${attempt}@client.example`, password: "a wrong guess" };
      expect((await guesser.post("/login", login)).status).toBe(400);
    }
    for (let attempt = 0; attempt < 3; attempt += 1) {
      const fields = { fullName: "Guessing", email: "guessing@client.example", password };
      const clientId = `AAAA-AAAA-AAAA-00${String(attempt).padStart(2, "0")}`;
      expect((await guesser.post("/signup", { ...fields, clientId })).status).toBe(400);
    }
    expect((await createBrowser().post("/login", demoCredentials)).status).toBe(303);
  });

  test("Unfinished uploads of one visitor behind an unknown proxy leave upload slots for other visitors.", async () => {
    const acquiring = Array.from({ length: 8 }, () => {
      const headers = { "Content-Length": "1000" };
      const request = new Request(`${portalOrigin}/careers`, { method: "POST", headers });
      return acquireUploadSlot(request, new RouterContextProvider(), undefined);
    });
    const slots = await Promise.all(acquiring);
    expect(slots.every((slot) => "release" in slot)).toBe(true);
  });

  test("An account is locked after five wrong passwords, even behind an unknown proxy.", async () => {
    const guess = () => createBrowser().post("/login", { email: "guessed@client.example", password: "a wrong guess" });
    for (let attempt = 0; attempt < 5; attempt += 1) expect((await guess()).status).toBe(400);
    expect((await guess()).status).toBe(429);
  });
});
