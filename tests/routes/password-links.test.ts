import { afterEach, describe, expect, test } from "vitest";
import { findAccountId, inviteStaffMember, sendPasswordLink } from "../../app/models/staff.server.ts";
import { isLoggedIn, newLoggedInBrowser, tryLogIn } from "../support/account-suite.ts";
import {
  copyBrowser,
  countEmailsTo,
  emailSender,
  getField,
  getLatestEmailTo,
  getLatestLinkTo,
  newClient,
  newEmailAddress,
  newStaffMember,
  staffPassword,
} from "../support/route-fixtures.ts";
import { newProtectedClient } from "../support/second-factor-suite.ts";
import { expectNoInternals, getTestApp, origin, parsePage, password, readLogDuring } from "../support/test-app.ts";

const app = await getTestApp();
afterEach(() => app.proxy.fail("none"));

const newPassword = "a new password";
const changedSubject = "Your password was changed";
const expiredText = "This link has been used or has expired.";
const lostText = /Lost your phone\? Call \+254 700 000 001\. We check your identity/;

/** Sends an account a password link by email. Returns the path of the link. */
async function sendLink({ id, email }: { id: string; email: string }): Promise<string> {
  const result = await sendPasswordLink(app.company, app.company, emailSender, id, { actor_name: "The command" });
  expect(result).toEqual({ sent: true, result: email });
  return getLatestLinkTo(email);
}

async function newClientWithLink(name: string) {
  const client = await newClient(app, name);
  return { ...client, link: await sendLink(client) };
}

async function newProtectedClientWithLink(name: string) {
  const client = await newProtectedClient(app, name);
  return { ...client, link: await sendLink(client) };
}

/** Invites a team member. Returns the email address and the path of the link in the invitation. */
async function inviteClerk(name: string) {
  const email = newEmailAddress(name);
  const clerk = { name, email, role: "clerk" };
  expect(await inviteStaffMember(app.company, app.company, emailSender, clerk)).toEqual({ sent: true });
  return { email, link: await getLatestLinkTo(email) };
}

const setPassword = async (link: string, typed: { password: string; code?: string }, browser = app.browser()) =>
  browser.submit(await browser.open(link), "Set password", typed);

const logInWith = (email: string, ...passwords: string[]) =>
  Promise.all(passwords.map((typed) => tryLogIn(app, email, typed)));

describe("Link in an invitation", () => {
  test("An invited team member sets a password of at least 12 characters and is redirected to set up a second factor.", async () => {
    const { email, link } = await inviteClerk("Newly Invited");
    const page = await app.browser().open(link);
    expect([page.status, page.h1]).toEqual([200, "Set your password"]);
    expect(page.html).toContain('<meta name="robots" content="noindex"');
    expect(getField(page, "password-password").descriptions).toEqual(["At least 12 characters"]);
    for (const [typed, reason] of [
      ["", /^Choose a password/],
      ["elevenchars", /^Choose a password of at least 12/],
      ["é".repeat(37), /^Choose a shorter password\. A password can have at most 72 characters/],
    ] as const) {
      const rejected = await parsePage(await setPassword(link, { password: typed }));
      expect([rejected.status, rejected.title.startsWith("Error: ")]).toEqual([400, true]);
      const { descriptions, value } = getField(rejected, "password-password");
      expect([descriptions.at(-1), value]).toEqual([expect.stringMatching(reason), ""]);
      if (typed) expect(rejected.html).not.toContain(typed);
    }

    const browser = app.browser();
    const response = await setPassword(link, { password: "twelve chars" }, browser);
    expect(response.headers.get("Location")).toBe("/login");
    expect((await browser.follow(response)).toasts).toEqual([
      { title: "Password set", description: "Log in with your new password.", variant: "default" },
    ]);
    await browser.logIn(email, "twelve chars");
    expect((await browser.get("/desk")).headers.get("Location")).toBe("/desk/2fa");
  });

  test("A team member gets no email about the first password, but an email about a later password.", async () => {
    const { email, link } = await inviteClerk("First Password");
    expect((await setPassword(link, { password: "the first password" })).status).toBe(303);
    const invitation = await getLatestEmailTo(email);
    expect([invitation.count, invitation.subject]).toEqual([1, `Your team account at ${emailSender.name}`]);
    const id = await findAccountId(app.company, email);
    expect((await setPassword(await sendLink({ id, email }), { password: "the second password" })).status).toBe(303);
    const { count, subject } = await getLatestEmailTo(email);
    expect([count, subject]).toEqual([3, changedSubject]);
  });
});

