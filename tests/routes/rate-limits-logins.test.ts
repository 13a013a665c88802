import process from "node:process";
import { afterEach, describe, expect, test } from "vitest";
import {
  expectRateLimited,
  getStatus,
  lockAccount,
  logIn,
  newClientWithoutCode,
  newUnknownEmail,
  repeat,
} from "../support/rate-limits.ts";
import { issueClientIds } from "../support/service-role.ts";
import { getTestApp, parsePage, password, type TestBrowser } from "../support/test-app.ts";

// The limit is lower than the default of 100, so a test needs only a few attempts to exceed the limit.
process.env.LOGINS_PER_ACCOUNT = "12";
const app = await getTestApp();
const email = await app.browser().signUpAndLogIn("Limited");
afterEach(() => app.proxy.fail("none"));

const browserAt = (address: string): TestBrowser => Object.assign(app.browser(), { address });
const filterPasswordChecks = (calls: string[]) => calls.filter((call) => call.includes("grant_type=password"));
const countStatus = async (responses: Promise<Response>[], status: number) =>
  (await Promise.all(responses)).filter((response) => response.status === status).length;
const randomHex = () => Math.floor(Math.random() * 65536).toString(16);

describe("Failed logins", () => {
  test("After five failed logins, with or without an account, the form says when to try again and checks no password.", async () => {
    const person = await app.browser().signUpAndLogIn("Five");
    const texts: string[] = [];
    for (const email of [person, newUnknownEmail()]) {
      const browser = app.browser();
      await repeat(5, () => logIn(browser, email), 400);
      const calls = await app.proxy.during(async () => {
        const page = await parsePage(await logIn(browser, email, password));
        expectRateLimited(page, "Login Failed", /^Too many login attempts\. Try again in 15 minutes\.$/, 900);
        expect(page.value("email")).toBe(email);
        expect(page.html).not.toContain(password);
        texts.push(page.text);
      });
      expect(filterPasswordChecks(calls)).toEqual([]);
    }
    expect(texts[0]).toBe(texts[1]);
    expect(await getStatus(logIn(app.browser(), person, password))).toBe(303);
  });

  test("One IP address is locked after twenty failed logins to any accounts, even if the logins arrive in parallel.", async () => {
    const browser = app.browser();
    const attempts = Array.from({ length: 30 }, () => logIn(browser, newUnknownEmail()));
    expect(await countStatus(attempts, 400)).toBe(20);
    const page = await parsePage(await logIn(browser, email, password));
    expectRateLimited(page, "Login Failed", /^Too many login attempts\. Try again in 1\d minutes\.$/, 900);
  });

  test("An IPv6 network of /64 is locked after as many failed logins as one IPv4 address.", async () => {
    const network = `2001:db8:${randomHex()}:7`;
    const attempts = Array.from({ length: 25 }, (_, host) =>
      logIn(browserAt(`${network}::${host + 1}`), newUnknownEmail()),
    );
    expect(await countStatus(attempts, 400)).toBe(20);
  });

  test("An IPv6 network of /48 is locked after five times as many failed logins as one IPv4 address.", async () => {
    const network = `2001:db8:${randomHex()}`;
    const form = { clientId: "N0TH-1NG0-0F1T-HERE", fullName: "Amina Hassan", password };
    const attempts = Array.from({ length: 60 }, (_, attempt) =>
      browserAt(`${network}:${attempt % 6}::1`).post("/signup", { ...form, email: newUnknownEmail() }),
    );
    expect(await countStatus(attempts, 400)).toBe(50);
  });

  test("Failed logins to one account from all IP addresses have a limit per hour, in any spelling of the email address.", async () => {
    const person = newUnknownEmail();
    for (const spelling of [person, person.toUpperCase()]) await repeat(6, () => logIn(app.browser(), spelling), 400);
    const page = await parsePage(await logIn(app.browser(), person));
    expectRateLimited(page, "Login Failed", /Try again in \d+ minutes\.$/, 3600);
  });

  test("After ten unknown Client IDs from one IP address, the sign-up form says when to try again and shows the typed texts.", async () => {
    const browser = app.browser();
    const [first = "", second = ""] = await issueClientIds(app.company, 2);
    const signUp = (clientId: string, from = browser) =>
      from.post("/signup", { clientId, fullName: "Guessing", email: newUnknownEmail(), password });
    expect(await getStatus(signUp(first))).toBe(303);
    await repeat(10, () => signUp("AAAA-AAAA-AAAA-0000"), 400);
    const page = await parsePage(await signUp(second));
    const message = /^Too many wrong Client IDs\. Try again in 60 minutes\.$/;
    expectRateLimited(page, "Sign up Failed", message, 3600);
    expect([page.value("clientId"), page.value("fullName")]).toEqual([second, "Guessing"]);
    expect(await getStatus(signUp(second, app.browser()))).toBe(303);
  });

  test("The stored keys of rate limits do not contain readable email addresses or IP addresses.", async () => {
    const person = newUnknownEmail();
    const before = app.proxy.bodies.length;
    await logIn(browserAt("203.0.113.77"), person);
    const bodies = app.proxy.bodies.slice(before).filter((body) => body.includes("consume_rate_limit"));
    expect(bodies).toEqual([expect.stringMatching(/"key":"[\w-]{43}"/)]);
    for (const text of [person, person.split("@")[0], "203.0.113", "login"]) expect(bodies[0]).not.toContain(text);
  });
});

