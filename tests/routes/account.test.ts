import process from "node:process";
import postgres from "postgres";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { sendPasswordLink } from "../../app/models/password-link.server.ts";
import { createUnsubscribeUrl } from "../../app/models/shipment-emails.server.ts";
import type { Authenticator } from "../support/authenticator.ts";
import { freePort } from "../support/free-port.ts";
import { readEmailsTo } from "../support/outbox.ts";
import {
  countEmailsTo,
  emailSender,
  expectRejectedForm,
  getDocument,
  getField,
  getLatestEmailTo,
  getLatestLinkTo,
  newClient,
  newEmailAddress,
  newShipment,
  newStaffMember,
  replaceStoredFile,
  setUpSecondFactor,
  successToast,
  uploadDocument,
} from "../support/route-fixtures.ts";
import { issueClientIds, verifyDocumentByName } from "../support/service-role.ts";
import { closeAccount, resultOrThrow, sendNote, setCharge } from "../support/staff-actions.ts";
import {
  createPdf,
  expectNoInternals,
  type FormValues,
  getTestApp,
  getText,
  noStorePattern,
  origin,
  type ParsedPage,
  parsePage,
  password,
  type TestBrowser,
} from "../support/test-app.ts";
import { unzip } from "../support/zip.ts";

let app: Awaited<ReturnType<typeof getTestApp>>;
/** The database itself: time passes there. */
let sql: postgres.Sql;
beforeAll(async () => {
  app = await getTestApp();
  sql = postgres(process.env.TESTS_DATABASE_URL ?? "", { max: 1, onnotice: () => undefined });
});
afterAll(() => sql.end());
afterEach(() => app.proxy.fail("none"));

const accountPath = "/portal/account";
const isLoggedIn = async (browser: TestBrowser) => (await browser.get("/portal")).status === 200;

/** Presses a button of the account page. */
const submitOnAccount = async (browser: TestBrowser, button: string, typed: FormValues = {}) =>
  browser.submit(await browser.open(accountPath), button, typed);

/** Another browser in which the person is logged in. */
async function logInElsewhere(email: string): Promise<TestBrowser> {
  const browser = app.browser();
  await browser.logIn(email);
  return browser;
}

/** Where a login with this password leads, or the status that it gets. */
async function logIn(email: string, typed = password) {
  const answer = await app.browser().post("/login", { email, password: typed });
  return answer.headers.get("Location") ?? answer.status;
}

/** The texts of the mails to an address with this subject, oldest first. */
async function listEmailTexts(email: string, subject: string): Promise<string[]> {
  const mails = await readEmailsTo(process.env.DATA_DIR ?? "", email);
  return mails.filter((mail) => mail.subject === subject).map(({ text }) => text ?? "");
}

const emailSubjects = {
  confirm: "Confirm your new e-mail address",
  taken: "Your e-mail address at our portal",
  asked: "Somebody asked to change your e-mail address",
  changed: "Your e-mail address was changed",
  perhaps: "Your e-mail address was perhaps changed",
};

/** The path of the link in the newest mail to a new address. */
async function getEmailChangeLink(email: string): Promise<string> {
  const text = (await listEmailTexts(email, emailSubjects.confirm)).at(-1) ?? "";
  const link = /https?:\/\/\S+\/auth\/email\?\S+/.exec(text)?.[0];
  if (!link) throw new Error(`No link in a mail to ${email}`);
  return link.replace(origin, "");
}

describe("the account page", () => {
  let client: Awaited<ReturnType<typeof newClient>>;
  beforeAll(async () => {
    client = await newClient(app, "Account Owner");
  });

  test("is led to from the portal, says whose account it is, and is kept by nobody", async () => {
    const [link] = (await client.browser.open("/portal")).all("main a").filter((one) => getText(one) === "Account");
    expect(link?.getAttribute("href")).toBe(accountPath);
    const page = await client.browser.open(accountPath);
    expect([page.status, page.h1]).toEqual([200, "Your account"]);
    expect(page.headers.get("Cache-Control") ?? "").toMatch(noStorePattern);
    expect(page.text).toContain(`Email ${client.email} Client ID `);
    expect(page.text).toContain("You are logged in on this device alone.");
    for (const button of ["Save name", "Change password", "Change email", "Save notices", "Sign out everywhere else"])
      expect(() => page.form(button)).not.toThrow();
    const ids = page.all("[id]").map(({ id }) => id);
    expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([]);
    expect((await app.browser().get(accountPath)).headers.get("Location")).toBe(
      `/login?next=${encodeURIComponent(accountPath)}`,
    );
  });

  test("saves the name, shows it everywhere, and keeps one that is refused in its field", async () => {
    const { browser } = client;
    const answer = await submitOnAccount(browser, "Save name", { fullName: "  Achieng' <b>Otieno</b> " });
    expect(answer.headers.get("Location")).toBe(accountPath);
    const saved = await browser.follow(answer);
    expect([saved.toasts, saved.value("fullName")]).toEqual([successToast("Name saved"), "Achieng' <b>Otieno</b>"]);
    const portal = await browser.open("/portal");
    expect(portal.text).toContain("Welcome, Achieng' <b>Otieno</b>.");
    expect(portal.html).not.toContain("<b>Otieno");
    for (const fullName of ["", "n".repeat(101), "Ach\u202eieng", "two\u0000"]) {
      const page = await parsePage(await submitOnAccount(browser, "Save name", { fullName }));
      expect([page.status, page.problems.map(({ id }) => page.has(id))]).toEqual([400, [true]]);
      if (fullName.length > 100) expect(page.value("fullName")).toBe(fullName);
    }
    expect((await browser.open(accountPath)).value("fullName")).toBe("Achieng' <b>Otieno</b>");
  });

  test("knows no other form, and says so", async () => {
    for (const intent of ["", "erase-all", "toString", "__proto__"])
      expect((await client.browser.post(accountPath, { intent, form: intent })).status).toBe(400);
  });

  test("sets the mails about shipments, and agrees with the link in those mails", async () => {
    const { browser, id } = client;
    const refusals = async () => (await sql`select from private.email_opt_outs where account_id = ${id}`).length;
    const isChecked = async () =>
      (await browser.open(accountPath))
        .all("#shipment-emails input[name=enabled]")
        .map((box) => box.hasAttribute("checked"));
    expect(await isChecked()).toEqual([true]);
    const { fields } = (await browser.open(accountPath)).form("Save notices");
    const { enabled: _, ...unchecked } = fields as Record<string, string>;
    const stopped = await browser.follow(await browser.post(accountPath, unchecked));
    expect(stopped.toasts).toEqual(successToast("You get no more of these mails"));
    expect([await isChecked(), await refusals()]).toEqual([[false], 1]);
    const begun = await browser.follow(await submitOnAccount(browser, "Save notices", { enabled: "yes" }));
    expect([begun.toasts, await isChecked(), await refusals()]).toEqual([
      successToast("You get these mails"),
      [true],
      0,
    ]);
    await app.browser().post(createUnsubscribeUrl(id).replace(origin, ""), { "List-Unsubscribe": "One-Click" });
    expect([await isChecked(), await refusals()]).toEqual([[false], 1]);
    await submitOnAccount(browser, "Save notices", { enabled: "yes" });
    expect(await refusals()).toBe(0);
  });

  test("signs out everywhere else, and not here", async () => {
    const others = [await logInElsewhere(client.email), await logInElsewhere(client.email)];
    expect((await client.browser.open(accountPath)).text).toContain("on this device and in 2 other places.");
    const page = await client.browser.follow(await submitOnAccount(client.browser, "Sign out everywhere else"));
    expect(page.toasts).toEqual(successToast("Every other device is signed out"));
    expect(page.text).toContain("You are logged in on this device alone.");
    expect(await Promise.all([client.browser, ...others].map(isLoggedIn))).toEqual([true, false, false]);
  });
});

