import { afterEach, beforeAll, describe, expect, test } from "vitest";
import { createUnsubscribeUrl } from "../../app/models/email-delivery.server.ts";
import { accountPath, isLoggedIn, newLoggedInBrowser, submitOnAccount, tryLogIn } from "../support/account-suite.ts";
import {
  countEmailsTo,
  expectRejectedForm,
  getField,
  getLatestEmailTo,
  listDuplicateIds,
  newClient,
  newEmailAddress,
  newStaffMember,
  setUpSecondFactor,
  successToast,
} from "../support/route-fixtures.ts";
import {
  expectNoInternals,
  type FormValues,
  getTestApp,
  getText,
  noStorePattern,
  origin,
  type ParsedPage,
  parsePage,
  password,
} from "../support/test-app.ts";

const app = await getTestApp();
afterEach(() => app.proxy.fail("none"));

describe("Account page", () => {
  let client: Awaited<ReturnType<typeof newClient>>;
  beforeAll(async () => {
    client = await newClient(app, "Account Owner");
  });

  test("The portal links to the account page. The account page has all its forms and is not cached.", async () => {
    const links = (await client.browser.open("/portal")).all("main a");
    expect(links.find((link) => getText(link) === "Account")?.getAttribute("href")).toBe(accountPath);
    const page = await client.browser.open(accountPath);
    expect([page.status, page.h1]).toEqual([200, "Your account"]);
    expect(page.headers.get("Cache-Control") ?? "").toMatch(noStorePattern);
    expect(page.text).toContain(`Email ${client.email} Client ID `);
    expect(listDuplicateIds(page)).toEqual([]);
  });

  test("A client can save a name, and the portal shows HTML in the name as plain text.", async () => {
    const { browser } = client;
    const saved = await browser.follow(
      await submitOnAccount(browser, "Save name", { fullName: "  Achieng' <b>Otieno</b> " }),
    );
    expect([saved.toasts, saved.value("fullName")]).toEqual([successToast("Name saved"), "Achieng' <b>Otieno</b>"]);
    const portal = await browser.open("/portal");
    expect(portal.text).toContain("Welcome, Achieng' <b>Otieno</b>.");
    expect(portal.html).not.toContain("<b>Otieno");
  });

  test("An invalid name or a form with an unknown intent is rejected and does not change the name.", async () => {
    const { browser } = client;
    const account = await browser.open(accountPath);
    for (const fullName of ["", "n".repeat(101), "\u202e\u200b"]) {
      const page = await parsePage(await browser.submit(account, "Save name", { fullName }));
      expect([page.status, page.problems.map(({ id }) => page.has(id))]).toEqual([400, [true]]);
      if (fullName.length > 100) expect(page.value("fullName")).toBe(fullName.slice(0, 100));
    }
    for (const intent of ["", "erase-all", "toString", "__proto__"])
      expect((await browser.post(accountPath, { intent, form: intent })).status).toBe(400);
    expect((await browser.open(accountPath)).value("fullName")).toBe(account.value("fullName"));
  });

  test("A client can save a telephone number in any spelling, change the country and remove the number.", async () => {
    const { browser, id } = client;
    const account = await browser.open(accountPath);
    expect([account.value("phone"), getCountry(account)]).toEqual(["", "KE"]);
    const save = async (fields: FormValues) =>
      browser.follow(await submitOnAccount(browser, "Save telephone number", fields));
    const saved = await save({ phone: " 0722-123\u2011456 ", country: "KE" });
    expect([saved.toasts, saved.value("phone")]).toEqual([successToast("Telephone number saved"), "+254 722 123456"]);
    const moved = await save({ phone: "0772 123456", country: "UG" });
    expect([moved.value("phone"), getCountry(moved)]).toEqual(["+256 772 123456", "UG"]);
    const [row] = await app.sql`select phone from private.client_phones where account_id = ${id}`;
    expect(row?.phone).toBe("+256772123456");
    const removed = await save({ phone: "", country: "UG" });
    expect(removed.toasts).toEqual(successToast("Telephone number removed"));
    expect([removed.value("phone"), getCountry(removed)]).toEqual(["", "KE"]);
  });

  test("The form with a rejected telephone number still contains the typed text and shows an example. The stored number stays.", async () => {
    const { browser } = client;
    await submitOnAccount(browser, "Save telephone number", { phone: "+254 722 123456" });
    const account = await browser.open(accountPath);
    const phone = "0722 12 <b>";
    const page = await parsePage(await browser.submit(account, "Save telephone number", { phone, country: "RW" }));
    const { descriptions, value, isMarked } = getField(page, "phone-phone");
    const error =
      "This is not a telephone number of Rwanda. Enter a number such as 0788 123 456, or choose another country.";
    expect([page.status, value, isMarked, descriptions.at(-1)]).toEqual([400, phone, true, error]);
    expect([getCountry(page), page.problems]).toEqual(["RW", [{ id: "phone-phone", text: error }]]);
    expect((await browser.open(accountPath)).value("phone")).toBe("+254 722 123456");
  });

  test("A client can turn shipment updates off and on, and the link in a shipment update also turns them off.", async () => {
    const { browser, id } = client;
    const isChecked = (page: ParsedPage) =>
      page.all("#shipment-emails input[name=enabled]")[0]?.hasAttribute("checked");
    const account = await browser.open(accountPath);
    expect(isChecked(account)).toBe(true);
    const { enabled: _, ...unchecked } = account.form("Save email settings").fields as Record<string, string>;
    const turnedOff = await browser.follow(await browser.post(accountPath, unchecked));
    expect([turnedOff.toasts, isChecked(turnedOff)]).toEqual([successToast("Email settings saved"), false]);
    const turnedOn = await browser.follow(await browser.submit(turnedOff, "Save email settings", { enabled: "yes" }));
    expect([turnedOn.toasts, isChecked(turnedOn)]).toEqual([successToast("Email settings saved"), true]);
    await app.browser().post(createUnsubscribeUrl(id).replace(origin, ""), { "List-Unsubscribe": "One-Click" });
    expect(isChecked(await browser.open(accountPath))).toBe(false);
  });

  test("A form of a page that another account loaded changes nothing and says that another person has logged in.", async () => {
    const other = await newClient(app, "Next Person");
    const { browser: tab } = other;
    const forms = [
      [await tab.open(accountPath), "Save name", { fullName: "Somebody Else" }],
      [await tab.open("/portal/new"), "Create Shipment", { name: "Tea of the first person" }],
    ] as const;
    // The tab of the first person sends its forms with the session of the next person.
    for (const [page, button, typed] of forms) {
      const rejected = await parsePage(await client.browser.submit(page, button, typed));
      expect(rejected.status, button).toBe(409);
      expect(rejected.text, button).toContain(
        "Another account is now logged in on this device. Log in to your account",
      );
      for (const [name, value] of Object.entries(typed)) expect(rejected.value(name)).toBe(value);
    }
    const setup = await parsePage(await client.browser.submit(await tab.open("/portal/2fa"), "Set up 2FA"));
    expect([setup.status, setup.toasts.length, setup.html.includes("otpauth:")]).toEqual([409, 1, false]);
    expect((await client.browser.open(accountPath)).value("fullName")).not.toBe("Somebody Else");
    expect((await client.browser.open("/portal")).text).not.toContain("Tea of the first person");
    for (const [page, button, typed] of forms) expect((await tab.submit(page, button, typed)).status).toBe(303);
  });

  test("A client can sign out all other devices and stays logged in on the current device.", async () => {
    const devices = [await newLoggedInBrowser(app, client.email), await newLoggedInBrowser(app, client.email)];
    expect((await client.browser.open(accountPath)).text).toContain("on this device and on 2 other devices.");
    const page = await client.browser.follow(await submitOnAccount(client.browser, "Log out all other devices"));
    expect(page.toasts).toEqual(successToast("All other devices logged out"));
    expect(page.text).toContain("You are logged in on this device only.");
    expect(await Promise.all([client.browser, ...devices].map(isLoggedIn))).toEqual([true, false, false]);
  });
});

