import process from "node:process";
import { afterEach, expect, test } from "vitest";
import { sendPasswordLink } from "../../app/models/staff.server.ts";
import {
  accountPath,
  getEmailChangeLink,
  listEmailTexts,
  submitOnAccount,
  tryLogIn,
} from "../support/account-suite.ts";
import { freePort } from "../support/free-port.ts";
import {
  countEmailsTo,
  emailSender,
  expectRejectedForm,
  getField,
  getLatestLinkTo,
  newClient,
  newEmailAddress,
  successToast,
} from "../support/route-fixtures.ts";
import { newProtectedClient } from "../support/second-factor-suite.ts";
import { issueClientIds } from "../support/service-role.ts";
import {
  expectNoInternals,
  getTestApp,
  noStorePattern,
  type ParsedPage,
  parsePage,
  password,
  type TestBrowser,
  unavailableText,
} from "../support/test-app.ts";

const app = await getTestApp();
const { sql } = app;
afterEach(() => app.proxy.fail("none"));

const subjects = {
  taken: "This email address already has an account",
  requested: "Someone asked to change your email address",
  changed: "Your email address was changed",
  uncertain: "Your email address may have been changed",
};
const requestedToast = successToast(
  "Email change requested",
  "To change your email, open the link in the email that we sent to your new address.",
);
const confirmedToast = (description: string) => successToast("New email address confirmed", description);
const expiredText = "This link has been used or has expired.";

const newAddress = (name: string) => newEmailAddress(name, "client.example");
const openPortalOf = async (...emails: string[]) => Promise.all(emails.map((email) => tryLogIn(app, email)));
const countEmails = async (email: string, subject: string) => (await listEmailTexts(email, subject)).length;

/** Requests an email change. Moves earlier requests 2 minutes back, because the site allows one request per minute. */
async function requestChange(browser: TestBrowser, email: string): Promise<ParsedPage> {
  await sql`update private.email_changes set expires_at = expires_at - interval '2 minutes'`;
  return browser.follow(await submitOnAccount(browser, "Change email", { email, currentPassword: password }));
}

async function countSessions(email: string): Promise<number> {
  const [row] =
    await sql`select count(*)::int from auth.sessions s join auth.users u on u.id = s.user_id where u.email = ${email}`;
  return row?.count;
}

/** Opens the link of an email change and submits the page's form with the password `typed`. */
const confirmChange = async (link: string, typed: string, browser = app.browser()) =>
  browser.submit(await browser.open(link), "Confirm new email address", { password: typed });

/** Creates a client who has requested an email change. Returns the client, and the link sent to the new address. */
async function newRequest(name: string) {
  const client = await newClient(app, `${name} Owner`);
  const address = newAddress(name);
  const page = await requestChange(client.browser, address);
  return { ...client, address, page, link: await getEmailChangeLink(address) };
}

test("A client can request a new address once per minute, confirm it with the password, and then log in only with this address.", async () => {
  const { browser, email, address, page, link } = await newRequest("Moving");
  const typed = { email: address, currentPassword: password };
  const repeated = await parsePage(await submitOnAccount(browser, "Change email", typed));
  expectRejectedForm(repeated, 429, "We have just sent you an email. Wait one minute, then try again.");
  expect(page.toasts).toEqual(requestedToast);
  expect(page.text).toContain(
    `We sent an email to ${address}. Open the link in that email to confirm your new email address.`,
  );
  const [warning = ""] = await listEmailTexts(email, subjects.requested);
  expect([warning.includes("change your password now"), warning.includes(address)]).toEqual([true, false]);
  expect(await openPortalOf(email, address)).toEqual(["/portal", 400]);

  expect((await confirmChange(link, password)).headers.get("Location")).toBe("/portal");
  expect(await openPortalOf(email, address)).toEqual([400, "/portal"]);
  expect(await countEmails(email, subjects.changed)).toBe(1);
  const account = await browser.open(accountPath);
  expect(account.text).toContain(`Email ${address} `);
  expect(account.text).not.toContain("We sent an email to");
});