describe("the password", () => {
  test("is changed with the present one: other sessions end, this one goes on, and the owner is told", async () => {
    const client = await newClient(app, "Password Owner");
    const { browser, email } = client;
    const elsewhere = await logInElsewhere(email);
    const mails = await countEmailsTo(email);
    const wrong: [FormValues, string, string | RegExp][] = [
      [
        { currentPassword: "not the password", password: "a new password" },
        "currentPassword",
        "This is not the password of the account.",
      ],
      [{ currentPassword: "", password: "a new password" }, "currentPassword", /password/],
      [{ currentPassword: password, password: "" }, "password", /^Choose a password/],
      [{ currentPassword: password, password: "five5" }, "password", /^Choose a password/],
      [
        { currentPassword: password, password: "é".repeat(37) },
        "password",
        "Choose a shorter password: at most 72 characters.",
      ],
      [{ currentPassword: password, password }, "password", "This is the password you have. Choose another one."],
    ];
    const form = await browser.open(accountPath);
    for (const [typed, field, why] of wrong) {
      const page = await parsePage(await browser.submit(form, "Change password", typed));
      expect([typed, page.status, page.title.startsWith("Error: ")]).toEqual([typed, 400, true]);
      const { said, value, isMarked } = getField(page, `password-${field}`);
      expect([typed, value, isMarked]).toEqual([typed, "", true]);
      expect(said.at(-1)).toMatch(why);
      expect(page.html).not.toContain("a new password");
      expect(page.html).not.toContain(password);
      expect(page.problems.map(({ id }) => id)).toContain(`password-${field}`);
    }
    expect(await Promise.all([browser, elsewhere].map(isLoggedIn))).toEqual([true, true]);
    expect([await countEmailsTo(email), await logIn(email)]).toEqual([mails, "/portal"]);

    const before = browser.cookies.get("session");
    const page = await browser.follow(
      await submitOnAccount(browser, "Change password", { currentPassword: password, password: "a new password" }),
    );
    expect(page.toasts).toEqual(successToast("Password changed: every other device is signed out"));
    expect([await isLoggedIn(browser), await isLoggedIn(elsewhere)]).toEqual([true, false]);
    expect([await logIn(email), await logIn(email, "a new password")]).toEqual([400, "/portal"]);
    const old = app.browser();
    old.cookies.set("session", before ?? "");
    expect(await isLoggedIn(old)).toBe(false);
    const told = await getLatestEmailTo(email);
    expect([told.count, told.subject]).toEqual([mails + 1, "Your password was changed"]);
    expect(told.text).not.toContain("a new password");
  });

  test("is guessed by nobody at an open session: after five wrong ones it pauses", async () => {
    const { browser, email } = await newClient(app, "Left Open");
    const form = await browser.open(accountPath);
    const typed = { currentPassword: "a guess", password: "a new password" };
    for (let guess = 0; guess < 5; guess += 1)
      expect((await browser.submit(form, "Change password", typed)).status).toBe(400);
    const paused = await browser.submit(form, "Change password", { ...typed, currentPassword: password });
    expect([paused.status, Number(paused.headers.get("Retry-After")) > 0]).toEqual([429, true]);
    const page = await parsePage(paused);
    expect(page.toasts[0]?.description).toMatch(/^Too many attempts to log in\. Try again in \d+ minutes\.$/);
    const other = await submitOnAccount(browser, "Change email", {
      currentPassword: password,
      email: newEmailAddress("Guesser"),
    });
    expect(other.status).toBe(429);
    expect([await logIn(email, "a new password"), await isLoggedIn(browser)]).toEqual([400, true]);
  });

  test("stays while the backend fails, and the same form works later", async () => {
    const { browser, email } = await newClient(app, "Patient Owner");
    const typed = { currentPassword: password, password: "a new password" };
    for (const of of [/auth\/v1\/token/, /^PUT .*\/auth\/v1\/user/]) {
      app.proxy.fail(500, of);
      const page = await parsePage(await submitOnAccount(browser, "Change password", typed));
      app.proxy.fail("none");
      expect([of, page.status]).toEqual([of, 503]);
      expectNoInternals(page);
      expect(page.html).not.toContain("a new password");
      expect([await isLoggedIn(browser), await logIn(email)]).toEqual([true, "/portal"]);
    }
    expect((await submitOnAccount(browser, "Change password", typed)).status).toBe(303);
    expect([await isLoggedIn(browser), await logIn(email, "a new password")]).toEqual([true, "/portal"]);
  });

  test("that auth fails to change is said to be perhaps changed, to its owner by mail too", async () => {
    const { browser, email } = await newClient(app, "Uncertain Owner");
    app.proxy.fail(500, /^PUT .*\/auth\/v1\/user/);
    const page = await parsePage(
      await submitOnAccount(browser, "Change password", { currentPassword: password, password: "a new password" }),
    );
    app.proxy.fail("none");
    expectRejectedForm(page, 503, "We do not know whether it was changed. Log in again, with the new one first.");
    const told = await getLatestEmailTo(email);
    expect([told.count, told.subject]).toEqual([1, "Your password was perhaps changed"]);
    expect(told.text).toContain("was perhaps changed a moment ago");
    expect([await logIn(email), await logIn(email, "a new password")]).toEqual(["/portal", 400]);
  });

  test("that was changed though its answer was lost is changed: this session goes on, and others end", async () => {
    const { browser, email } = await newClient(app, "Found Password");
    const elsewhere = await logInElsewhere(email);
    app.proxy.fail("lost answer", /^PUT .*\/auth\/v1\/user/);
    const answer = await submitOnAccount(browser, "Change password", {
      currentPassword: password,
      password: "a new password",
    });
    app.proxy.fail("none");
    const page = await browser.follow(answer);
    expect(page.toasts).toEqual(successToast("Password changed: every other device is signed out"));
    expect(page.text).toContain("You are logged in on this device alone.");
    expect(await Promise.all([browser, elsewhere].map(isLoggedIn))).toEqual([true, false]);
    const told = await getLatestEmailTo(email);
    expect([told.count, told.subject]).toEqual([1, "Your password was changed"]);
    expect([await logIn(email), await logIn(email, "a new password")]).toEqual([400, "/portal"]);
  });
});

