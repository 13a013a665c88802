import { describe, expect, test } from "vitest";
import { sendPasswordLink } from "../../app/models/staff.server.ts";
import { expectRateLimited, getStatus, logIn, newClientWithoutCode, repeat } from "../support/rate-limits.ts";
import { emailSender, getLatestLinkTo } from "../support/route-fixtures.ts";
import { getTestApp, parsePage, password, type TestBrowser } from "../support/test-app.ts";

const app = await getTestApp();

type TestClient = Awaited<ReturnType<typeof newClientWithoutCode>>;
const newPassword = "a new password";
const tooManyCodes = /^Too many wrong codes\. Try again in 15 minutes\.$/;

const enterCode = (browser: TestBrowser, code: string) => browser.post("/login/verify", { code });
const enterWrongCode = async ({ authenticator }: TestClient, browser: TestBrowser) =>
  enterCode(browser, await authenticator.wrongCode());
const enterRightCode = async ({ authenticator }: TestClient, browser: TestBrowser) =>
  enterCode(browser, await authenticator.freshCode());
const filterVerifications = (calls: string[]) => calls.filter((call) => /\/factors\/.*\/verify$/.test(call));

describe("Codes during a login", () => {
  test("After five wrong codes in any browsers, the site rejects even the correct code for 15 minutes.", async () => {
    const client = await newClientWithoutCode(app, "Guessed");
    await repeat(5, () => enterWrongCode(client, client.half), 400);
    const otherBrowser = app.browser();
    await logIn(otherBrowser, client.email, password);
    const calls = await app.proxy.during(async () => {
      const page = await parsePage(await enterRightCode(client, otherBrowser));
      expectRateLimited(page, "Verification failed", tooManyCodes, 900);
    });
    expect(filterVerifications(calls)).toEqual([]);
  });

  test("After four different wrong codes, the correct code is accepted, even if one wrong code was sent several times.", async () => {
    const client = await newClientWithoutCode(app, "Right");
    await repeat(3, () => enterWrongCode(client, client.half), 400);
    const wrongCode = await client.authenticator.wrongCode();
    await repeat(3, () => enterCode(client.half, wrongCode), 400);
    await repeat(1, () => enterRightCode(client, client.half), 303);
  });

  test("Only one of twenty parallel requests with the same correct code from two browsers is accepted.", async () => {
    const { half, email, authenticator } = await newClientWithoutCode(app, "Twice");
    const otherBrowser = app.browser();
    await logIn(otherBrowser, email, password);
    const code = await authenticator.freshCode();
    const calls = await app.proxy.during(async () => {
      const requests = Array.from({ length: 20 }, (_, index) => enterCode(index % 2 ? half : otherBrowser, code));
      const cookies = (await Promise.all(requests)).flatMap((response) => response.headers.getSetCookie());
      expect(cookies.filter((cookie) => cookie.startsWith("flash="))).toHaveLength(1);
    });
    expect(filterVerifications(calls)).toHaveLength(1);
    // Hosted Supabase Auth accepts the same code for 90 s, so the site must store used codes at least as long.
    const periods = app.proxy.bodies.flatMap((body) => /"max_hits":1,"window_seconds":(\d+)/.exec(body)?.[1] ?? []);
    expect(periods.length).toBeGreaterThanOrEqual(1);
    for (const seconds of periods) expect(Number(seconds)).toBeGreaterThanOrEqual(90);
  });
});

describe("Account whose codes are locked by a person who knows the password", () => {
  /**
   * Enters wrong codes in two unknown browsers (browsers in which `client` never completed a login) until the site
   * rejects codes from unknown browsers with status 429.
   */
  async function lockCodes(client: TestClient): Promise<void> {
    const [first, second] = [app.browser(), app.browser()];
    for (const browser of [first, second]) await logIn(browser, client.email, password);
    await repeat(3, () => enterWrongCode(client, first), 400);
    await repeat(2, () => enterWrongCode(client, second), 400);
    for (const browser of [first, second]) await repeat(1, () => enterWrongCode(client, browser), 429);
  }
  const setPassword = async (link: string, code: string, browser = app.browser()) =>
    browser.submit(await browser.open(link), "Set password", { password: newPassword, code });
  async function sendLink({ id, email }: TestClient): Promise<string> {
    expect(await sendPasswordLink(app.company, app.company, emailSender, id)).toEqual({ sent: true, result: email });
    return getLatestLinkTo(email);
  }

  test("The account's owner can log in with a code on a known browser, which has a separate limit of five wrong codes.", async () => {
    const client = await newClientWithoutCode(app, "Locked Login");
    const known = app.browser();
    await logIn(known, client.email, password);
    await repeat(1, () => enterRightCode(client, known), 303);
    await known.post("/portal/sign-out", {});
    await lockCodes(client);
    await logIn(known, client.email, password);
    await repeat(4, () => enterWrongCode(client, known), 400);
    expect((await enterRightCode(client, known)).headers.get("Location")).toBe("/portal");

    await known.post("/portal/sign-out", {});
    await logIn(known, client.email, password);
    await repeat(1, () => enterWrongCode(client, known), 400);
    await repeat(1, () => enterWrongCode(client, known), 429);
  });

  test("The account's owner can change the password in a browser that is logged in.", async () => {
    const client = await newClientWithoutCode(app, "Locked Change");
    await lockCodes(client);
    const { owner, email, authenticator } = client;
    const changePassword = async (code: string) =>
      owner.submit(await owner.open("/portal/account"), "Change password", {
        ...{ currentPassword: password, password: newPassword, code },
      });
    expect(await getStatus(changePassword(await authenticator.wrongCode()))).toBe(400);
    expect(await getStatus(changePassword(await authenticator.freshCode()))).toBe(303);
    await repeat(1, () => logIn(app.browser(), email, newPassword), 303);
    await repeat(1, () => logIn(app.browser(), email, password), 400);
  });

  test("The account's owner can set a new password with a password link in any browser.", async () => {
    const client = await newClientWithoutCode(app, "Locked Link");
    await lockCodes(client);
    const link = await sendLink(client);
    expect(await getStatus(setPassword(link, await client.authenticator.wrongCode()))).toBe(400);
    expect(await getStatus(setPassword(link, await client.authenticator.freshCode()))).toBe(303);
    await repeat(1, () => logIn(app.browser(), client.email, newPassword), 303);
  });

  test("A password link allows five wrong codes in all browsers together, and these codes do not count for logins.", async () => {
    const client = await newClientWithoutCode(app, "Guessed Link");
    const link = await sendLink(client);
    for (let attempt = 0; attempt < 5; attempt += 1)
      expect(await getStatus(setPassword(link, await client.authenticator.wrongCode()))).toBe(400);
    const code = await client.authenticator.freshCode();
    for (const browser of [app.browser(), client.owner]) {
      const calls = await app.proxy.during(async () => {
        const page = await parsePage(await setPassword(link, code, browser));
        expectRateLimited(page, null, tooManyCodes, 900);
      });
      expect(filterVerifications(calls)).toEqual([]);
    }
    await repeat(1, () => enterCode(client.half, code), 303);
    await repeat(1, () => logIn(app.browser(), client.email, password), 303);
  });
});
