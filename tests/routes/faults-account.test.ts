import { afterEach, describe, expect, test } from "vitest";
import { allFaults, type Fault } from "../support/fault-proxy.ts";
import { copyBrowser, countEmailsTo, newClient, newEmailAddress, startFactorSetup } from "../support/route-fixtures.ts";
import { newProtectedClient, newSessionWithoutCode } from "../support/second-factor-suite.ts";
import { issueClientIds } from "../support/service-role.ts";
import {
  expectNoInternals,
  getTestApp,
  type ParsedPage,
  parsePage,
  password,
  unavailableText,
} from "../support/test-app.ts";

const app = await getTestApp();
const email = await app.browser().signUpAndLogIn("Patient");
afterEach(() => app.proxy.fail("none"));

/** Returns all fields of the sign-up form except the password. */
async function newSignUp() {
  const [clientId = ""] = await issueClientIds(app.company, 1);
  return { clientId, fullName: "Akinyi <Odhiambo>", email: newEmailAddress("Patient", "client.example") };
}

/**
 * Sends a form once for each fault in `kinds`. Each time, the backend calls that match `calls` fail with this fault.
 * Checks that the response is an error page with the toast title `title`. Returns the last error page.
 */
async function expectFailures(
  calls: RegExp,
  kinds: readonly Fault[],
  title: string,
  submit: () => Promise<Response>,
): Promise<ParsedPage> {
  let page: ParsedPage | undefined;
  for (const fault of kinds) {
    app.proxy.fail(fault, calls);
    page = await parsePage(await submit());
    app.proxy.fail("none");
    expect([calls, fault, [502, 503].includes(page.status)]).toEqual([calls, fault, true]);
    expect(page.title).toMatch(/^Error: /);
    expect(page.toasts).toEqual([{ title, description: unavailableText, variant: "destructive" }]);
    expect(page.html).not.toContain(password);
    expectNoInternals(page);
  }
  if (!page) throw new Error("No fault");
  return page;
}

describe("Sign-up while the backend fails", () => {
  test.each([
    ["the check of the client ID", /\/rpc\/admit_sign_up/],
    ["the creation of the account", /\/auth\/v1\/signup/],
    ["everything", /./],
  ])("If %s fails, the sign-up form shows the typed texts again and can be sent again.", async (_step, calls) => {
    const browser = app.browser();
    const typed = await newSignUp();
    const form = await browser.open("/signup");
    const submit = () => browser.submit(form, "Create Account", { ...typed, password });
    const page = await expectFailures(calls, allFaults, "Sign-up Failed", submit);
    for (const [name, value] of Object.entries(typed)) expect(page.value(name)).toBe(value);
    expect(await countEmailsTo(typed.email)).toBe(0);
    const response = await browser.submit(page, "Create Account", { password });
    expect((await browser.follow(response)).toasts[0]?.title).toBe("Account Created!");
    expect(await countEmailsTo(typed.email)).toBe(1);
  });

  test("Sending a sign-up again after its response was lost creates one account and sends one email.", async () => {
    const browser = app.browser();
    const typed = await newSignUp();
    const submit = () => browser.post("/signup", { ...typed, password });
    const page = await expectFailures(/\/auth\/v1\/signup/, ["lost answer"], "Sign-up Failed", submit);
    expect((await browser.submit(page, "Create Account", { password })).status).toBe(303);
    await browser.confirmEmail(typed.email);
    await browser.logIn(typed.email);
    expect(await countEmailsTo(typed.email)).toBe(1);
  });

  test("A sign-up that Supabase Auth has accepted succeeds, even if the backend fails before the Client ID is marked as used.", async () => {
    const typed = await newSignUp();
    app.proxy.fail("close", /redeem_client_id/);
    const response = await app.browser().post("/signup", { ...typed, password });
    expect(response.headers.get("Location")).toBe("/login");
  });
});

test("While the backend fails, the login form shows the typed email address again and can be sent again.", async () => {
  const browser = app.browser();
  const form = await browser.open("/login?next=/portal/new");
  const submit = () => browser.submit(form, "Log in", { email, password });
  const page = await expectFailures(/./, allFaults, "Sign in Failed", submit);
  expect([page.value("email"), browser.cookies.has("session")]).toEqual([email, false]);
  expect((await browser.submit(page, "Log in", { password })).headers.get("Location")).toBe("/portal/new");
});