describe("an account with a second factor", () => {
  let client: Awaited<ReturnType<typeof newClient>>;
  let authenticator: Authenticator;
  beforeAll(async () => {
    client = await newClient(app, "Careful Owner");
    authenticator = await setUpSecondFactor(client.browser, "/portal/2fa");
  });

  test("shows a session without the code nothing of it", async () => {
    const { id, portal } = await newShipment(app, client, "Nobody may read this", ["Packing List"]);
    const document = await getDocument(app.company, id, "Packing List");
    const half = app.browser();
    await half.post("/login", { email: client.email, password });
    const paths = [
      accountPath,
      `${accountPath}/data.zip`,
      "/portal/shipments.csv",
      `${portal}/print`,
      `${portal}/share`,
    ];
    for (const path of [...paths, `${portal}/change`, `${portal}/documents/${document.id}`]) {
      const answer = await half.get(path);
      expect([path, answer.status, answer.headers.get("Location")?.split("?")[0]]).toEqual([
        path,
        303,
        "/login/verify",
      ]);
    }
    for (const intent of ["name", "sign-out-others", "erase"]) {
      const answer = await half.post(accountPath, { intent, form: intent, fullName: "Half Way" });
      expect([intent, answer.headers.get("Location")?.split("?")[0]]).toEqual([intent, "/login/verify"]);
    }
    expect((await client.browser.open(accountPath)).value("fullName")).toBe(client.name);
  });

  test("needs its code for a new password and a new address: with none, a wrong or a used one nothing changes", async () => {
    const { browser, email } = client;
    const next = newEmailAddress("Never Used", "client.example");
    const wrong = ["", "12345", await authenticator.wrongCode(), await authenticator.lastCode()];
    for (const code of wrong) {
      const typed = { currentPassword: password, password: "a new password", email: next, code };
      for (const [button, form] of [
        ["Change password", "password"],
        ["Change email", "email"],
      ] as const) {
        if (button === "Change email" && code !== "" && code !== wrong[3]) continue;
        const page = await parsePage(await submitOnAccount(browser, button, typed));
        expect([button, code, page.status]).toEqual([button, code, 400]);
        expect(getField(page, `${form}-code`)).toMatchObject({ isMarked: true, value: "" });
        expect(getField(page, `${form}-code`).said.at(-1)).toMatch(/code/);
        if (button === "Change email") expect(getField(page, "email-email").value).toBe(next);
      }
    }
    expect([await isLoggedIn(browser), await logIn(email), await countEmailsTo(next)]).toEqual([
      true,
      "/login/verify",
      0,
    ]);

    const code = await authenticator.freshCode();
    const typed = { currentPassword: password, password: "a new password", code };
    const page = await browser.follow(await submitOnAccount(browser, "Change password", typed));
    expect(page.toasts).toEqual(successToast("Password changed: every other device is signed out"));
    // The session goes on as one that has given the code.
    expect([await isLoggedIn(browser), await logIn(email, "a new password")]).toEqual([true, "/login/verify"]);
    expect(page.text).toContain("Manage 2FA");
  });
});