describe("Password link", () => {
  test("A client can set a password of at least 6 characters. The new password ends all sessions and causes an email.", async () => {
    const { browser, email, link } = await newClientWithLink("Forgetful Client");
    const device = await newLoggedInBrowser(app, email);
    const linkEmail = await getLatestEmailTo(email);
    expect(linkEmail.text).toContain("within one hour");
    const form = await app.browser().open(link);
    expect(getField(form, "password-password").descriptions).toEqual(["At least 6 characters"]);
    expect(form.text).not.toMatch(lostText);
    expect((await setPassword(link, { password: "five5" })).status).toBe(400);
    expect(await Promise.all([browser, device].map(isLoggedIn))).toEqual([true, true]);

    expect((await setPassword(link, { password: "sixsix" })).status).toBe(303);
    expect(await Promise.all([browser, device].map(isLoggedIn))).toEqual([false, false]);
    expect(await logInWith(email, password, "sixsix")).toEqual([400, "/portal"]);
    const { count, subject, text } = await getLatestEmailTo(email);
    expect([count, subject, text.includes("sixsix")]).toEqual([linkEmail.count + 1, changedSubject, false]);
  });

  test("A password link remains valid after an email scanner opens it. Its page accepts the previous password and shows no name.", async () => {
    const { browser, email, id, name, link } = await newClientWithLink("Scanned Email");
    const page = await app.browser().open(link);
    for (const text of [email, id, name]) expect(page.html).not.toContain(text);
    expect((await copyBrowser(app, browser).open(link)).h1).toBe("Set your password");
    await app.browser().send(new Request(new URL(link, origin), { method: "HEAD" }));
    expect(await isLoggedIn(browser)).toBe(true);
    expect((await setPassword(link, { password })).status).toBe(303);
    expect(await tryLogIn(app, email)).toBe("/portal");
  });

  test("Used, unknown and damaged password links show the same page without a form, and a form with such a link is rejected.", async () => {
    const { email, link } = await newClientWithLink("Old Links");
    const form = await app.browser().open(link);
    await setPassword(link, { password: newPassword });
    const path = "/auth/password";
    const links = [
      ...[path, `${path}?token=`, `${path}?token=${"0".repeat(64)}`, `${path}?token=%00`],
      ...[link, `${link}0`, link.slice(0, -1)],
    ];
    const pages = await Promise.all(links.map((each) => app.browser().open(each)));
    for (const page of pages)
      expect([page.status, page.title, page.text]).toEqual([200, pages[0]?.title, pages[0]?.text]);
    expect([pages[0]?.h1, pages[0]?.all("main input")]).toEqual(["Set your password", []]);
    expect(pages[0]?.text).toContain(expiredText);

    const { action, fields } = form.form("Set password");
    for (const each of links) {
      const token = new URL(each, origin).searchParams.get("token") ?? "";
      const typed = { ...(fields as Record<string, string>), token, password: "another password" };
      const rejected = await parsePage(await app.browser().post(action, typed));
      expect([each, rejected.status]).toEqual([each, 400]);
      expect(rejected.problems.map(({ text }) => text)).toEqual([`${expiredText} Ask us for a new link.`]);
    }
    expect(await logInWith(email, "another password", newPassword)).toEqual([400, "/portal"]);
  });
});