test("While the backend fails, the form of a confirmation link shows an error, and the same form confirms the address later.", async () => {
  const browser = app.browser();
  const typed = await newSignUp();
  await browser.post("/signup", { ...typed, password });
  browser.cookies.delete("flash");
  const confirm = () => browser.confirmEmail(typed.email);
  for (const calls of [/grant_type=password/, /mark_password_proven/, /\/verify$/])
    await expectFailures(calls, [500], "Sign in Failed", confirm);
  const page = await expectFailures(/./, allFaults, "Sign in Failed", confirm);
  expect(page.value("email")).toBe(typed.email);
  const response = await browser.submit(page, "Confirm and log in", { password });
  expect((await browser.follow(response)).toasts[0]?.title).toBe("Email address confirmed");
});

describe("Sign-out while the backend fails", () => {
  test.each([
    ["the sign-out", /\/logout/],
    ["everything", /./],
  ])("If %s fails, signing out ends the session only on this device, and a message says so.", async (_step, calls) => {
    const client = app.browser();
    await client.logIn(email);
    const portal = await client.open("/portal");
    for (const fault of [500, 503, "close", 409, 422, 429, 502, 504] as const) {
      const browser = copyBrowser(app, client);
      app.proxy.fail(fault, calls);
      const login = await browser.follow(await browser.submit(portal, "Sign out"));
      app.proxy.fail("none");
      expect([fault, login.h1, browser.cookies.has("session")]).toEqual([fault, "Client Login", false]);
      const description = expect.stringContaining(
        "You are signed out on this device, but our system may still treat you as logged in.",
      );
      expect(login.toasts).toEqual([{ title: "Sign out Failed", description, variant: "destructive" }]);
      expectNoInternals(login);
      expect((await browser.get("/portal")).headers.get("Location")).toBe("/login");
    }
  });

  test.each(["html", "half json"] as const)("A client can sign out if the backend responds with %s.", async (fault) => {
    const browser = app.browser();
    await browser.logIn(email);
    app.proxy.fail(fault);
    const login = await browser.follow(await browser.post("/portal/sign-out", {}));
    expect([login.h1, browser.cookies.has("session")]).toEqual(["Client Login", false]);
    expectNoInternals(login);
  });
});

test("While the backend fails, setting up 2FA cannot start or end. The same form and code complete the setup later.", async () => {
  const { browser } = await newClient(app, "Enabling");
  const form = await browser.open("/portal/2fa");
  const start = () => browser.submit(form, "Set up 2FA");
  await expectFailures(/^POST \/auth\/v1\/factors$/, allFaults, "Error setting up 2FA", start);
  const { page, authenticator } = await startFactorSetup(browser, "/portal/2fa");
  const code = await authenticator.freshCode();
  const enable = () => browser.submit(page, "Enable 2FA", { code });
  await expectFailures(/\/challenge$/, allFaults, "Error challenging", enable);
  const failed = await expectFailures(/\/verify$/, allFaults, "Verification failed", enable);
  expect(failed.value("secret")).toBe(page.value("secret"));
  expect((await browser.get("/portal")).status).toBe(200);
  expect((await browser.submit(failed, "Enable 2FA", { code })).headers.get("Location")).toBe("/portal");
  expect((await browser.open("/portal/2fa")).all("main li")).toHaveLength(1);
});

test("If the backend cannot check the code of a login, the login gives no access, and the same code is accepted later.", async () => {
  const { email, authenticator } = await newProtectedClient(app, "Entering");
  const browser = await newSessionWithoutCode(app, email);
  const form = await browser.open("/login/verify");
  const code = await authenticator.freshCode();
  const verify = () => browser.submit(form, "Verify", { code });
  const page = await expectFailures(/\/verify$/, ["close", 500, 429, "html"], "Verification failed", verify);
  expect((await browser.get("/portal")).headers.get("Location")).toBe("/login/verify");
  expect((await browser.submit(page, "Verify", { code })).headers.get("Location")).toBe("/portal");
});