describe("a new e-mail address", () => {
  const asked = successToast("We wrote to the new address: open the link in that mail");

  /** Asks for another address, and lets the minute between two such wishes pass. */
  async function ask(browser: TestBrowser, email: string): Promise<ParsedPage> {
    await sql`update private.email_changes set expires_at = expires_at - interval '2 minutes'`;
    return browser.follow(await submitOnAccount(browser, "Change email", { email, currentPassword: password }));
  }
  const confirm = async (link: string, typed: string, browser = app.browser()) =>
    browser.submit(await browser.open(link), "Confirm this address", { password: typed });

  test("is confirmed by its mailbox and the password: the old one is told, and opens nothing any more", async () => {
    const { browser, email: old } = await newClient(app, "Moving Owner");
    const next = newEmailAddress("New Address", "client.example");
    const page = await ask(browser, next.toUpperCase());
    expect(page.toasts).toEqual(asked);
    expect(page.text).toContain(`We wrote to ${next}. Your address changes when you open the link in that mail.`);
    const [warned = ""] = await listEmailTexts(old, emailSubjects.asked);
    expect(warned).toContain("change your password at once");
    expect(warned).not.toContain(next);
    expect([await logIn(old), await logIn(next)]).toEqual(["/portal", 400]);

    const link = await getEmailChangeLink(next);
    expect(link).toMatch(/^\/auth\/email\?token=[0-9a-f]{64}$/);
    const form = await app.browser().open(link);
    expect([form.status, form.h1, form.text.includes(next)]).toEqual([200, "Confirm your new e-mail address", true]);
    expect([form.html.includes(old), form.html.includes("Moving Owner")]).toEqual([false, false]);
    expect(form.headers.get("Cache-Control") ?? "").toMatch(noStorePattern);
    expect(form.html).toContain('<meta name="robots" content="noindex"');
    for (const typed of ["", "a wrong guess"]) {
      const refused = await parsePage(await confirm(link, typed));
      expect([refused.status, refused.title.startsWith("Error: ")]).toEqual([400, true]);
      expect(refused.toasts[0]).toMatchObject({ title: "Address not changed", variant: "destructive" });
      expect(refused.problems.map(({ id }) => refused.has(id))).toEqual([true]);
      if (typed) expect(refused.html).not.toContain(typed);
    }
    expect([await logIn(old), await logIn(next)]).toEqual(["/portal", 400]);

    const answer = await confirm(link, password);
    expect(answer.headers.get("Location")).toBe("/login");
    expect([await logIn(old), await logIn(next)]).toEqual([400, "/portal"]);
    expect((await listEmailTexts(old, emailSubjects.changed)).length).toBe(1);
    expect((await browser.open(accountPath)).text).toContain(`Email ${next} `);
    expect((await browser.open(accountPath)).text).not.toContain("We wrote to");
  });

  test("is not given to who has the link alone, with an account of their own or without", async () => {
    const { browser, email } = await newClient(app, "Robbed Owner");
    const thief = await newClient(app, "Link Thief");
    await submitOnAccount(thief.browser, "Change password", {
      currentPassword: password,
      password: "the thief's password",
    });
    const next = newEmailAddress("Read By Others", "client.example");
    await ask(browser, next);
    const link = await getEmailChangeLink(next);
    for (let opened = 0; opened < 3; opened += 1) expect((await thief.browser.get(link)).status).toBe(200);
    for (const one of [thief.browser, app.browser()])
      expect((await confirm(link, "the thief's password", one)).status).toBe(400);
    expect([await logIn(email), await logIn(next), await logIn(next, "the thief's password")]).toEqual([
      "/portal",
      400,
      400,
    ]);
    // Five wrong ones pause it, as at the login.
    for (let guess = 0; guess < 4; guess += 1) await confirm(link, "a guess", thief.browser);
    expect((await confirm(link, password, thief.browser)).status).toBe(429);
  });

  test("that has an account gets the same answer and a mail of its own, and nothing to press", async () => {
    const { browser, email } = await newClient(app, "Curious Owner");
    const known = await newClient(app, "Known Owner");
    const free = newEmailAddress("Free Address", "client.example");
    const look = (page: ParsedPage, address: string) =>
      [page.status, JSON.stringify(page.toasts), page.text.replaceAll(address, "it")] as const;
    const [first, second] = [await ask(browser, free), await ask(browser, known.email)];
    expect(look(second, known.email)).toEqual(look(first, free));
    const [told = ""] = await listEmailTexts(known.email, emailSubjects.taken);
    expect(told).toContain("nothing was changed");
    expect(told).not.toMatch(/\/auth\/email|token/);
    expect([await countEmailsTo(known.email), (await listEmailTexts(email, emailSubjects.asked)).length]).toEqual([
      1, 2,
    ]);
    expect([await logIn(known.email), await logIn(email)]).toEqual(["/portal", "/portal"]);
  });

  test("is asked for with the present password, is another one, and not twice in a minute", async () => {
    const { browser, email } = await newClient(app, "Hasty Owner");
    const next = newEmailAddress("Hasty Address", "client.example");
    const refusals: [FormValues, string, RegExp][] = [
      [
        { email: next, currentPassword: "not the password" },
        "currentPassword",
        /^This is not the password of the account\.$/,
      ],
      [{ email: email.toUpperCase(), currentPassword: password }, "email", /^This is your address already\.$/],
      [{ email: "no address", currentPassword: password }, "email", /address/],
      [{ email: `${"x".repeat(250)}@client.example`, currentPassword: password }, "email", /./],
    ];
    const form = await browser.open(accountPath);
    for (const [typed, field, why] of refusals) {
      const page = await parsePage(await browser.submit(form, "Change email", typed));
      expect([typed, page.status]).toEqual([typed, 400]);
      expect(getField(page, `email-${field}`).said.at(-1)).toMatch(why);
      expect([getField(page, "email-email").value, getField(page, "email-currentPassword").value]).toEqual([
        typed.email,
        "",
      ]);
    }
    expect([await countEmailsTo(next), (await listEmailTexts(email, emailSubjects.asked)).length]).toEqual([0, 0]);
    await ask(browser, next);
    const again = await parsePage(
      await submitOnAccount(browser, "Change email", { email: next, currentPassword: password }),
    );
    expectRejectedForm(again, 429, "A message is on its way already. Wait a minute and try again.");
  });

  test("behind a link that is wrong, cut off, used, replaced, too old, or of a closed account is the same page", async () => {
    const { browser } = await newClient(app, "Old Links");
    const names = ["Replaced", "Used", "Late"].map((name) => newEmailAddress(name, "client.example"));
    const links: string[] = [];
    for (const [index, name] of names.entries()) {
      await ask(browser, name);
      links.push(await getEmailChangeLink(name));
      if (index === 1) expect((await confirm(links[1] ?? "", password)).status).toBe(303);
    }
    const closed = await newClient(app, "Closed Links");
    const ofClosed = newEmailAddress("Of Closed", "client.example");
    await ask(closed.browser, ofClosed);
    links.push(await getEmailChangeLink(ofClosed));
    resultOrThrow(await closeAccount(app.company, closed.id, "Closed"));
    await sql`update private.email_changes set expires_at = now() - interval '1 second' where email = ${names[2] ?? ""}`;
    const asked = ["/auth/email", "/auth/email?token=", `/auth/email?token=${"0".repeat(64)}`, "/auth/email?token=%00"];
    asked.push(...links, links[2]?.slice(0, -1) ?? "", `${links[2]}0`);
    const pages = await Promise.all(asked.map((link) => app.browser().open(link)));
    for (const [index, { status, title, text }] of pages.entries()) {
      expect([asked[index], { status, title, text }]).toEqual([
        asked[index],
        { status: 200, title: pages[0]?.title, text: pages[0]?.text },
      ]);
    }
    expect(pages[0]?.text).toContain("This link has been used or is too old.");
    for (const link of asked.slice(4, 8)) {
      const token = new URL(link, origin).searchParams.get("token") ?? "";
      const refused = await parsePage(await app.browser().post("/auth/email", { token, password }));
      expect([link, refused.status]).toEqual([link, 400]);
      expect(refused.toasts[0]?.description).toBe("This link has been used or is too old.");
    }
    expect([await logIn(names[1] ?? ""), await logIn(names[0] ?? ""), await logIn(names[2] ?? "")]).toEqual([
      "/portal",
      400,
      400,
    ]);
  });

  test("that somebody signed up with meanwhile stays theirs", async () => {
    const { browser, email } = await newClient(app, "Late Owner");
    const next = newEmailAddress("Taken Meanwhile", "client.example");
    await ask(browser, next);
    const [clientId = ""] = await issueClientIds(app.company, 1);
    const other = app.browser();
    await other.post("/signup", { clientId, fullName: "Quicker One", email: next, password });
    await other.confirmEmail(next);
    const refused = await parsePage(await confirm(await getEmailChangeLink(next), password));
    expect([refused.status, refused.toasts[0]?.description]).toEqual([
      409,
      "This address cannot be used. Choose another one on the page of your account.",
    ]);
    expect([await logIn(email), await logIn(next)]).toEqual(["/portal", "/portal"]);
    await other.logIn(next);
    expect((await other.open(accountPath)).value("fullName")).toBe("Quicker One");
  });

  test("is not changed while the backend fails, and the link is good afterwards", async () => {
    const { browser, email } = await newClient(app, "Unlucky Owner");
    const next = newEmailAddress("Unlucky Address", "client.example");
    await ask(browser, next);
    const link = await getEmailChangeLink(next);
    const visitor = app.browser();
    const form = await visitor.open(link);
    for (const of of [/rpc\/email_change/, /auth\/v1\/token/, /auth\/v1\/admin\/users/, /./]) {
      app.proxy.fail(500, of);
      const page = await parsePage(await visitor.submit(form, "Confirm this address", { password }));
      app.proxy.fail("none");
      expect([of, page.status]).toEqual([of, 503]);
      expectNoInternals(page);
    }
    expect([await logIn(email), await logIn(next)]).toEqual(["/portal", 400]);
    expect((await visitor.submit(form, "Confirm this address", { password })).status).toBe(303);
    expect(await logIn(next)).toBe("/portal");
  });

  test.each([
    ["was not made", "close", /^PUT .*auth\/v1\/admin\/users/],
    ["was made", "lost answer", /auth\/v1\/admin\/users/],
  ] as const)(
    "of which nobody knows whether it %s is told as that, and its link stays good",
    async (_what, fault, of) => {
      const { browser, email: old } = await newClient(app, "Uncertain Owner");
      const next = newEmailAddress("Uncertain Address", "client.example");
      await ask(browser, next);
      const link = await getEmailChangeLink(next);
      app.proxy.fail(fault, of);
      const page = await parsePage(await confirm(link, password));
      app.proxy.fail("none");
      expect([page.status, page.toasts[0]?.title]).toEqual([503, "Address not changed"]);
      const [told = ""] = await listEmailTexts(old, emailSubjects.perhaps);
      expect(told).toContain("was perhaps changed a moment ago");
      const again = await confirm(link, password);
      expect(again.headers.get("Location")).toBe("/login");
      expect([await logIn(old), await logIn(next)]).toEqual([400, "/portal"]);
      expect((await listEmailTexts(old, emailSubjects.perhaps)).length).toBe(1);
      // The new address is not told that it gets no more mail.
      expect(await countEmailsTo(next)).toBe(1);
      expect((await app.browser().open(link)).text).toContain("This link has been used or is too old.");
    },
  );

  test("that was changed though its answer was lost is changed, and told as that", async () => {
    const { browser, email: old } = await newClient(app, "Found Owner");
    const next = newEmailAddress("Found Address", "client.example");
    await ask(browser, next);
    app.proxy.fail("lost answer", /^PUT .*auth\/v1\/admin\/users/);
    const answer = await confirm(await getEmailChangeLink(next), password);
    app.proxy.fail("none");
    expect(answer.headers.get("Location")).toBe("/login");
    const told = async (subject: string) => (await listEmailTexts(old, subject)).length;
    expect([await told(emailSubjects.changed), await told(emailSubjects.perhaps)]).toEqual([1, 0]);
    expect([await logIn(old), await logIn(next)]).toEqual([400, "/portal"]);
  });

  test("whose mail does not leave is none of the day's five, and leaves a link to a new password alone", async () => {
    const { browser, email, id } = await newClient(app, "Unreachable Owner");
    const names = Array.from({ length: 5 }, (_, index) =>
      newEmailAddress(`Unreachable ${"x".repeat(index)}`, "client.example"),
    );
    expect(await sendPasswordLink(app.company, app.company, emailSender, id)).toEqual({ sent: true });
    const passwordLink = await getLatestLinkTo(email);
    process.env.SMTP_URL = `smtp://127.0.0.1:${await freePort()}`;
    try {
      for (const name of names) {
        const page = await parsePage(
          await submitOnAccount(browser, "Change email", { email: name, currentPassword: password }),
        );
        const why = "The mail could not be sent. Your address stays as it is. Try again in a minute.";
        expectRejectedForm(page, 503, why);
        expect(page.text).not.toContain("We wrote to");
      }
    } finally {
      delete process.env.SMTP_URL;
    }
    expect((await listEmailTexts(email, emailSubjects.asked)).length).toBe(0);
    expect((await app.browser().open(passwordLink)).text).toContain("Set password");
    for (const name of names) expect((await ask(browser, name)).toasts).toEqual(asked);
    const sixth = await parsePage(
      await submitOnAccount(browser, "Change email", { email: newEmailAddress("Sixth"), currentPassword: password }),
    );
    expect([sixth.status, sixth.toasts[0]?.description]).toEqual([
      429,
      expect.stringMatching(/^Too many new addresses in one day\. Try again in \d+ minutes\.$/),
    ]);
    const [first, last] = [names[0] ?? "", names[4] ?? ""];
    expect([await countEmailsTo(first), await countEmailsTo(last)]).toEqual([1, 1]);
  });

  test("leaves neither its link nor a password nor an address in the log", async () => {
    const { browser, email } = await newClient(app, "Logged Owner");
    const next = newEmailAddress("Logged Address", "client.example");
    const lines: string[] = [];
    const spy = vi.spyOn(console, "log").mockImplementation((...said) => void lines.push(said.join(" ")));
    let token = "";
    try {
      await ask(browser, next);
      const link = await getEmailChangeLink(next);
      token = link.split("token=")[1] ?? "";
      await confirm(link, "wrong and logged");
      expect((await confirm(link, password)).status).toBe(303);
      await expect.poll(() => lines.join("\n").match(/"route":"\/auth\/email"/g)).toHaveLength(4);
    } finally {
      spy.mockRestore();
    }
    for (const secret of [token.slice(0, 16), "wrong and logged", password, next, email])
      expect([secret, lines.join("\n").includes(secret)]).toEqual([secret, false]);
  });
});