describe("Password link of an account with a second factor", () => {
  test("A form with a wrong or missing code changes nothing, and the page says whom to call about a lost authenticator.", async () => {
    const { browser, email, authenticator, link } = await newProtectedClientWithLink("Careful Client");
    const emails = await countEmailsTo(email);
    expect((await app.browser().open(link)).text).toMatch(lostText);
    for (const code of ["", "12345", await authenticator.wrongCode()]) {
      const page = await parsePage(await setPassword(link, { password: newPassword, code }));
      const { isMarked, descriptions } = getField(page, "password-code");
      expect([code, page.status, isMarked]).toEqual([code, 400, true]);
      expect(descriptions.at(-1)).toMatch(/code/);
      expect(page.text).toMatch(lostText);
      expect(page.html).not.toContain(newPassword);
    }
    expect([await isLoggedIn(browser), await countEmailsTo(email)]).toEqual([true, emails]);

    const response = await setPassword(link, { password: newPassword, code: await authenticator.freshCode() });
    expect(response.headers.get("Location")).toBe("/login");
    expect(await isLoggedIn(browser)).toBe(false);
    expect(await logInWith(email, password, newPassword)).toEqual([400, "/login/verify"]);
  });

  test("A used code cannot set a password, and a code that has set a password cannot be used for a login.", async () => {
    const { browser, email, authenticator, link } = await newProtectedClientWithLink("Overheard Client");
    const usedTexts = [
      "You have already tried this code. Wait for the next code.",
      "Check that your phone's clock is set automatically.",
    ];
    const used = { password: newPassword, code: await authenticator.lastCode() };
    const page = await parsePage(await setPassword(link, used));
    expect([page.status, page.problems]).toEqual([400, usedTexts.map((text) => ({ text, id: "password-code" }))]);
    expect(getField(page, "password-code")).toMatchObject({ isMarked: true, value: "" });
    expect([await isLoggedIn(browser), await tryLogIn(app, email, newPassword)]).toEqual([true, 400]);

    const code = await authenticator.freshCode();
    expect((await setPassword(link, { password: newPassword, code })).status).toBe(303);
    const person = app.browser();
    await person.post("/login", { email, password: newPassword });
    const rejected = await parsePage(await person.post("/login/verify", { code }));
    expect([rejected.status, rejected.problems.map(({ text }) => text)]).toEqual([400, usedTexts]);
  });

  test("After setting a new password, a team member must enter the code to open the desk.", async () => {
    const { email, authenticator, browser, id } = await newStaffMember(app, "clerk", "Second Password");
    const link = await sendLink({ id, email });
    expect((await setPassword(link, { password: "elevenchars", code: "123456" })).status).toBe(400);
    const typed = { password: "another twelve", code: await authenticator.freshCode() };
    expect((await setPassword(link, typed)).status).toBe(303);
    expect((await browser.get("/desk")).headers.get("Location")).toMatch(/^\/login/);
    expect(await logInWith(email, staffPassword, typed.password)).toEqual([400, "/login/verify"]);
  });
});

test("The log contains no token of a password link, no password and no email address.", async () => {
  const { email, link } = await newClientWithLink("Logged Client");
  const token = link.split("token=")[1] ?? "";
  expect(token).toHaveLength(64);
  const log = await readLogDuring("/auth/password", 3, async () => {
    const browser = app.browser();
    const page = await browser.open(link);
    await browser.submit(page, "Set password", { password: "x" });
    expect((await browser.submit(page, "Set password", { password: "never logged" })).status).toBe(303);
  });
  expect([token.slice(0, 16), "never logged", email].filter((secret) => log.includes(secret))).toEqual([]);
});

test("If the backend fails at any step, the password does not change, and the password link remains valid.", async () => {
  const { browser: owner, email, link } = await newClientWithLink("Patient Client");
  const browser = app.browser();
  const form = await browser.open(link);
  const steps = [/rpc\/password_link/, /generate_link/, /auth\/v1\/verify/, /redeem_password_link/];
  for (const call of [...steps, /^PUT .*\/auth\/v1\/user/, /./]) {
    app.proxy.fail(500, call);
    const page = await parsePage(await browser.submit(form, "Set password", { password: newPassword }));
    app.proxy.fail("none");
    expect([call, page.status]).toEqual([call, 503]);
    expectNoInternals(page);
    expect(page.html).not.toContain(newPassword);
    expect(page.text).toMatch(/Our system is not responding|Site not available/);
    expect([call, await isLoggedIn(owner), ...(await logInWith(email, newPassword, password))]).toEqual([
      ...[call, true, 400, "/portal"],
    ]);
  }
  expect((await browser.submit(form, "Set password", { password: newPassword })).status).toBe(303);
  expect(await tryLogIn(app, email, newPassword)).toBe("/portal");
});
