import { afterEach, describe, expect, test } from "vitest";
import { accountPath, isLoggedIn, newLoggedInBrowser, submitOnAccount, tryLogIn } from "../support/account-suite.ts";
import {
  countEmailsTo,
  expectRejectedForm,
  getField,
  getLatestEmailTo,
  newClient,
  newEmailAddress,
  setUpSecondFactor,
  successToast,
} from "../support/route-fixtures.ts";
import { expectNoInternals, getTestApp, parsePage, password } from "../support/test-app.ts";

const app = await getTestApp();
const owner = await newClient(app, "Password Owner");
afterEach(() => app.proxy.fail("none"));

const newPassword = "a new password";
const validFields = { currentPassword: password, password: newPassword };
const changedToast = successToast("Password changed", "All other devices have been logged out.");
/** The call to Supabase Auth that sets the password. */
const setPasswordCall = /^PUT .*\/auth\/v1\/user/;

describe("change of the password", () => {
  test.each([
    ["a wrong present one", { currentPassword: "a guess" }, "currentPassword", /^The password is wrong\.$/],
    ["no present one", { currentPassword: "" }, "currentPassword", /password/],
    ["no new one", { password: "" }, "password", /^Choose a password/],
    ["a new one of 5 characters", { password: "five5" }, "password", /^Choose a password/],
    [
      "a new one of 74 bytes",
      { password: "é".repeat(37) },
      "password",
      /^Choose a shorter password\. A password can have at most 72 English letters/,
    ],
    ["the present one again", { password }, "password", /^This is your current password\. Choose another password\.$/],
  ])("A password form with %s changes nothing and repeats no password", async (_what, change, field, reason) => {
    const { browser, email } = owner;
    const page = await parsePage(await submitOnAccount(browser, "Change password", { ...validFields, ...change }));
    expect([page.status, page.title.startsWith("Error: ")]).toEqual([400, true]);
    const { descriptions, value, isMarked } = getField(page, `password-${field}`);
    expect([value, isMarked, descriptions.at(-1)]).toEqual(["", true, expect.stringMatching(reason)]);
    expect(page.problems.map(({ id }) => id)).toContain(`password-${field}`);
    for (const typed of [newPassword, password]) expect(page.html).not.toContain(typed);
    expect([await isLoggedIn(browser), await tryLogIn(app, email), await countEmailsTo(email)]).toEqual([
      ...[true, "/portal", 0],
    ]);
  });

  test("A new password ends every other session and renews the current session, and the owner gets an email", async () => {
    const { browser, email } = await newClient(app, "Changing Owner");
    const device = await newLoggedInBrowser(app, email);
    const previousSession = browser.cookies.get("session") ?? "";
    const page = await browser.follow(await submitOnAccount(browser, "Change password", validFields));
    expect(page.toasts).toEqual(changedToast);
    expect([await isLoggedIn(browser), await isLoggedIn(device)]).toEqual([true, false]);
    expect([await tryLogIn(app, email), await tryLogIn(app, email, newPassword)]).toEqual([400, "/portal"]);
    const thief = app.browser();
    thief.cookies.set("session", previousSession);
    expect(await isLoggedIn(thief)).toBe(false);
    const { count, subject, text } = await getLatestEmailTo(email);
    expect([count, subject, text.includes(newPassword)]).toEqual([1, "Your password was changed", false]);
  });

  test("A new password with accents in separate characters is stored in composed form, and both forms prove the owner", async () => {
    const { browser, email } = await newClient(app, "Accent Owner");
    const composed = "café mombasa é";
    const change = { ...validFields, password: composed.normalize("NFD") };
    expect((await submitOnAccount(browser, "Change password", change)).status).toBe(303);
    expect(await tryLogIn(app, email, composed)).toBe("/portal");
    const next = { currentPassword: composed.normalize("NFD"), password: newPassword };
    expect((await submitOnAccount(browser, "Change password", next)).status).toBe(303);
  });

  test("After five wrong passwords, the forms of the account page reject the right password for some time", async () => {
    const { browser, email } = await newClient(app, "Open Session");
    const form = await browser.open(accountPath);
    for (let guess = 0; guess < 5; guess += 1) {
      const typed = { ...validFields, currentPassword: "a guess" };
      expect((await browser.submit(form, "Change password", typed)).status).toBe(400);
    }
    const paused = await browser.submit(form, "Change password", validFields);
    expect([paused.status, Number(paused.headers.get("Retry-After")) > 0]).toEqual([429, true]);
    expect((await parsePage(paused)).problems[0]?.text).toMatch(
      /^Too many login attempts\. Try again in \d+ minutes\.$/,
    );
    const change = { currentPassword: password, email: newEmailAddress("Guesser") };
    expect((await submitOnAccount(browser, "Change email", change)).status).toBe(429);
    expect([await tryLogIn(app, email, newPassword), await isLoggedIn(browser)]).toEqual([400, true]);
  });
});