describe("the wish to be erased", () => {
  test("reaches the desk, which answers it with a reason by mail; its owner can take it back", async () => {
    const clerk = await newStaffMember(app, "clerk", "Erasure Clerk");
    const client = await newClient(app, "Leaving Owner");
    const { browser, email, id } = client;
    const desk = `/desk/clients/${id}`;
    const onToday = async () => {
      const today = await clerk.browser.open("/desk");
      const link = today.all("main a").find((one) => one.getAttribute("href") === desk);
      return link && [today.text.includes("Asked to be erased"), getText(link)];
    };
    expect(await onToday()).toBeUndefined();

    const page = await browser.follow(await submitOnAccount(browser, "Ask us to erase my account"));
    expect(page.toasts).toEqual(successToast("We have your request, and answer by mail"));
    expect(page.text).toMatch(/You asked us on .* EAT to erase your account\. We answer by mail\./);
    expect(() => page.form("Ask us to erase my account")).toThrow("No button");
    expect(await onToday()).toEqual([true, expect.stringMatching(/^Leaving Owner since .* EAT$/)]);

    const kept = await browser.follow(await submitOnAccount(browser, "Keep my account"));
    expect(kept.toasts).toEqual(successToast("Your account stays"));
    expect(await onToday()).toBeUndefined();

    await submitOnAccount(browser, "Ask us to erase my account");
    const opened = await clerk.browser.open(desk);
    expect(opened.text).toMatch(/Asked on .* EAT to be erased\./);
    const button = "Answer that it cannot be erased yet";
    const empty = await parsePage(await clerk.browser.submit(opened, button, { reason: " " }));
    expect(empty.status).toBe(400);
    const reason = "The law has us keep your last shipment until 4 May 2033.";
    const answered = await clerk.browser.follow(await clerk.browser.submit(opened, button, { reason }));
    expect(answered.toasts).toEqual(successToast("The answer is on its way"));
    expect(answered.text).not.toContain("to be erased.");
    const mail = await getLatestEmailTo(email);
    expect([mail.subject, mail.text.includes(reason)]).toEqual(["Your request to erase your account", true]);
    expect(mail.text).not.toContain(clerk.name);
    expect(await onToday()).toBeUndefined();
    const late = await parsePage(await clerk.browser.submit(opened, button, { reason }));
    expectRejectedForm(late, 409, "This client does not ask to be erased, or somebody has answered.");
    expect((await browser.open(accountPath)).text).not.toContain("You asked us on");
    await expect(() => clerk.browser.open(accountPath).then((one) => one.form("Save name"))).rejects.toThrow(
      "No button",
    );
  });
});