const getCountry = (page: ParsedPage) => page.all("select[name=country] option[selected]")[0]?.getAttribute("value");

describe("Erasure request", () => {
  const askButton = "Request to erase my account";

  let clerk: Awaited<ReturnType<typeof newStaffMember>>;
  beforeAll(async () => {
    clerk = await newStaffMember(app, "clerk", "Erasure Clerk");
  });

  test("A client can request erasure and withdraw the request. Until then, the desk shows the request.", async () => {
    const { browser, id } = await newClient(app, "Leaving Owner");
    /** Returns the text of the client's erasure request on the page Today of the desk. */
    const readRequest = async () => {
      const today = await clerk.browser.open("/desk");
      const link = today.all("main a").find((each) => each.getAttribute("href") === `/desk/clients/${id}`);
      return link && [today.text.includes("Erasure requests"), getText(link)];
    };
    expect(await readRequest()).toBeUndefined();
    const requested = await browser.follow(await submitOnAccount(browser, askButton));
    expect(requested.toasts).toEqual(successToast("Erasure request sent", "We will reply by email."));
    expect(requested.text).toMatch(/On .* EAT you asked us to erase your account\. We will reply by email\./);
    expect(() => requested.form(askButton)).toThrow("No button");
    expect(await readRequest()).toEqual([true, expect.stringMatching(/^Leaving Owner Requested .* EAT$/)]);

    const withdrawn = await browser.follow(await submitOnAccount(browser, "Withdraw request"));
    expect(withdrawn.toasts).toEqual(successToast("Erasure request withdrawn"));
    expect(await readRequest()).toBeUndefined();
  });

  test("A clerk can reject an erasure request once, and the client gets an email with the reason.", async () => {
    const { browser, email, id } = await newClient(app, "Staying Owner");
    await submitOnAccount(browser, askButton);
    const opened = await clerk.browser.open(`/desk/clients/${id}`);
    expect(opened.text).toMatch(/The client requested the erasure of this account on .* EAT\./);
    const button = "Reject erasure request";
    expect((await clerk.browser.submit(opened, button, { reason: " " })).status).toBe(400);
    const reason = "The law has us keep your last shipment until 4 May 2033.";
    const rejected = await clerk.browser.follow(await clerk.browser.submit(opened, button, { reason }));
    expect(rejected.toasts).toEqual(successToast(`Erasure request from ${email} rejected`));
    expect(rejected.text).not.toContain("The client requested erasure");
    const { subject, text } = await getLatestEmailTo(email);
    expect([subject, text.includes(reason), text.includes(clerk.name)]).toEqual([
      ...["We cannot erase your account yet", true, false],
    ]);
    const emailsBefore = await countEmailsTo(email);
    const repeated = await clerk.browser.follow(await clerk.browser.submit(opened, button, { reason }));
    expect(repeated.toasts).toEqual(rejected.toasts);
    expect(await countEmailsTo(email)).toBe(emailsBefore);
    const late = await parsePage(await clerk.browser.submit(opened, button, { reason: "Another reason" }));
    expectRejectedForm(late, 409, "This client has no open erasure request.");
    expect((await browser.open(accountPath)).text).not.toContain("you asked us to erase");
  });
});

