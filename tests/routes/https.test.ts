import { execFileSync } from "node:child_process";
import path from "node:path";
import process from "node:process";
import { RouterContextProvider } from "react-router";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { acquireUploadSlot } from "../../app/lib/http/transfer-slots.server.ts";
import { root } from "../support/site-process.ts";
import { demoCredentials } from "../support/site-sandbox.ts";
import { getTestApp, password, startTestSite, TestBrowser } from "../support/test-app.ts";

const portalOrigin = "https://portal.example";

let logLines: string[];
let site: Awaited<ReturnType<typeof startTestSite>>;
beforeAll(async () => {
  process.env.APP_ORIGIN = portalOrigin;
  process.env.TRUSTED_PROXIES = "";
  // Few enough to try here; the tests of the limits know what they are without this.
  Object.assign(process.env, { LOGINS_PER_ADDRESS: "3", CLIENT_ID_GUESSES: "2" });
  await getTestApp();
  const printed = vi.spyOn(console, "log");
  site = await startTestSite();
  // Log lines are written at the end of a turn of the event loop.
  await new Promise(setImmediate);
  logLines = printed.mock.calls.join("\n").split("\n").filter(Boolean);
  printed.mockRestore();
});
afterAll(async () => {
  await site.close();
});

/** The lines of an event that the start wrote. */
const filterLog = (event: string) => logLines.map((line) => JSON.parse(line)).filter((line) => line.event === event);

/** A browser of https://portal.example, behind a proxy that ends TLS. */
function createBrowser(): TestBrowser {
  return new TestBrowser(async (request) => {
    const { pathname, search } = new URL(request.url);
    const { method, headers } = request;
    if (headers.has("Origin")) headers.set("Origin", portalOrigin);
    const body = request.body ? new Uint8Array(await request.arrayBuffer()) : undefined;
    return fetch(`http://127.0.0.1:${site.port}${pathname}${search}`, { method, headers, body, redirect: "manual" });
  });
}

test("on https every cookie is bound to this host and to https, and no script reads it but that no page be kept", async () => {
  const visitor = createBrowser();
  const answers = [
    await visitor.post("/actions/theme", { theme: "light" }),
    await visitor.post("/actions/lite", { lite: "on" }),
    await visitor.post("/actions/forgot-password", {}),
    await visitor.post("/cookie-settings", { performance: "on" }),
    await visitor.post("/login", { ...demoCredentials, shared: "on" }),
    await visitor.post("/login", demoCredentials),
    await visitor.get("/portal"),
    await visitor.post("/portal/account", { intent: "offline-pages" }),
    await visitor.post("/portal/sign-out", {}),
  ];
  const lines = answers.flatMap((answer) => answer.headers.getSetCookie());
  const names = new Set(lines.map((line) => line.split("=")[0]?.replace("__Host-", "")));
  expect([...names].sort()).toEqual([
    "cookieSettings",
    "flash",
    "known",
    "lite",
    "offline",
    "reminded",
    "session",
    "shared",
    "theme",
  ]);
  for (const line of lines) {
    expect(line).toMatch(/^__Host-/);
    expect(line.split("; ")).toEqual(expect.arrayContaining(["Path=/", "Secure", "SameSite=Lax"]));
    expect(line.includes("; HttpOnly"), line).toBe(!/^__Host-(shared|offline)=/.test(line));
    expect(line).not.toMatch(/; Domain/i);
  }
});

test("on https what a cookie says counts, and one of a neighbour's without the prefix does not", async () => {
  const person = createBrowser();
  await person.post("/login", { ...demoCredentials, shared: "on" });
  expect((await person.get("/portal")).headers.getSetCookie().join()).toContain("reminded");
  expect((await person.get("/portal")).headers.getSetCookie().join()).not.toContain("reminded");
  expect((await person.post("/portal/sign-out", {})).headers.get("Clear-Site-Data")).toBe('"cache", "storage"');
  await person.post("/actions/lite", { lite: "on" });
  expect(await (await person.get("/about")).text()).not.toContain("modulepreload");

  const visitor = createBrowser();
  await visitor.post("/login", demoCredentials);
  const session = visitor.cookies.get("__Host-session") ?? "";
  visitor.cookies.clear();
  for (const [name, value] of Object.entries({ session, shared: "1", lite: "1" })) visitor.cookies.set(name, value);
  expect((await visitor.get("/portal")).headers.get("Location")).toBe("/login");
  expect((await visitor.post("/portal/sign-out", {})).headers.get("Clear-Site-Data")).toBeNull();
  expect(await (await visitor.get("/about")).text()).toContain("modulepreload");
});

test("on https every answer tells the browser to stay there", async () => {
  const visitor = createBrowser();
  for (const path of ["/", "/login", "/portal", "/favicon.svg", "/robots.txt", "/no-such-page", "/healthz"]) {
    const answer = await visitor.get(path);
    expect(answer.headers.get("Strict-Transport-Security"), path).toBe("max-age=63072000; includeSubDomains");
  }
  const refused = await visitor.post("/login", {}, { "Sec-Fetch-Site": "cross-site" });
  expect([refused.status, refused.headers.has("Strict-Transport-Security")]).toEqual([403, true]);
});

test("the start of a site whose content has samples yet says in one line how many, and what lists them", () => {
  const tsx = path.join(root, "node_modules/tsx/dist/cli.mjs");
  const listed = execFileSync(process.execPath, [tsx, "app/server/content.ts"], { cwd: root, encoding: "utf8" });
  const values = Number(/^(\d+) values to replace/m.exec(listed)?.[1]);
  expect(values).toBeGreaterThan(0);
  expect(filterLog("samples")).toEqual([
    expect.objectContaining({
      level: "warn",
      values,
      message: expect.stringContaining("`npm run content` lists them"),
    }),
  ]);
});

describe("behind a proxy that hides its visitors, as TRUSTED_PROXIES does not name it,", () => {
  test("the start says so in one line", () => {
    expect(filterLog("addresses unknown")).toEqual([
      expect.objectContaining({ level: "warn", message: expect.stringContaining("Set TRUSTED_PROXIES") }),
    ]);
  });

  test("what one visitor gets wrong locks nobody else out", async () => {
    const guesser = createBrowser();
    const guess = (email: string) => guesser.post("/login", { email, password: "a wrong guess" });
    for (let tries = 0; tries < 4; tries += 1) {
      expect((await guess(`nobody-${tries}@client.example`)).status).toBe(400);
    }
    const form = { fullName: "Guessing", email: "guessing@client.example", password };
    for (let tries = 0; tries < 3; tries += 1) {
      const clientId = `AAAA-AAAA-AAAA-00${String(tries).padStart(2, "0")}`;
      expect((await guesser.post("/signup", { ...form, clientId })).status).toBe(400);
    }
    expect((await createBrowser().post("/login", demoCredentials)).status).toBe(303);
  });

  test("uploads that one visitor does not finish leave room for the others", () => {
    const begin = () => {
      const headers = { "Content-Length": "1000" };
      const request = new Request(`${portalOrigin}/careers`, { method: "POST", headers });
      return acquireUploadSlot(request, new RouterContextProvider(), undefined);
    };
    const places = Array.from({ length: 8 }, begin);
    expect(places.every((place) => "release" in place)).toBe(true);
  });

  test("an account is still tried five times only", async () => {
    const guess = () => createBrowser().post("/login", { email: "guessed@client.example", password: "a wrong guess" });
    for (let tries = 0; tries < 5; tries += 1) expect((await guess()).status).toBe(400);
    expect((await guess()).status).toBe(429);
  });
});
