import { randomUUID } from "node:crypto";
import { afterEach, describe, expect, test } from "vitest";
import { copyBrowser } from "../support/route-fixtures.ts";
import { changeSession, encodeSession } from "../support/session-cookie.ts";
import { getTestApp, noStorePattern, type TestBrowser } from "../support/test-app.ts";

const app = await getTestApp();
const client = app.browser();
const email = await client.signUpAndLogIn("Wanjiru");
afterEach(() => app.proxy.fail("none"));

const newLoggedInBrowser = async () => {
  const browser = app.browser();
  await browser.logIn(email);
  return browser;
};
const newExpiredBrowser = async () => {
  const browser = await newLoggedInBrowser();
  changeSession(browser, { expires_at: 1 });
  return browser;
};
const countRefreshes = (calls: string[]) => calls.filter((call) => call.includes("grant_type=refresh_token")).length;

test.each(["/portal.data", "/portal.data?_routes=routes%2Fportal", "/portal/new.data"])(
  "A client-side navigation of a visitor to %s gets no data of the portal.",
  async (path) => {
    const response = await app.browser().get(path);
    const text = await response.text();
    expect(text).toContain("/login");
    expect(text).not.toMatch(/shipments|hasOlder|idempotencyKey/);
  },
);

describe("Invalid session cookie", () => {
  const getPart = (from: number, to?: number) => (client.cookies.get("session") ?? "").slice(from, to);
  const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const unsigned = `${encode({ alg: "none", typ: "JWT" })}.${encode({ sub: randomUUID(), role: "authenticated", exp: 4e9 })}.`;
  test.each<[string, () => string]>([
    ["garbage", () => "%%%;garbage"],
    ["invalid base64", () => "base64-&&&&"],
    ["bytes that are not UTF-8", () => `base64-${Buffer.from([255, 254, 0, 128]).toString("base64url")}`],
    ["the first half of a session", () => getPart(0, 300)],
    ["the end of a session", () => getPart(40)],
    ["null", () => encodeSession(null)],
    ["an empty object", () => encodeSession({})],
    ["tokens that are not texts", () => encodeSession({ access_token: 1, refresh_token: {} })],
    ["tokens with a line break", () => encodeSession({ access_token: "a\r\nb", refresh_token: "x", expires_at: 4e9 })],
    [
      "an unsigned access token",
      () => encodeSession({ access_token: unsigned, refresh_token: "x", expires_at: 4e9, user: { id: "1" } }),
    ],
    [
      "an expired session with an unknown refresh token",
      () => encodeSession({ access_token: "a.b.c", refresh_token: "nobody", expires_at: 1, expires_in: 1 }),
    ],
    ["100,000 letters", () => "a".repeat(100_000)],
  ])("A browser whose session cookie is %s is signed out, and the cookie is deleted.", async (_what, createValue) => {
    const browser = app.browser();
    browser.cookies.set("session", createValue());
    const response = await browser.get("/portal");
    expect([response.status, response.headers.get("Location")]).toEqual([303, "/login"]);
    expect(browser.cookies.has("session")).toBe(false);
    browser.cookies.set("session", createValue());
    for (const path of ["/", "/login"]) expect((await browser.get(path)).status).toBe(200);
  });

  test("If a session cookie is divided into several cookies, the site deletes all of them.", async () => {
    const browser = app.browser();
    browser.cookies.set("session.0", getPart(0, 100));
    browser.cookies.set("session.7", "garbage");
    expect((await browser.get("/portal")).headers.get("Location")).toBe("/login");
    expect([...browser.cookies.keys()]).toEqual([]);
  });
});

describe("Invalid flash cookie", () => {
  const readFlash = async () => {
    const browser = app.browser();
    await browser.post("/actions/forgot-password", {});
    return browser.cookies.get("flash") ?? "";
  };
  const forged = '{"__flash_toast__":{"toast":{"message":"Hacked","type":"success"}}}';
  test.each<[string, () => Promise<string> | string]>([
    ["garbage", () => "garbage"],
    ["half of a real one", async () => (await readFlash()).slice(0, 40)],
    ["a real one with another signature", async () => `${(await readFlash()).split(".")[0]}.AAAA`],
    ["an unsigned one", () => Buffer.from(forged).toString("base64")],
    ["100,000 letters", () => "a".repeat(100_000)],
  ])("A flash or theme cookie with %s does not change the page.", async (_what, createValue) => {
    const browser = app.browser();
    const value = await createValue();
    browser.cookies.set("flash", value);
    browser.cookies.set("theme", value);
    const page = await browser.open("/login");
    expect([page.status, page.toasts]).toEqual([200, []]);
    expect(page.all("html")[0]?.getAttribute("class")).toBe("dark");
  });
});