describe("who is locked out, or does not trust a message,", () => {
  test("reads under 'Forgot password?' whom to call and where to write", async () => {
    const page = await app.browser().open("/login");
    expect(() => page.form("Forgot password?")).not.toThrow();
    expect(page.text).toMatch(
      /Forgot password\? Locked out\? Call \+254 700 000 001 or write to nairobi@mizigo\.example\./,
    );
    expect(page.text).toContain("we mail you a link to a new password");
  });

  test.each(["/login", "/signup", "/actions/forgot-password"])(
    "sees after the form of %s what is behind it, and our licence with where to check it",
    async (path) => {
      const page = await app.browser().open(path);
      const [beside] = page.all("main aside");
      expect(beside?.querySelector("[role=img]")?.getAttribute("aria-label")).toMatch(
        /stage 5 of 10, Payment Clearance/,
      );
      for (const told of [
        "Stage 5/10",
        "Your move. Pay the Duties & Taxes.",
        "3/4 verified",
        "SAMPLE-CAL-0000",
        "kra.go.ke",
      ])
        expect(getText(beside)).toContain(told);
      expect(page.html.indexOf("<form", page.html.indexOf("<main"))).toBeLessThan(page.html.indexOf("<aside"));
    },
  );

  test.each(["/login", "/signup", "/actions/forgot-password"])(
    "is led from %s to how to check that it is really us",
    async (path) => {
      const page = await app.browser().open(path);
      const link = page.all("main a").find((one) => getText(one) === "Is this really us?");
      expect(link?.getAttribute("href")).toBe("/additional-info#identity-check");
    },
  );

  test("finds there our site, our numbers, our licence, and that no bank details come by mail", async () => {
    const page = await app.browser().open("/additional-info");
    const [section] = page.all("section#identity-check");
    expect(getText(section?.querySelector("h2"))).toBe("Is this really us?");
    expect(getText(section?.querySelector("h3")), "the licence comes first").toBe("Our licence");
    expect(getText(section?.querySelector("section"))).toContain("SAMPLE-CAL-0000");
    for (const told of [
      origin,
      "+254 700 000 001",
      "nairobi@mizigo.example",
      "kra.go.ke",
      "never send our bank details",
    ])
      expect(getText(section)).toContain(told);
  });
});