test("A client who confirms a new address is logged in until the browser closes, as on a shared device.", async () => {
  const { address, link } = await newRequest("Arriving");
  const device = app.browser();
  const response = await confirmChange(link, password, device);
  expect(response.headers.getSetCookie().join()).not.toContain("known=");
  const sessionCookies = response.headers.getSetCookie().filter((cookie) => /^(__Host-)?session/.test(cookie));
  expect(sessionCookies.filter((cookie) => !cookie.includes("Max-Age=0"))).not.toEqual([]);
  expect(sessionCookies.filter((cookie) => /Max-Age=[1-9]/.test(cookie))).toEqual([]);
  const portal = await device.follow(response);
  expect([portal.h1, portal.toasts[0]]).toEqual([
    "My Shipments",
    ...confirmedToast("You are logged in until you close the browser."),
  ]);
  expect((await device.open(accountPath)).text).toContain(`Email ${address} `);
});

test("A client with a second factor confirms a new address with password and code, and is logged in without another code.", async () => {
  const { browser, email, authenticator } = await newProtectedClient(app, "Guarded Owner");
  const address = newAddress("Guarded Address");
  const typed = { email: address, currentPassword: password };
  await submitOnAccount(browser, "Change email", { ...typed, code: await authenticator.freshCode() });
  const device = app.browser();
  const form = await device.open(await getEmailChangeLink(address));
  for (const code of ["", await authenticator.wrongCode()]) {
    const response = await device.submit(form, "Confirm new email address", { password, code });
    expect([code, response.status, (await device.get("/portal")).status]).toEqual([code, 400, 303]);
  }
  const code = await authenticator.freshCode();
  const portal = await device.follow(await device.submit(form, "Confirm new email address", { password, code }));
  expect([portal.status, portal.h1]).toEqual([200, "My Shipments"]);
  expect(await openPortalOf(email, address)).toEqual([400, "/login/verify"]);
});

test("A new address that is confirmed in a signed-in browser leaves the browser's viewer signed in.", async () => {
  const { email, address, link } = await newRequest("Visiting");
  const before = await countSessions(email);
  const host = await newClient(app, "Host Owner");
  const response = await confirmChange(link, password, host.browser);
  expect(response.headers.get("Location")).toBe("/login");
  expect(await countSessions(address)).toBe(before);
  const account = await host.browser.open(accountPath);
  expect([account.text.includes(`Email ${host.email} `), account.text.includes(address)]).toEqual([true, false]);
  expect(await openPortalOf(address)).toEqual(["/portal"]);
});

test("If the login after a confirmed new address fails, the page for logging in says that the address is confirmed.", async () => {
  const { address, link } = await newRequest("Stranded");
  const device = app.browser();
  app.proxy.fail(500, /^GET .*auth\/v1\/user/);
  const response = await confirmChange(link, password, device);
  app.proxy.fail("none");
  expect(response.headers.get("Location")).toBe("/login");
  const page = await device.follow(response);
  expect(page.toasts).toEqual(confirmedToast("Log in with your new email address from now on."));
  expect(await openPortalOf(address)).toEqual(["/portal"]);
});

test("The page of an email change's link shows only the new address, rejects a wrong password, and is not cached or indexed.", async () => {
  const { email, name, address, link } = await newRequest("Opened");
  expect(link).toMatch(/^\/auth\/email\?token=[0-9a-f]{64}$/);
  const form = await app.browser().open(link);
  expect([form.status, form.h1, form.text.includes(address)]).toEqual([200, "Confirm your new email address", true]);
  expect([form.html.includes(email), form.html.includes(name)]).toEqual([false, false]);
  expect(form.headers.get("Cache-Control") ?? "").toMatch(noStorePattern);
  expect(form.html).toContain('<meta name="robots" content="noindex"');
  for (const typed of ["", "a wrong guess"]) {
    const page = await parsePage(await confirmChange(link, typed));
    expect([typed, page.status, page.title.startsWith("Error: ")]).toEqual([typed, 400, true]);
    expect(page.toasts).toEqual([]);
    expect(page.problems.map(({ id }) => page.has(id))).toEqual([true]);
    if (typed) expect(page.html).not.toContain(typed);
  }
  expect(await openPortalOf(email, address)).toEqual(["/portal", 400]);
});