const newPassword = "a new password";
const validFields = { currentPassword: password, password: newPassword };
const changedToast = successToast("Password changed", "All other devices have been signed out.");
/** Matches the call to Supabase Auth that sets the new password. */
const setPasswordCall = /^PUT .*\/auth\/v1\/user/;

describe("Change of the password", () => {
  test("A rejected form for a new password marks the wrong field, changes nothing and contains no typed password.", async () => {
    const { browser, email } = await newClient(app, "Password Owner");
    const page = await browser.open(accountPath);
    for (const [change, field, reason] of [
      [{ currentPassword: "a guess" }, "currentPassword", /^The password is wrong\.$/],
      [{ currentPassword: "" }, "currentPassword", /password/],
      [{ password: "" }, "password", /^Choose a password/],
      [{ password: "five5" }, "password", /^Choose a password/],
      [
        { password: "é".repeat(37) },
        "password",
        /^Choose a shorter password\. A password can have at most 72 characters/,
      ],
      [{ password }, "password", /^This is your current password\. Choose another password\.$/],
    ] as const) {
      const rejected = await parsePage(await browser.submit(page, "Change password", { ...validFields, ...change }));
      expect([change, rejected.status, rejected.title.startsWith("Error: ")]).toEqual([change, 400, true]);
      const { descriptions, value, isMarked } = getField(rejected, `password-${field}`);
      expect([value, isMarked, descriptions.at(-1)]).toEqual(["", true, expect.stringMatching(reason)]);
      expect(rejected.problems.map(({ id }) => id)).toContain(`password-${field}`);
      for (const typed of [newPassword, password]) expect(rejected.html).not.toContain(typed);
    }
    expect([await isLoggedIn(browser), await tryLogIn(app, email)]).toEqual([true, "/portal"]);
    expect(await countEmailsTo(email)).toBe(0);
  });

  test("A new password ends all other sessions and renews the current session, and the client gets an email.", async () => {
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

  test("A password with accents is accepted later, whether a device sends accents as separate or as composed characters.", async () => {
    const { browser, email } = await newClient(app, "Accent Owner");
    const composed = "café mombasa é";
    const form = await browser.open(accountPath);
    const change = { ...validFields, password: composed.normalize("NFD") };
    expect((await browser.submit(form, "Change password", change)).status).toBe(303);
    expect(await tryLogIn(app, email, composed)).toBe("/portal");
    const next = { currentPassword: composed.normalize("NFD"), password: newPassword };
    expect((await browser.submit(form, "Change password", next)).status).toBe(303);
  });

  test("After five wrong passwords, the forms of the account page reject even the correct password for some time.", async () => {
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

describe("Change of the password while the backend fails", () => {
  test("If the backend fails, the password stays the same and the form works later. A failure during the change causes a warning.", async () => {
    const { browser, email } = await newClient(app, "Patient Owner");
    const message =
      "Our system did not respond in time, so we do not know whether your password was changed. Log in with the new password. If the new password fails, use the old password.";
    for (const [call, text] of [
      [/auth\/v1\/token/, "Our system is not responding. Nothing was changed. Try again in a minute."],
      [setPasswordCall, message],
    ] as const) {
      app.proxy.fail(500, call);
      const page = await parsePage(await submitOnAccount(browser, "Change password", validFields));
      app.proxy.fail("none");
      expectRejectedForm(page, 503, text);
      expectNoInternals(page);
      expect(page.html).not.toContain(newPassword);
      expect([await isLoggedIn(browser), await tryLogIn(app, email)]).toEqual([true, "/portal"]);
    }
    const warning = await getLatestEmailTo(email);
    expect([warning.count, warning.subject]).toEqual([1, "Your password may have been changed"]);
    expect(warning.text).toContain("may have been changed");
    expect((await submitOnAccount(browser, "Change password", validFields)).status).toBe(303);
    expect([await isLoggedIn(browser), await tryLogIn(app, email, newPassword)]).toEqual([true, "/portal"]);
  });

  test("If the response to a password change is lost, the change counts as successful and ends other sessions.", async () => {
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

test("A client with a second factor needs an unused code for changing the password or the email address.", async () => {
  const { browser, email } = await newClient(app, "Careful Owner");
  const authenticator = await setUpSecondFactor(browser, "/portal/2fa");
  const address = newEmailAddress("Never Used", "client.example");
  const lastCode = await authenticator.lastCode();
  const attempts = [
    ...["", "12345", await authenticator.wrongCode(), lastCode].map((code) => ["Change password", "password", code]),
    ...["", lastCode].map((code) => ["Change email", "email", code]),
  ] as [string, string, string][];
  const account = await browser.open(accountPath);
  for (const [button, form, code] of attempts) {
    const typed = { ...validFields, email: address, code };
    const page = await parsePage(await browser.submit(account, button, typed));
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
  // Without the second factor, the new session would be redirected to the page that asks for the code.
  expect(page.text).toContain("Manage 2FA");
  expect(await tryLogIn(app, email, newPassword)).toBe("/login/verify");
});