describe("change of the password while the backend fails", () => {
  test.each([
    ["checks the present password", /auth\/v1\/token/],
    ["sets the new password", setPasswordCall],
  ])("The password is the same if the backend fails while it %s, and the form works later", async (_step, call) => {
    const { browser, email } = await newClient(app, "Patient Owner");
    app.proxy.fail(500, call);
    const page = await parsePage(await submitOnAccount(browser, "Change password", validFields));
    app.proxy.fail("none");
    expect(page.status).toBe(503);
    expectNoInternals(page);
    expect(page.html).not.toContain(newPassword);
    expect([await isLoggedIn(browser), await tryLogIn(app, email)]).toEqual([true, "/portal"]);
    expect((await submitOnAccount(browser, "Change password", validFields)).status).toBe(303);
    expect([await isLoggedIn(browser), await tryLogIn(app, email, newPassword)]).toEqual([true, "/portal"]);
  });

  test("The owner reads on the page and in an email that the password may have been changed", async () => {
    const { browser, email } = await newClient(app, "Uncertain Owner");
    app.proxy.fail(500, setPasswordCall);
    const page = await parsePage(await submitOnAccount(browser, "Change password", validFields));
    app.proxy.fail("none");
    expectRejectedForm(page, 503, "Your password may have been changed. Log in again. Try the new password first.");
    const { count, subject, text } = await getLatestEmailTo(email);
    expect([count, subject]).toEqual([1, "Your password may have been changed"]);
    expect(text).toContain("may have been changed");
  });

  test("A password change whose response is lost counts as successful and ends other sessions", async () => {
    const { browser, email } = await newClient(app, "Found Password");
    const device = await newLoggedInBrowser(app, email);
    app.proxy.fail("lost answer", setPasswordCall);
    const response = await submitOnAccount(browser, "Change password", validFields);
    app.proxy.fail("none");
    expect((await browser.follow(response)).toasts).toEqual(changedToast);
    expect(await Promise.all([browser, device].map(isLoggedIn))).toEqual([true, false]);
    expect((await getLatestEmailTo(email)).subject).toBe("Your password was changed");
    expect([await tryLogIn(app, email), await tryLogIn(app, email, newPassword)]).toEqual([400, "/portal"]);
  });
});

test("A client with a second factor needs an unused code to change the password or the email address", async () => {
  const { browser, email } = await newClient(app, "Careful Owner");
  const authenticator = await setUpSecondFactor(browser, "/portal/2fa");
  const address = newEmailAddress("Never Used", "client.example");
  const lastCode = await authenticator.lastCode();
  const attempts = [
    ...["", "12345", await authenticator.wrongCode(), lastCode].map((code) => ["Change password", "password", code]),
    ...["", lastCode].map((code) => ["Change email", "email", code]),
  ] as [string, string, string][];
  for (const [button, form, code] of attempts) {
    const typed = { ...validFields, email: address, code };
    const page = await parsePage(await submitOnAccount(browser, button, typed));
    const { isMarked, value, descriptions } = getField(page, `${form}-code`);
    expect([button, code, page.status, isMarked, value]).toEqual([button, code, 400, true, ""]);
    expect(descriptions.at(-1)).toMatch(/code/);
    if (form === "email") expect(getField(page, "email-email").value).toBe(address);
  }
  expect([await isLoggedIn(browser), await tryLogIn(app, email), await countEmailsTo(address)]).toEqual([
    ...[true, "/login/verify", 0],
  ]);

  const typed = { ...validFields, code: await authenticator.freshCode() };
  const page = await browser.follow(await submitOnAccount(browser, "Change password", typed));
  expect(page.toasts).toEqual(changedToast);
  // If the new session had no second factor, the site would redirect to the page that asks for the code.
  expect(page.text).toContain("Manage 2FA");
  expect(await tryLogIn(app, email, newPassword)).toBe("/login/verify");
});