describe("the copy of one's data", () => {
  let client: Awaited<ReturnType<typeof newClient>>;
  let shipment: Awaited<ReturnType<typeof newShipment>>;
  let answer: Response;
  let files: Map<string, Buffer>;
  const contents = {
    "Commercial Invoice": createPdf("Invoice March.pdf", 70_000),
    "Packing List": createPdf("فاتورة.pdf", 3000),
    "Bill of Lading": new File(["Box,Weight\n1,20 kg\n"], "list.csv"),
  };
  beforeAll(async () => {
    const stranger = await newClient(app, "Strange Owner");
    await newShipment(app, stranger, "Cargo of somebody else", ["Packing List"]);
    client = await newClient(app, "Data Owner");
    shipment = await newShipment(app, client, "=Tea, for Juba");
    await newShipment(app, client, "Second");
    for (const [name, file] of Object.entries(contents))
      await uploadDocument(client.browser, shipment.portal, name, file);
    await uploadDocument(client.browser, shipment.portal, "Insurance Certificate", createPdf("exchanged.pdf"));
    await verifyDocumentByName(app.company, shipment.id, "Packing List");
    resultOrThrow(await sendNote(app.company, shipment.id, "It came late", {}));
    const charge = { item: "duties", amount: 12500.5, currency: "KES", note: "=At the bank" };
    resultOrThrow(await setCharge(app.company, shipment.id, charge, {}));
    const { storage_path } = await getDocument(app.company, shipment.id, "Insurance Certificate");
    await replaceStoredFile(app.company, storage_path ?? "");
    const { action } = (await client.browser.open(accountPath)).form("Download your data");
    answer = await client.browser.get(action);
    files = unzip(Buffer.from(await answer.clone().arrayBuffer()));
  });

  const text = (name: string) => files.get(name)?.toString("utf8") ?? "";
  const folder = () => `files/${shipment.id.slice(0, 8)}`;

  test("is an archive that unpacks, sent as a download that nobody keeps", () => {
    expect(answer.status).toBe(200);
    expect(answer.headers.get("Content-Type")).toBe("application/zip");
    expect(answer.headers.get("Content-Disposition")).toBe('attachment; filename="my-data.zip"');
    expect(answer.headers.get("Cache-Control")).toBe("private, no-store");
    expect([...files.keys()].sort()).toEqual(
      [
        "account-shipment-emails.csv",
        "account-sessions.csv",
        "account.csv",
        "account.json",
        "charges.csv",
        "documents.csv",
        `${folder()}/Bill of Lading, list.csv`,
        `${folder()}/Commercial Invoice, Invoice March.pdf`,
        `${folder()}/Packing List, فاتورة.pdf`,
        "history.csv",
        "left-out.txt",
        "links.csv",
        "log.csv",
        "shipments.csv",
        "shipments.json",
      ].sort(),
    );
  });

  test("has every file as it was sent, and names the one that lies there in its place", async () => {
    for (const [name, file] of Object.entries(contents)) {
      const packed = files.get(`${folder()}/${name}, ${file.name}`);
      expect([name, packed?.equals(Buffer.from(await file.arrayBuffer()))]).toEqual([name, true]);
    }
    expect(text("left-out.txt")).toBe(
      `${folder()}/Insurance Certificate, exchanged.pdf: The stored file is not the one that was uploaded.\n`,
    );
  });

  test("tells of the account and of each shipment all that is kept, and not where files are stored", () => {
    const told = JSON.parse(text("account.json"));
    expect(told).toMatchObject({
      id: client.id,
      email: client.email,
      full_name: "Data Owner",
      shipment_emails_enabled: true,
    });
    expect(told.client_id).toBeTruthy();
    expect(told.sessions).toHaveLength(1);
    const shipments = JSON.parse(text("shipments.json"));
    expect(shipments.map(({ name }: { name: string }) => name)).toEqual(["Second", "=Tea, for Juba"]);
    expect(shipments[1]).toMatchObject({
      id: shipment.id,
      charges: [{ item: "duties", amount: 12500.5, currency: "KES" }],
      tracking_events: [{ status: "Note", note: "It came late" }],
    });
    expect(shipments[1].documents).toHaveLength(4);
    const all = [...files.values()].map((file) => file.toString("latin1")).join("\n");
    for (const secret of ["storage_path", "password", "token", "$2b$", "$2a$", "idempotency_key", `${client.id}/`])
      expect([secret, all.includes(secret)]).toEqual([secret, false]);
    expect(all).not.toContain("Cargo of somebody else");
    expect(all).not.toContain("strange-owner");
  });

  test("has tables that no spreadsheet runs, whose files are in the archive", () => {
    for (const name of ["shipments.csv", "documents.csv", "history.csv", "charges.csv", "links.csv", "log.csv"]) {
      expect([name, text(name).startsWith('\ufeff"Shipment",')]).toEqual([name, true]);
      expect([name, /"\s*[=+@-]/.exec(text(name))]).toEqual([name, null]);
    }
    expect(text("shipments.csv")).toContain(`"${shipment.id}","'=Tea, for Juba"`);
    expect(text("charges.csv")).toContain(`"duties","12500.5","KES","","'=At the bank",""`);
    expect(text("history.csv")).toContain('"1","Note","","It came late"');
    expect(text("log.csv")).toContain('"shipment note"');
    expect(text("account.csv")).toContain('"full_name","Data Owner"');
    expect(text("account-shipment-emails.csv")).toMatch(new RegExp(`"charge","duties",.*"${shipment.id}"`));
    const paths = [...text("documents.csv").matchAll(/"(files\/[^"]*)"/g)].map(([, path = ""]) => path);
    expect(paths.filter((path) => !files.has(path))).toEqual([`${folder()}/Insurance Certificate, exchanged.pdf`]);
    expect(paths).toHaveLength(4);
  });

  test("is for who is logged in, and at most five times in an hour", async () => {
    const stranger = await app.browser().get(`${accountPath}/data.zip`);
    expect([stranger.status, stranger.headers.get("Location")?.startsWith("/login")]).toEqual([303, true]);
    expect((await client.browser.post(`${accountPath}/data.zip`, {})).status).toBe(404);
    for (let download = 2; download <= 5; download += 1) {
      const again = await client.browser.get(`${accountPath}/data.zip`);
      expect([download, again.status, (await again.arrayBuffer()).byteLength > 70_000]).toEqual([download, 200, true]);
    }
    const paused = await client.browser.get(`${accountPath}/data.zip`);
    expect([paused.status, Number(paused.headers.get("Retry-After")) > 0]).toEqual([429, true]);
    const page = await parsePage(paused);
    expect(page.text).toMatch(/Your data was downloaded several times just now\. Try again in \d+ minutes\./);
    expect(page.headers.get("Content-Disposition")).toBeNull();
    expect(await isLoggedIn(client.browser)).toBe(true);
  });

  test("is begun by who presses it, not by a request for its head, another site or a browser that fetches ahead", async () => {
    const { browser } = await newClient(app, "Pressing Owner");
    const address = `${accountPath}/data.zip`;
    const others: [string, Record<string, string>][] = [
      ["HEAD", {}],
      ["HEAD", { "Sec-Fetch-Site": "same-origin" }],
      ["GET", { "Sec-Fetch-Site": "cross-site" }],
      ["GET", { "Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate" }],
      ["GET", { "Sec-Purpose": "prefetch" }],
      ["GET", { "Sec-Fetch-Site": "same-origin", "Sec-Purpose": "prefetch;prerender" }],
    ];
    const calls = await app.proxy.during(async () => {
      for (const [method, headers] of others) {
        const { status, headers: told } = await browser.send(
          new Request(new URL(address, origin), { method, headers }),
        );
        const [location, name] = [told.get("Location"), told.get("Content-Disposition")];
        expect([method, headers, status, location, name]).toEqual([method, headers, 303, accountPath, null]);
      }
    });
    expect(calls.filter((call) => /data_export|attempt/.test(call))).toEqual([]);
    // None of them is one of the hour's five.
    const statuses = [];
    for (const site of ["same-origin", "same-origin", "same-site", "none", "none", "none"]) {
      const answer = await browser.get(address, { "Sec-Fetch-Site": site });
      statuses.push(answer.status);
      await answer.arrayBuffer();
    }
    expect(statuses).toEqual([200, 200, 200, 200, 200, 429]);
  });

  test("asks for each page of 50 shipments once, and has every shipment once", async () => {
    const large = await newClient(app, "Large Owner");
    await sql`insert into shipments (user_id, name) select ${large.id}, 'Row ' || n from generate_series(1, 101) as n`;
    let packed = new Map<string, Buffer>();
    const calls = await app.proxy.during(async () => {
      const answer = await large.browser.get(`${accountPath}/data.zip`);
      packed = unzip(Buffer.from(await answer.arrayBuffer()));
    });
    const asked = calls.filter((call) => call.includes("rpc/data_export"));
    // 50, 50, 1, and that there are no more.
    expect([asked.length, new Set(asked).size]).toEqual([4, 4]);
    const shipments = JSON.parse(packed.get("shipments.json")?.toString() ?? "") as { id: string }[];
    expect([shipments.length, new Set(shipments.map(({ id }) => id)).size]).toEqual([101, 101]);
    expect(
      packed
        .get("shipments.csv")
        ?.toString()
        .match(/"Row \d+"/g),
    ).toHaveLength(101);
  });

  test("is a page of words when the backend does not answer, and cut off when it stops on the way", async () => {
    const unlucky = await newClient(app, "Unlucky Data");
    const { browser } = unlucky;
    await newShipment(app, unlucky, "First page");
    app.proxy.fail(503, /rpc\/data_export/);
    const calls = await app.proxy.during(async () => {
      const page = await parsePage(await browser.get(`${accountPath}/data.zip`));
      expect([page.status, page.headers.get("Content-Disposition")]).toEqual([503, null]);
      expectNoInternals(page);
    });
    // Once, and again twice.
    expect(calls.filter((call) => call.includes("rpc/data_export"))).toHaveLength(3);
    app.proxy.fail(500, /rpc\/data_export\?before/);
    const begun = await browser.get(`${accountPath}/data.zip`);
    expect(begun.status).toBe(200);
    const whole = await begun.arrayBuffer().catch((error: Error) => error);
    expect(() => unzip(Buffer.from(whole instanceof ArrayBuffer ? new Uint8Array(whole) : []))).toThrow();
  });
});