test("The link of an email change works only with the client's password, and is locked for some time after five wrong passwords.", async () => {
  const { email, address, link } = await newRequest("Robbed");
  const thief = await newClient(app, "Link Thief");
  const thiefPassword = "the thief's password";
  await submitOnAccount(thief.browser, "Change password", { currentPassword: password, password: thiefPassword });
  for (const browser of [thief.browser, app.browser()])
    expect((await confirmChange(link, thiefPassword, browser)).status).toBe(400);
  expect(await openPortalOf(email, address)).toEqual(["/portal", 400]);
  expect(await tryLogIn(app, address, thiefPassword)).toBe(400);
  for (let guess = 0; guess < 4; guess += 1) await confirmChange(link, "a guess", thief.browser);
  expect((await confirmChange(link, password, thief.browser)).status).toBe(429);
});

test("An email change to another account's address gets the usual response, and that account's owner gets an email without a link.", async () => {
  const { browser, email } = await newClient(app, "Curious Owner");
  const known = await newClient(app, "Known Owner");
  const free = newAddress("Free Address");
  const describePage = (page: ParsedPage, address: string) => ({
    status: page.status,
    toasts: page.toasts,
    text: page.text.replaceAll(address, "the address"),
  });
  const pageOfFree = describePage(await requestChange(browser, free), free);
  expect(describePage(await requestChange(browser, known.email), known.email)).toEqual(pageOfFree);
  const [text = ""] = await listEmailTexts(known.email, subjects.taken);
  expect(text).toContain("Nothing was changed.");
  expect(text).not.toMatch(/\/auth\/email|token/);
  expect([await countEmailsTo(known.email), await countEmails(email, subjects.requested)]).toEqual([1, 2]);
  expect(await openPortalOf(known.email, email)).toEqual(["/portal", "/portal"]);
});

test("A form for an email change with a wrong password or address sends no email and shows the typed address again.", async () => {
  const { browser, email } = await newClient(app, "Hasty Owner");
  const address = newAddress("Hasty Address");
  const account = await browser.open(accountPath);
  for (const [change, field, reason] of [
    [{ email: address, currentPassword: "a guess" }, "currentPassword", /^The password is wrong\.$/],
    [{ email: email.toUpperCase() }, "email", /^This is already your email address\.$/],
    [{ email: "no address" }, "email", /^Enter an email address such as/],
    [{ email: `${"x".repeat(250)}@client.example` }, "email", /./],
  ] as const) {
    const typed = { currentPassword: password, ...change };
    const page = await parsePage(await browser.submit(account, "Change email", typed));
    expect([change, page.status]).toEqual([change, 400]);
    expect(getField(page, `email-${field}`).descriptions.at(-1)).toMatch(reason);
    expect(getField(page, "email-email").value).toBe(change.email.slice(0, 254));
    expect(getField(page, "email-currentPassword").value).toBe("");
  }
  expect([await countEmailsTo(address), await countEmails(email, subjects.requested)]).toEqual([0, 0]);
});

test("Used, unknown and damaged links of an email change show the same page.", async () => {
  const { address, link } = await newRequest("Used");
  expect((await confirmChange(link, password)).status).toBe(303);
  const path = "/auth/email";
  const links = [path, `${path}?token=`, `${path}?token=${"0".repeat(64)}`, `${path}?token=%00`, `${link}0`, link];
  const pages = await Promise.all(links.map((each) => app.browser().open(each)));
  for (const page of pages)
    expect([page.status, page.title, page.text]).toEqual([200, pages[0]?.title, pages[0]?.text]);
  expect(pages[0]?.text).toContain(expiredText);
  for (const token of ["0".repeat(64), link.split("=")[1] ?? ""]) {
    const page = await parsePage(await app.browser().post(path, { token, password }));
    expect([page.status, page.problems[0]?.text]).toEqual([400, expiredText]);
  }
  expect(await openPortalOf(address)).toEqual(["/portal"]);
});

test("An email change is rejected if another person has signed up with the new address before the confirmation.", async () => {
  const { email, address, link } = await newRequest("Late");
  const [client_id] = await issueClientIds(app.company, 1);
  const user_metadata = { full_name: "Quicker One", client_id };
  const rival = { email: address, password, email_confirm: true, user_metadata };
  expect((await app.company.auth.admin.createUser(rival)).error).toBeNull();
  const page = await parsePage(await confirmChange(link, password));
  const reason = "You cannot use this email address. Enter another address on your account page.";
  expect([page.status, page.problems[0]?.text]).toEqual([409, reason]);
  expect(await openPortalOf(email, address)).toEqual(["/portal", "/portal"]);
});