describe("Known browser", () => {
  test("While an account is locked, its owner can log in on a known browser, which has a separate limit of five failed logins.", async () => {
    const person = await app.browser().signUpAndLogIn("Owner");
    const owner = app.browser();
    await owner.logIn(person.toUpperCase());
    await owner.post("/portal/sign-out", {});
    await lockAccount(app, person);
    for (const spelling of [person, person.toUpperCase()])
      expect(await getStatus(logIn(owner, spelling, password))).toBe(303);
    await repeat(5, () => logIn(owner, person), 400);
    const page = await parsePage(await logIn(owner, person, password));
    expectRateLimited(page, "Login Failed", /^Too many login attempts\. Try again in 15 minutes\.$/, 900);
    expect(await getStatus(logIn(owner, newUnknownEmail()))).toBe(400);
  });

  test("The cookie of a known browser is valid for several accounts, does not reveal the accounts, and cannot be forged.", async () => {
    const owner = app.browser();
    const person = await owner.signUpAndLogIn("First");
    await owner.signUpAndLogIn("Second");
    const cookie = owner.cookies.get("known") ?? "";
    expect(cookie).toMatch(/^[\w-]{22}\.[\w-]{43}\.[\w-]{43}$/);
    const setCookies = (await logIn(owner, person, password)).headers.getSetCookie();
    expect(setCookies.find((line) => line.startsWith("known="))).toMatch(/; Max-Age=31536000; .*HttpOnly/);
    await lockAccount(app, person);
    expect(await getStatus(logIn(owner, person, password))).toBe(303);

    const [id = "", , signature = ""] = cookie.split(".");
    for (const value of [`${id}.${"A".repeat(43)}`, `${"A".repeat(22)}.${signature}`, id, "%%%", "x".repeat(5000)]) {
      const forger = app.browser();
      forger.cookies.set("known", value);
      expect(await getStatus(logIn(forger, person, password)), value.slice(0, 80)).toBe(429);
    }
  });

  test("The cookie of a known browser contains only the five newest accounts, and no values from a changed cookie.", async () => {
    const browser = app.browser();
    const others = Array.from({ length: 5 }, (_, account) => `${account}`.repeat(43));
    browser.cookies.set("known", ["A".repeat(22), "x".repeat(500), ...others].join("."));
    await browser.signUpAndLogIn("Sixth");
    const [id, own, ...rest] = (browser.cookies.get("known") ?? "").split(".");
    expect([id, rest]).toEqual(["A".repeat(22), others.slice(0, 4)]);
    expect(own).toMatch(/^[\w-]{43}$/);
  });

  test("A browser does not become known by a failed login, before the code is entered, or on a shared computer.", async () => {
    const person = await app.browser().signUpAndLogIn("Cautious");
    const [shared, failed] = [app.browser(), app.browser()];
    await shared.post("/login", { email: person, password, shared: "on" });
    await logIn(failed, person);
    const { half } = await newClientWithoutCode(app, "Half Way");
    for (const browser of [shared, failed, half]) expect(browser.cookies.has("known")).toBe(false);
  });
});

describe("Attempts that do not count", () => {
  test("Successful logins before and between failed logins do not count.", async () => {
    const browser = app.browser();
    await repeat(3, () => logIn(browser, email, password), 303);
    await repeat(4, () => logIn(browser, email), 400);
    await repeat(3, () => logIn(browser, email, password), 303);
    await repeat(1, () => logIn(browser, email), 400);
    await repeat(1, () => logIn(browser, email, password), 429);
  });

  test("The next login refunds the attempt of a successful login. Without a next login, a separate call refunds the attempt soon.", async () => {
    // The call that refunds the first login also contains the refunds that earlier tests left.
    const refundsBefore = app.proxy.releases();
    await logIn(app.browser(), email, password);
    await expect.poll(app.proxy.releases).toBeGreaterThan(refundsBefore);
    const before = app.proxy.bodies.length;
    await repeat(2, () => logIn(app.browser(), email, password), 303);
    const listRefunds = () =>
      app.proxy.bodies.slice(before).flatMap((text) => {
        const [call, body = "{}"] = text.split("\n");
        if (!/^POST \/rest\/v1\/rpc\/(consume_rate_limit|refund_rate_limits)$/.test(call ?? "")) return [];
        const { refunded_ids = [], attempt_ids = [] } = JSON.parse(body);
        return [...refunded_ids, ...attempt_ids];
      });
    await expect.poll(listRefunds).toHaveLength(2);
    expect(new Set(listRefunds()).size).toBe(2);
  });

  test("Successful logins do not count, even if counting the next attempt fails.", async () => {
    const before = app.proxy.releases();
    await repeat(1, () => logIn(app.browser(), email, password), 303);
    app.proxy.fail(500, /consume_rate_limit/);
    await repeat(1, () => logIn(app.browser(), email, password), 503);
    app.proxy.fail("none");
    await expect.poll(app.proxy.releases).toBeGreaterThan(before);
  });

  test("Logins that fail because of the backend do not count.", async () => {
    const browser = app.browser();
    app.proxy.fail(500, /\/auth\/v1\/token/);
    await repeat(7, () => logIn(browser, email, password), 503);
    app.proxy.fail("none");
    await repeat(1, () => logIn(browser, email, password), 303);
  });

  test("While the backend cannot count attempts, the site checks no password.", async () => {
    for (const fault of [500, "other json"] as const) {
      app.proxy.fail(fault, /consume_rate_limit/);
      const calls = await app.proxy.during(async () => {
        const page = await parsePage(await logIn(app.browser(), email, password));
        expect([fault, page.status, page.toasts[0]?.title]).toEqual([fault, 503, "Sign in Failed"]);
      });
      expect(filterPasswordChecks(calls)).toEqual([]);
    }
  });
});