describe("Refresh of a session", () => {
  test("The site refreshes an expired session only once and stores the new session in the cookie.", async () => {
    const browser = await newExpiredBrowser();
    const previous = browser.cookies.get("session");
    const calls = await app.proxy.during(async () => {
      const response = await browser.get("/portal");
      expect(response.status).toBe(200);
      expect(response.headers.get("Cache-Control") ?? "").toMatch(noStorePattern);
      expect(response.headers.getSetCookie()).toContainEqual(expect.stringMatching(/^session=.*HttpOnly/));
    });
    expect(countRefreshes(calls)).toBe(1);
    expect(browser.cookies.get("session")).not.toBe(previous);
    expect((await browser.get("/portal")).status).toBe(200);
  });

  test.each([500, 503, "half json", 429] as const)(
    "If the refresh of a session fails with %s, the session remains in its cookie and is refreshed later.",
    async (fault) => {
      const browser = await newExpiredBrowser();
      app.proxy.fail(fault, /grant_type=refresh_token/);
      expect((await browser.get("/portal")).status).toBe(503);
      expect(browser.cookies.has("session")).toBe(true);
      app.proxy.fail("none");
      expect((await browser.get("/portal")).status).toBe(200);
    },
  );

  test.each([400, 401, 403, 404] as const)(
    "If the refresh of a session is rejected with %s, the session ends and the client is redirected to the login page.",
    async (fault) => {
      const browser = await newExpiredBrowser();
      app.proxy.fail(fault, /grant_type=refresh_token/);
      expect((await browser.get("/portal")).headers.get("Location")).toMatch(/^\/login/);
      expect(browser.cookies.has("session")).toBe(false);
      app.proxy.fail("none");
    },
  );

  test("Twenty parallel requests and a later request with the same expired session refresh the session only once.", async () => {
    const browser = await newExpiredBrowser();
    const late = copyBrowser(app, browser);
    const calls = await app.proxy.during(async () => {
      const responses = await Promise.all(Array.from({ length: 20 }, () => browser.get("/portal")));
      responses.push(await late.get("/portal"));
      expect(responses.map(({ status }) => status)).toEqual(Array(21).fill(200));
    });
    expect(countRefreshes(calls)).toBe(1);
    expect(late.cookies.get("session")).toBe(browser.cookies.get("session"));
    expect((await browser.get("/portal")).status).toBe(200);
  });
});

describe("Sign-out", () => {
  const signedOutToast = [{ title: "You are signed out", description: "", variant: "default" }];

  test("A client who signs out sees one toast, and a copy of the session cookie no longer gives access.", async () => {
    const browser = await newLoggedInBrowser();
    const copies = [copyBrowser(app, browser), copyBrowser(app, browser)];
    changeSession(copies[1] as TestBrowser, { expires_at: 1 });
    for (const copy of copies) expect((await copyBrowser(app, copy).get("/portal")).status).toBe(200);
    const response = await browser.submit(await browser.open("/portal"), "Sign out");
    expect(browser.cookies.has("session")).toBe(false);
    const login = await browser.follow(response);
    expect([login.h1, login.toasts]).toEqual(["Client Login", signedOutToast]);
    expect(login.all("header a, header button").map((each) => each.text)).not.toContain("Sign out");
    for (const each of [browser, ...copies]) expect((await each.get("/portal")).headers.get("Location")).toBe("/login");
  });

  test("Signing out with an expired session deletes the session cookie, even if the backend fails.", async () => {
    const browser = await newExpiredBrowser();
    app.proxy.fail(500, /\/logout/);
    const calls = await app.proxy.during(async () => {
      const response = await browser.post("/portal/sign-out", {});
      const cookies = response.headers.getSetCookie().filter((line) => line.startsWith("session"));
      expect(cookies.length).toBeGreaterThan(0);
      for (const cookie of cookies) expect(cookie).toMatch(/^session[.\d]*=; Max-Age=0/);
    });
    expect(countRefreshes(calls)).toBe(1);
    expect((await browser.get("/portal")).headers.get("Location")).toBe("/login");
  });

  test("A client can sign out after the same session was ended in another window.", async () => {
    const browser = await newLoggedInBrowser();
    const window = copyBrowser(app, browser);
    changeSession(window, { expires_at: 1 });
    await browser.post("/portal/sign-out", {});
    const login = await window.follow(await window.post("/portal/sign-out", {}));
    expect(login.toasts).toEqual(signedOutToast);
    expect(window.cookies.has("session")).toBe(false);
  });
});

describe("Account cookie", () => {
  test("The account cookie changes with the signed-in account, shows when a person has signed out, and ends with the session.", async () => {
    const browser = await newLoggedInBrowser();
    const account = browser.cookies.get("account") ?? "";
    expect(account).toMatch(/^[\w-]{11}$/);
    expect((await newLoggedInBrowser()).cookies.get("account")).toBe(account);
    const other = app.browser();
    await other.signUpAndLogIn("Achieng Otieno");
    expect(other.cookies.get("account")).toMatch(/^[\w-]{11}$/);
    expect(other.cookies.get("account")).not.toBe(account);

    browser.cookies.delete("account");
    changeSession(browser, { expires_at: 1 });
    await browser.get("/portal");
    expect(browser.cookies.get("account")).toBe(account);
    browser.cookies.set("session", "garbage");
    await browser.get("/portal");
    expect(browser.cookies.has("account")).toBe(false);

    await other.post("/portal/sign-out", {});
    await other.get("/portal");
    expect(other.cookies.get("account")).toBe("0");
  });

  test("Each page of the portal contains the value of the account cookie.", async () => {
    const browser = await newLoggedInBrowser();
    for (const path of ["/portal", "/portal/account"])
      expect(await (await browser.get(path)).text(), path).toContain(
        `accountHash\\",\\"${browser.cookies.get("account")}`,
      );
  });
});