test("If the backend fails during the confirmation, the email address does not change, and the link remains valid.", async () => {
  const { email, address, link } = await newRequest("Unlucky");
  const visitor = app.browser();
  const form = await visitor.open(link);
  for (const call of [/rpc\/email_change/, /auth\/v1\/token/, /auth\/v1\/admin\/users/, /./]) {
    app.proxy.fail(500, call);
    const page = await parsePage(await visitor.submit(form, "Confirm new email address", { password }));
    app.proxy.fail("none");
    expect([call, page.status]).toEqual([call, 503]);
    expectNoInternals(page);
  }
  expect(await openPortalOf(email, address)).toEqual(["/portal", 400]);
  expect((await visitor.submit(form, "Confirm new email address", { password })).status).toBe(303);
  expect(await tryLogIn(app, address)).toBe("/portal");
});

test.each([
  ["was not done", "close", /^PUT .*auth\/v1\/admin\/users/],
  ["was done", "lost answer", /auth\/v1\/admin\/users/],
] as const)(
  "If an email change %s without a response, the client gets one warning by email, and the link remains valid.",
  async (_what, fault, call) => {
    const { email, address, link } = await newRequest("Uncertain");
    app.proxy.fail(fault, call);
    const page = await parsePage(await confirmChange(link, password));
    app.proxy.fail("none");
    expect([page.status, page.problems[0]?.text]).toEqual([503, unavailableText]);
    expect((await listEmailTexts(email, subjects.uncertain)).join()).toContain("may have been changed");
    expect((await confirmChange(link, password)).headers.get("Location")).toBe("/portal");
    expect(await openPortalOf(email, address)).toEqual([400, "/portal"]);
    // The previous email address gets the warning. The new address got only the link.
    expect([await countEmails(email, subjects.uncertain), await countEmailsTo(address)]).toEqual([1, 1]);
  },
);

test("If the response to an email change is lost, the change counts as successful, and the client gets the usual email.", async () => {
  const { email, address, link } = await newRequest("Found");
  app.proxy.fail("lost answer", /^PUT .*auth\/v1\/admin\/users/);
  const response = await confirmChange(link, password);
  app.proxy.fail("none");
  expect(response.headers.get("Location")).toBe("/portal");
  expect([await countEmails(email, subjects.changed), await countEmails(email, subjects.uncertain)]).toEqual([1, 0]);
  expect(await openPortalOf(email, address)).toEqual([400, "/portal"]);
});

test("An email change whose email cannot be sent does not count towards the daily limits of email changes and password links.", async () => {
  const { browser, email, id } = await newClient(app, "Unreachable Owner");
  const addresses = Array.from({ length: 5 }, (_, index) => newAddress(`Unreachable ${"x".repeat(index)}`));
  expect(await sendPasswordLink(app.company, app.company, emailSender, id)).toEqual({ sent: true, result: email });
  const passwordLink = await getLatestLinkTo(email);
  process.env.SMTP_URL = `smtp://127.0.0.1:${await freePort()}`;
  try {
    const typed = { email: newAddress("Unsent"), currentPassword: password };
    const page = await parsePage(await submitOnAccount(browser, "Change email", typed));
    const message = "We could not send the email. Your email address stays the same. Try again in a minute.";
    expectRejectedForm(page, 503, message);
    expect(page.text).not.toContain("We sent an email to");
  } finally {
    delete process.env.SMTP_URL;
  }
  expect(await countEmails(email, subjects.requested)).toBe(0);
  expect((await app.browser().open(passwordLink)).text).toContain("Set password");
  // If the failed request counted, the fifth of these requests would exceed the limit.
  for (const address of addresses) {
    expect((await requestChange(browser, address)).toasts).toEqual(requestedToast);
    expect(await countEmailsTo(address)).toBe(1);
  }
  const typed = { email: newAddress("Sixth"), currentPassword: password };
  const sixth = await parsePage(await submitOnAccount(browser, "Change email", typed));
  expectRejectedForm(sixth, 429, "Too many attempts to change the email address. Try again in 24 hours.");
});
