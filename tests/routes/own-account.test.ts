import process from "node:process";
import postgres from "postgres";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { closeAccount } from "../../app/models/client-account.server.ts";
import { orThrow, sendNote, setCharge } from "../../app/models/desk-act.server.ts";
import { stopLink } from "../../app/models/notice.server.ts";
import { sendPasswordLink } from "../../app/models/password.server.ts";
import type { Authenticator } from "../support/authenticator.ts";
import { issueClientIds, verify } from "../support/company.ts";
import {
  addressOf,
  documentOf,
  done,
  exchangeFile,
  expectRefused,
  fieldOf,
  letterhead,
  linkTo,
  mailsSentTo,
  mailTo,
  newClient,
  newColleague,
  newShipment,
  setUpFactor,
  upload,
} from "../support/desk.ts";
import { mailsTo } from "../support/outbox.ts";
import { freePort } from "../support/ports.ts";
import {
  type Browser,
  expectNothingInternal,
  type Form,
  keptByNobody,
  origin,
  type Page,
  password,
  pdf,
  read,
  theApp,
  words,
} from "../support/routes.ts";
import { unzip } from "../support/zip.ts";

let app: Awaited<ReturnType<typeof theApp>>;
/** The database itself: time passes there. */
let sql: postgres.Sql;
beforeAll(async () => {
  app = await theApp();
  sql = postgres(process.env.TESTS_DATABASE_URL ?? "", { max: 1, onnotice: () => undefined });
});
afterAll(() => sql.end());
afterEach(() => app.proxy.fail("none"));

const account = "/portal/account";
const isSignedIn = async (browser: Browser) => (await browser.get("/portal")).status === 200;

/** Presses a button of the account page. */
const press = async (browser: Browser, button: string, typed: Form = {}) =>
  browser.press(await browser.open(account), button, typed);

/** Another browser in which the person is logged in. */
async function elsewhereOf(email: string): Promise<Browser> {
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
async function mailsCalled(email: string, subject: string): Promise<string[]> {
  const mails = await mailsTo(process.env.DATA_DIR ?? "", email);
  return mails.filter((mail) => mail.subject === subject).map(({ text }) => text ?? "");
}

const subjects = {
  confirm: "Confirm your new e-mail address",
  taken: "Your e-mail address at our portal",
  asked: "Somebody asked to change your e-mail address",
  changed: "Your e-mail address was changed",
  perhaps: "Your e-mail address was perhaps changed",
};

/** The path of the link in the newest mail to a new address. */
async function newAddressLink(email: string): Promise<string> {
  const text = (await mailsCalled(email, subjects.confirm)).at(-1) ?? "";
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
    const [link] = (await client.browser.open("/portal")).all("main a").filter((one) => words(one) === "Account");
    expect(link?.getAttribute("href")).toBe(account);
    const page = await client.browser.open(account);
    expect([page.status, page.h1]).toEqual([200, "Your account"]);
    expect(page.headers.get("Cache-Control") ?? "").toMatch(keptByNobody);
    expect(page.text).toContain(`Email ${client.email} Client ID `);
    expect(page.text).toContain("You are logged in on this device alone.");
    for (const button of ["Save name", "Change password", "Change email", "Save notices", "Sign out everywhere else"])
      expect(() => page.form(button)).not.toThrow();
    const ids = page.all("[id]").map(({ id }) => id);
    expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([]);
    expect((await app.browser().get(account)).headers.get("Location")).toBe(
      `/login?next=${encodeURIComponent(account)}`,
    );
  });

  test("saves the name, shows it everywhere, and keeps one that is refused in its field", async () => {
    const { browser } = client;
    const answer = await press(browser, "Save name", { fullName: "  Achieng' <b>Otieno</b> " });
    expect(answer.headers.get("Location")).toBe(account);
    const saved = await browser.follow(answer);
    expect([saved.toasts, saved.value("fullName")]).toEqual([done("Name saved"), "Achieng' <b>Otieno</b>"]);
    const portal = await browser.open("/portal");
    expect(portal.text).toContain("Welcome, Achieng' <b>Otieno</b>.");
    expect(portal.html).not.toContain("<b>Otieno");
    for (const fullName of ["", "n".repeat(101), "Ach\u202eieng", "two\u0000"]) {
      const page = await read(await press(browser, "Save name", { fullName }));
      expect([page.status, page.problems.map(({ id }) => page.has(id))]).toEqual([400, [true]]);
      if (fullName.length > 100) expect(page.value("fullName")).toBe(fullName);
    }
    expect((await browser.open(account)).value("fullName")).toBe("Achieng' <b>Otieno</b>");
  });

  test("knows no other form, and says so", async () => {
    for (const act of ["", "erase-all", "toString", "__proto__"])
      expect((await client.browser.post(account, { act, form: act })).status).toBe(400);
  });

  test("sets the mails about shipments, and agrees with the link in those mails", async () => {
    const { browser, id } = client;
    const refusals = async () => (await sql`select from private.notice_refusals where account = ${id}`).length;
    const isChecked = async () =>
      (await browser.open(account)).all("main input[name=wanted]").map((box) => box.hasAttribute("checked"));
    expect(await isChecked()).toEqual([true]);
    const { fields } = (await browser.open(account)).form("Save notices");
    const { wanted: _, ...unchecked } = fields as Record<string, string>;
    const stopped = await browser.follow(await browser.post(account, unchecked));
    expect(stopped.toasts).toEqual(done("You get no more of these mails"));
    expect([await isChecked(), await refusals()]).toEqual([[false], 1]);
    const begun = await browser.follow(await press(browser, "Save notices", { wanted: "yes" }));
    expect([begun.toasts, await isChecked(), await refusals()]).toEqual([done("You get these mails"), [true], 0]);
    await app.browser().post(stopLink(id).replace(origin, ""), { "List-Unsubscribe": "One-Click" });
    expect([await isChecked(), await refusals()]).toEqual([[false], 1]);
    await press(browser, "Save notices", { wanted: "yes" });
    expect(await refusals()).toBe(0);
  });

  test("signs out everywhere else, and not here", async () => {
    const others = [await elsewhereOf(client.email), await elsewhereOf(client.email)];
    expect((await client.browser.open(account)).text).toContain("on this device and in 2 other places.");
    const page = await client.browser.follow(await press(client.browser, "Sign out everywhere else"));
    expect(page.toasts).toEqual(done("Every other device is signed out"));
    expect(page.text).toContain("You are logged in on this device alone.");
    expect(await Promise.all([client.browser, ...others].map(isSignedIn))).toEqual([true, false, false]);
  });
});

describe("the password", () => {
  test("is changed with the present one: other sessions end, this one goes on, and the owner is told", async () => {
    const client = await newClient(app, "Password Owner");
    const { browser, email } = client;
    const elsewhere = await elsewhereOf(email);
    const mails = await mailsSentTo(email);
    const wrong: [Form, string, string | RegExp][] = [
      [
        { present: "not the password", password: "a new password" },
        "present",
        "This is not the password of the account.",
      ],
      [{ present: "", password: "a new password" }, "present", /password/],
      [{ present: password, password: "" }, "password", /^Choose a password/],
      [{ present: password, password: "five5" }, "password", /^Choose a password/],
      [
        { present: password, password: "é".repeat(37) },
        "password",
        "Choose a shorter password: at most 72 characters.",
      ],
      [{ present: password, password }, "password", "This is the password you have. Choose another one."],
    ];
    const form = await browser.open(account);
    for (const [typed, field, why] of wrong) {
      const page = await read(await browser.press(form, "Change password", typed));
      expect([typed, page.status, page.title.startsWith("Error: ")]).toEqual([typed, 400, true]);
      const { said, value, isMarked } = fieldOf(page, `password-${field}`);
      expect([typed, value, isMarked]).toEqual([typed, "", true]);
      expect(said.at(-1)).toMatch(why);
      expect(page.html).not.toContain("a new password");
      expect(page.html).not.toContain(password);
      expect(page.problems.map(({ id }) => id)).toContain(`password-${field}`);
    }
    expect(await Promise.all([browser, elsewhere].map(isSignedIn))).toEqual([true, true]);
    expect([await mailsSentTo(email), await logIn(email)]).toEqual([mails, "/portal"]);

    const before = browser.cookies.get("session");
    const page = await browser.follow(
      await press(browser, "Change password", { present: password, password: "a new password" }),
    );
    expect(page.toasts).toEqual(done("Password changed: every other device is signed out"));
    expect([await isSignedIn(browser), await isSignedIn(elsewhere)]).toEqual([true, false]);
    expect([await logIn(email), await logIn(email, "a new password")]).toEqual([400, "/portal"]);
    const old = app.browser();
    old.cookies.set("session", before ?? "");
    expect(await isSignedIn(old)).toBe(false);
    const told = await mailTo(email);
    expect([told.count, told.subject]).toEqual([mails + 1, "Your password was changed"]);
    expect(told.text).not.toContain("a new password");
  });

  test("is guessed by nobody at an open session: after five wrong ones it pauses", async () => {
    const { browser, email } = await newClient(app, "Left Open");
    const form = await browser.open(account);
    const typed = { present: "a guess", password: "a new password" };
    for (let guess = 0; guess < 5; guess += 1)
      expect((await browser.press(form, "Change password", typed)).status).toBe(400);
    const paused = await browser.press(form, "Change password", { ...typed, present: password });
    expect([paused.status, Number(paused.headers.get("Retry-After")) > 0]).toEqual([429, true]);
    const page = await read(paused);
    expect(page.toasts[0]?.description).toMatch(/^Too many attempts to log in\. Try again in \d+ minutes\.$/);
    const other = await press(browser, "Change email", { present: password, email: addressOf("Guesser") });
    expect(other.status).toBe(429);
    expect([await logIn(email, "a new password"), await isSignedIn(browser)]).toEqual([400, true]);
  });

  test("stays while the backend fails, and the same form works later", async () => {
    const { browser, email } = await newClient(app, "Patient Owner");
    const typed = { present: password, password: "a new password" };
    for (const of of [/auth\/v1\/token/, /^PUT .*\/auth\/v1\/user/]) {
      app.proxy.fail(500, of);
      const page = await read(await press(browser, "Change password", typed));
      app.proxy.fail("none");
      expect([of, page.status]).toEqual([of, 503]);
      expectNothingInternal(page);
      expect(page.html).not.toContain("a new password");
      expect([await isSignedIn(browser), await logIn(email)]).toEqual([true, "/portal"]);
    }
    expect((await press(browser, "Change password", typed)).status).toBe(303);
    expect([await isSignedIn(browser), await logIn(email, "a new password")]).toEqual([true, "/portal"]);
  });

  test("that auth fails to change is said to be perhaps changed, to its owner by mail too", async () => {
    const { browser, email } = await newClient(app, "Uncertain Owner");
    app.proxy.fail(500, /^PUT .*\/auth\/v1\/user/);
    const page = await read(await press(browser, "Change password", { present: password, password: "a new password" }));
    app.proxy.fail("none");
    expectRefused(page, 503, "We do not know whether it was changed. Log in again, with the new one first.");
    const told = await mailTo(email);
    expect([told.count, told.subject]).toEqual([1, "Your password was perhaps changed"]);
    expect(told.text).toContain("was perhaps changed a moment ago");
    expect([await logIn(email), await logIn(email, "a new password")]).toEqual(["/portal", 400]);
  });

  test("that was changed though its answer was lost is changed: this session goes on, and others end", async () => {
    const { browser, email } = await newClient(app, "Found Password");
    const elsewhere = await elsewhereOf(email);
    app.proxy.fail("lost answer", /^PUT .*\/auth\/v1\/user/);
    const answer = await press(browser, "Change password", { present: password, password: "a new password" });
    app.proxy.fail("none");
    const page = await browser.follow(answer);
    expect(page.toasts).toEqual(done("Password changed: every other device is signed out"));
    expect(page.text).toContain("You are logged in on this device alone.");
    expect(await Promise.all([browser, elsewhere].map(isSignedIn))).toEqual([true, false]);
    const told = await mailTo(email);
    expect([told.count, told.subject]).toEqual([1, "Your password was changed"]);
    expect([await logIn(email), await logIn(email, "a new password")]).toEqual([400, "/portal"]);
  });
});

describe("an account with a second factor", () => {
  let client: Awaited<ReturnType<typeof newClient>>;
  let authenticator: Authenticator;
  beforeAll(async () => {
    client = await newClient(app, "Careful Owner");
    authenticator = await setUpFactor(client.browser, "/portal/2fa");
  });

  test("shows a session without the code nothing of it", async () => {
    const { id, portal } = await newShipment(app, client, "Nobody may read this", ["Packing List"]);
    const document = await documentOf(app.company, id, "Packing List");
    const half = app.browser();
    await half.post("/login", { email: client.email, password });
    const paths = [account, `${account}/data.zip`, "/portal/shipments.csv", `${portal}/print`, `${portal}/share`];
    for (const path of [...paths, `${portal}/change`, `${portal}/documents/${document.id}`]) {
      const answer = await half.get(path);
      expect([path, answer.status, answer.headers.get("Location")?.split("?")[0]]).toEqual([
        path,
        303,
        "/login/verify",
      ]);
    }
    for (const act of ["name", "elsewhere", "erase"]) {
      const answer = await half.post(account, { act, form: act, fullName: "Half Way" });
      expect([act, answer.headers.get("Location")?.split("?")[0]]).toEqual([act, "/login/verify"]);
    }
    expect((await client.browser.open(account)).value("fullName")).toBe(client.name);
  });

  test("needs its code for a new password and a new address: with none, a wrong or a used one nothing changes", async () => {
    const { browser, email } = client;
    const next = addressOf("Never Used", "client.example");
    const wrong = ["", "12345", await authenticator.wrongCode(), await authenticator.usedCode()];
    for (const code of wrong) {
      const typed = { present: password, password: "a new password", email: next, code };
      for (const [button, form] of [
        ["Change password", "password"],
        ["Change email", "email"],
      ] as const) {
        if (button === "Change email" && code !== "" && code !== wrong[3]) continue;
        const page = await read(await press(browser, button, typed));
        expect([button, code, page.status]).toEqual([button, code, 400]);
        expect(fieldOf(page, `${form}-code`)).toMatchObject({ isMarked: true, value: "" });
        expect(fieldOf(page, `${form}-code`).said.at(-1)).toMatch(/code/);
        if (button === "Change email") expect(fieldOf(page, "email-email").value).toBe(next);
      }
    }
    expect([await isSignedIn(browser), await logIn(email), await mailsSentTo(next)]).toEqual([
      true,
      "/login/verify",
      0,
    ]);

    const code = await authenticator.freshCode();
    const typed = { present: password, password: "a new password", code };
    const page = await browser.follow(await press(browser, "Change password", typed));
    expect(page.toasts).toEqual(done("Password changed: every other device is signed out"));
    // The session goes on as one that has given the code.
    expect([await isSignedIn(browser), await logIn(email, "a new password")]).toEqual([true, "/login/verify"]);
    expect(page.text).toContain("Manage 2FA");
  });
});

describe("a new e-mail address", () => {
  const asked = done("We wrote to the new address: open the link in that mail");

  /** Asks for another address, and lets the minute between two such wishes pass. */
  async function ask(browser: Browser, email: string): Promise<Page> {
    await sql`update private.email_changes set expires_at = expires_at - interval '2 minutes'`;
    return browser.follow(await press(browser, "Change email", { email, present: password }));
  }
  const confirm = async (link: string, typed: string, browser = app.browser()) =>
    browser.press(await browser.open(link), "Confirm this address", { password: typed });

  test("is confirmed by its mailbox and the password: the old one is told, and opens nothing any more", async () => {
    const { browser, email: old } = await newClient(app, "Moving Owner");
    const next = addressOf("New Address", "client.example");
    const page = await ask(browser, next.toUpperCase());
    expect(page.toasts).toEqual(asked);
    expect(page.text).toContain(`We wrote to ${next}. Your address changes when you open the link in that mail.`);
    const [warned = ""] = await mailsCalled(old, subjects.asked);
    expect(warned).toContain("change your password at once");
    expect(warned).not.toContain(next);
    expect([await logIn(old), await logIn(next)]).toEqual(["/portal", 400]);

    const link = await newAddressLink(next);
    expect(link).toMatch(/^\/auth\/email\?token=[0-9a-f]{64}$/);
    const form = await app.browser().open(link);
    expect([form.status, form.h1, form.text.includes(next)]).toEqual([200, "Confirm your new e-mail address", true]);
    expect([form.html.includes(old), form.html.includes("Moving Owner")]).toEqual([false, false]);
    expect(form.headers.get("Cache-Control") ?? "").toMatch(keptByNobody);
    expect(form.html).toContain('<meta name="robots" content="noindex"');
    for (const typed of ["", "a wrong guess"]) {
      const refused = await read(await confirm(link, typed));
      expect([refused.status, refused.title.startsWith("Error: ")]).toEqual([400, true]);
      expect(refused.toasts[0]).toMatchObject({ title: "Address not changed", variant: "destructive" });
      expect(refused.problems.map(({ id }) => refused.has(id))).toEqual([true]);
      if (typed) expect(refused.html).not.toContain(typed);
    }
    expect([await logIn(old), await logIn(next)]).toEqual(["/portal", 400]);

    const answer = await confirm(link, password);
    expect(answer.headers.get("Location")).toBe("/login");
    expect([await logIn(old), await logIn(next)]).toEqual([400, "/portal"]);
    expect((await mailsCalled(old, subjects.changed)).length).toBe(1);
    expect((await browser.open(account)).text).toContain(`Email ${next} `);
    expect((await browser.open(account)).text).not.toContain("We wrote to");
  });

  test("is not given to who has the link alone, with an account of their own or without", async () => {
    const { browser, email } = await newClient(app, "Robbed Owner");
    const thief = await newClient(app, "Link Thief");
    await press(thief.browser, "Change password", { present: password, password: "the thief's password" });
    const next = addressOf("Read By Others", "client.example");
    await ask(browser, next);
    const link = await newAddressLink(next);
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
    const free = addressOf("Free Address", "client.example");
    const look = (page: Page, address: string) =>
      [page.status, JSON.stringify(page.toasts), page.text.replaceAll(address, "it")] as const;
    const [first, second] = [await ask(browser, free), await ask(browser, known.email)];
    expect(look(second, known.email)).toEqual(look(first, free));
    const [told = ""] = await mailsCalled(known.email, subjects.taken);
    expect(told).toContain("nothing was changed");
    expect(told).not.toMatch(/\/auth\/email|token/);
    expect([await mailsSentTo(known.email), (await mailsCalled(email, subjects.asked)).length]).toEqual([1, 2]);
    expect([await logIn(known.email), await logIn(email)]).toEqual(["/portal", "/portal"]);
  });

  test("is asked for with the present password, is another one, and not twice in a minute", async () => {
    const { browser, email } = await newClient(app, "Hasty Owner");
    const next = addressOf("Hasty Address", "client.example");
    const refusals: [Form, string, RegExp][] = [
      [{ email: next, present: "not the password" }, "present", /^This is not the password of the account\.$/],
      [{ email: email.toUpperCase(), present: password }, "email", /^This is your address already\.$/],
      [{ email: "no address", present: password }, "email", /address/],
      [{ email: `${"x".repeat(250)}@client.example`, present: password }, "email", /./],
    ];
    const form = await browser.open(account);
    for (const [typed, field, why] of refusals) {
      const page = await read(await browser.press(form, "Change email", typed));
      expect([typed, page.status]).toEqual([typed, 400]);
      expect(fieldOf(page, `email-${field}`).said.at(-1)).toMatch(why);
      expect([fieldOf(page, "email-email").value, fieldOf(page, "email-present").value]).toEqual([typed.email, ""]);
    }
    expect([await mailsSentTo(next), (await mailsCalled(email, subjects.asked)).length]).toEqual([0, 0]);
    await ask(browser, next);
    const again = await read(await press(browser, "Change email", { email: next, present: password }));
    expectRefused(again, 429, "A message is on its way already. Wait a minute and try again.");
  });

  test("behind a link that is wrong, cut off, used, replaced, too old, or of a closed account is the same page", async () => {
    const { browser } = await newClient(app, "Old Links");
    const names = ["Replaced", "Used", "Late"].map((name) => addressOf(name, "client.example"));
    const links: string[] = [];
    for (const [index, name] of names.entries()) {
      await ask(browser, name);
      links.push(await newAddressLink(name));
      if (index === 1) expect((await confirm(links[1] ?? "", password)).status).toBe(303);
    }
    const closed = await newClient(app, "Closed Links");
    const ofClosed = addressOf("Of Closed", "client.example");
    await ask(closed.browser, ofClosed);
    links.push(await newAddressLink(ofClosed));
    orThrow(await closeAccount(app.company, closed.id, "Closed"));
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
      const refused = await read(await app.browser().post("/auth/email", { token, password }));
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
    const next = addressOf("Taken Meanwhile", "client.example");
    await ask(browser, next);
    const [clientId = ""] = await issueClientIds(app.company, 1);
    const other = app.browser();
    await other.post("/signup", { clientId, fullName: "Quicker One", email: next, password });
    await other.confirm(next);
    const refused = await read(await confirm(await newAddressLink(next), password));
    expect([refused.status, refused.toasts[0]?.description]).toEqual([
      409,
      "This address cannot be used. Choose another one on the page of your account.",
    ]);
    expect([await logIn(email), await logIn(next)]).toEqual(["/portal", "/portal"]);
    await other.logIn(next);
    expect((await other.open(account)).value("fullName")).toBe("Quicker One");
  });

  test("is not changed while the backend fails, and the link is good afterwards", async () => {
    const { browser, email } = await newClient(app, "Unlucky Owner");
    const next = addressOf("Unlucky Address", "client.example");
    await ask(browser, next);
    const link = await newAddressLink(next);
    const visitor = app.browser();
    const form = await visitor.open(link);
    for (const of of [/rpc\/email_change/, /auth\/v1\/token/, /auth\/v1\/admin\/users/, /./]) {
      app.proxy.fail(500, of);
      const page = await read(await visitor.press(form, "Confirm this address", { password }));
      app.proxy.fail("none");
      expect([of, page.status]).toEqual([of, 503]);
      expectNothingInternal(page);
    }
    expect([await logIn(email), await logIn(next)]).toEqual(["/portal", 400]);
    expect((await visitor.press(form, "Confirm this address", { password })).status).toBe(303);
    expect(await logIn(next)).toBe("/portal");
  });

  test.each([
    ["was not made", "close", /^PUT .*auth\/v1\/admin\/users/],
    ["was made", "lost answer", /auth\/v1\/admin\/users/],
  ] as const)(
    "of which nobody knows whether it %s is told as that, and its link stays good",
    async (_what, fault, of) => {
      const { browser, email: old } = await newClient(app, "Uncertain Owner");
      const next = addressOf("Uncertain Address", "client.example");
      await ask(browser, next);
      const link = await newAddressLink(next);
      app.proxy.fail(fault, of);
      const page = await read(await confirm(link, password));
      app.proxy.fail("none");
      expect([page.status, page.toasts[0]?.title]).toEqual([503, "Address not changed"]);
      const [told = ""] = await mailsCalled(old, subjects.perhaps);
      expect(told).toContain("was perhaps changed a moment ago");
      const again = await confirm(link, password);
      expect(again.headers.get("Location")).toBe("/login");
      expect([await logIn(old), await logIn(next)]).toEqual([400, "/portal"]);
      expect((await mailsCalled(old, subjects.perhaps)).length).toBe(1);
      // The new address is not told that it gets no more mail.
      expect(await mailsSentTo(next)).toBe(1);
      expect((await app.browser().open(link)).text).toContain("This link has been used or is too old.");
    },
  );

  test("that was changed though its answer was lost is changed, and told as that", async () => {
    const { browser, email: old } = await newClient(app, "Found Owner");
    const next = addressOf("Found Address", "client.example");
    await ask(browser, next);
    app.proxy.fail("lost answer", /^PUT .*auth\/v1\/admin\/users/);
    const answer = await confirm(await newAddressLink(next), password);
    app.proxy.fail("none");
    expect(answer.headers.get("Location")).toBe("/login");
    const told = async (subject: string) => (await mailsCalled(old, subject)).length;
    expect([await told(subjects.changed), await told(subjects.perhaps)]).toEqual([1, 0]);
    expect([await logIn(old), await logIn(next)]).toEqual([400, "/portal"]);
  });

  test("whose mail does not leave is none of the day's five, and leaves a link to a new password alone", async () => {
    const { browser, email, id } = await newClient(app, "Unreachable Owner");
    const names = Array.from({ length: 5 }, (_, index) =>
      addressOf(`Unreachable ${"x".repeat(index)}`, "client.example"),
    );
    expect(await sendPasswordLink(app.company, app.company, letterhead, id)).toEqual({ sent: true });
    const passwordLink = await linkTo(email);
    process.env.SMTP_URL = `smtp://127.0.0.1:${await freePort()}`;
    try {
      for (const name of names) {
        const page = await read(await press(browser, "Change email", { email: name, present: password }));
        const why = "The mail could not be sent. Your address stays as it is. Try again in a minute.";
        expectRefused(page, 503, why);
        expect(page.text).not.toContain("We wrote to");
      }
    } finally {
      delete process.env.SMTP_URL;
    }
    expect((await mailsCalled(email, subjects.asked)).length).toBe(0);
    expect((await app.browser().open(passwordLink)).text).toContain("Set password");
    for (const name of names) expect((await ask(browser, name)).toasts).toEqual(asked);
    const sixth = await read(await press(browser, "Change email", { email: addressOf("Sixth"), present: password }));
    expect([sixth.status, sixth.toasts[0]?.description]).toEqual([
      429,
      expect.stringMatching(/^Too many new addresses in one day\. Try again in \d+ minutes\.$/),
    ]);
    const [first, last] = [names[0] ?? "", names[4] ?? ""];
    expect([await mailsSentTo(first), await mailsSentTo(last)]).toEqual([1, 1]);
  });

  test("leaves neither its link nor a password nor an address in the log", async () => {
    const { browser, email } = await newClient(app, "Logged Owner");
    const next = addressOf("Logged Address", "client.example");
    const lines: string[] = [];
    const spy = vi.spyOn(console, "log").mockImplementation((...said) => void lines.push(said.join(" ")));
    let token = "";
    try {
      await ask(browser, next);
      const link = await newAddressLink(next);
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
    const clerk = await newColleague(app, "clerk", "Erasure Clerk");
    const client = await newClient(app, "Leaving Owner");
    const { browser, email, id } = client;
    const desk = `/desk/clients/${id}`;
    const onToday = async () => {
      const today = await clerk.browser.open("/desk");
      const link = today.all("main a").find((one) => one.getAttribute("href") === desk);
      return link && [today.text.includes("Asked to be erased"), words(link)];
    };
    expect(await onToday()).toBeUndefined();

    const page = await browser.follow(await press(browser, "Ask us to erase my account"));
    expect(page.toasts).toEqual(done("We have your request, and answer by mail"));
    expect(page.text).toMatch(/You asked us on .* EAT to erase your account\. We answer by mail\./);
    expect(() => page.form("Ask us to erase my account")).toThrow("No button");
    expect(await onToday()).toEqual([true, expect.stringMatching(/^Leaving Owner since .* EAT$/)]);

    const kept = await browser.follow(await press(browser, "Keep my account"));
    expect(kept.toasts).toEqual(done("Your account stays"));
    expect(await onToday()).toBeUndefined();

    await press(browser, "Ask us to erase my account");
    const opened = await clerk.browser.open(desk);
    expect(opened.text).toMatch(/Asked on .* EAT to be erased\./);
    const button = "Answer that it cannot be erased yet";
    const empty = await read(await clerk.browser.press(opened, button, { reason: " " }));
    expect(empty.status).toBe(400);
    const reason = "The law has us keep your last shipment until 4 May 2033.";
    const answered = await clerk.browser.follow(await clerk.browser.press(opened, button, { reason }));
    expect(answered.toasts).toEqual(done("The answer is on its way"));
    expect(answered.text).not.toContain("to be erased.");
    const mail = await mailTo(email);
    expect([mail.subject, mail.text.includes(reason)]).toEqual(["Your request to erase your account", true]);
    expect(mail.text).not.toContain(clerk.name);
    expect(await onToday()).toBeUndefined();
    const late = await read(await clerk.browser.press(opened, button, { reason }));
    expectRefused(late, 409, "This client does not ask to be erased, or somebody has answered.");
    expect((await browser.open(account)).text).not.toContain("You asked us on");
    await expect(() => clerk.browser.open(account).then((one) => one.form("Save name"))).rejects.toThrow("No button");
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

  test.each(["/login", "/signup", "/resources/forgot-password"])(
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
        expect(words(beside)).toContain(told);
      expect(page.html.indexOf("<form", page.html.indexOf("<main"))).toBeLessThan(page.html.indexOf("<aside"));
    },
  );

  test.each(["/login", "/signup", "/resources/forgot-password"])(
    "is led from %s to how to check that it is really us",
    async (path) => {
      const page = await app.browser().open(path);
      const link = page.all("main a").find((one) => words(one) === "Is this really us?");
      expect(link?.getAttribute("href")).toBe("/additional-info#really-us");
    },
  );

  test("finds there our site, our numbers, our licence, and that no bank details come by mail", async () => {
    const page = await app.browser().open("/additional-info");
    const [section] = page.all("section#really-us");
    expect(words(section?.querySelector("h2"))).toBe("Is this really us?");
    expect(words(section?.querySelector("h3")), "the licence comes first").toBe("Our licence");
    expect(words(section?.querySelector("section"))).toContain("SAMPLE-CAL-0000");
    for (const told of [
      origin,
      "+254 700 000 001",
      "nairobi@mizigo.example",
      "kra.go.ke",
      "never send our bank details",
    ])
      expect(words(section)).toContain(told);
  });
});

describe("the copy of one's data", () => {
  let client: Awaited<ReturnType<typeof newClient>>;
  let shipment: Awaited<ReturnType<typeof newShipment>>;
  let answer: Response;
  let files: Map<string, Buffer>;
  const contents = {
    "Commercial Invoice": pdf("Invoice March.pdf", 70_000),
    "Packing List": pdf("فاتورة.pdf", 3000),
    "Bill of Lading": new File(["Box,Weight\n1,20 kg\n"], "list.csv"),
  };
  beforeAll(async () => {
    const stranger = await newClient(app, "Strange Owner");
    await newShipment(app, stranger, "Cargo of somebody else", ["Packing List"]);
    client = await newClient(app, "Data Owner");
    shipment = await newShipment(app, client, "=Tea, for Juba");
    await newShipment(app, client, "Second");
    for (const [name, file] of Object.entries(contents)) await upload(client.browser, shipment.portal, name, file);
    await upload(client.browser, shipment.portal, "Insurance Certificate", pdf("exchanged.pdf"));
    await verify(app.company, shipment.id, "Packing List");
    orThrow(await sendNote(app.company, shipment.id, "It came late", {}));
    const charge = { item: "duties", amount: 12500.5, currency: "KES", note: "=At the bank" };
    orThrow(await setCharge(app.company, shipment.id, charge, {}));
    const { storage_path } = await documentOf(app.company, shipment.id, "Insurance Certificate");
    await exchangeFile(app.company, storage_path ?? "");
    const { action } = (await client.browser.open(account)).form("Download your data");
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
        "account-mails-about-shipments.csv",
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
    expect(told).toMatchObject({ id: client.id, email: client.email, full_name: "Data Owner", wants_mails: true });
    expect(told.client_id).toBeTruthy();
    expect(told.sessions).toHaveLength(1);
    const shipments = JSON.parse(text("shipments.json"));
    expect(shipments.map(({ name }: { name: string }) => name)).toEqual(["Second", "=Tea, for Juba"]);
    expect(shipments[1]).toMatchObject({
      id: shipment.id,
      charges: [{ item: "duties", amount: 12500.5, currency: "KES" }],
      history: [{ status: "Note", note: "It came late" }],
    });
    expect(shipments[1].documents).toHaveLength(4);
    const all = [...files.values()].map((file) => file.toString("latin1")).join("\n");
    for (const secret of ["storage_path", "password", "token", "$2b$", "$2a$", "request_id", `${client.id}/`])
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
    expect(text("history.csv")).toContain('"Note","","It came late"');
    expect(text("log.csv")).toContain('"shipment note"');
    expect(text("account.csv")).toContain('"full_name","Data Owner"');
    expect(text("account-mails-about-shipments.csv")).toMatch(new RegExp(`"charge","duties",.*"${shipment.id}"`));
    const paths = [...text("documents.csv").matchAll(/"(files\/[^"]*)"/g)].map(([, path = ""]) => path);
    expect(paths.filter((path) => !files.has(path))).toEqual([`${folder()}/Insurance Certificate, exchanged.pdf`]);
    expect(paths).toHaveLength(4);
  });

  test("is for who is logged in, and at most five times in an hour", async () => {
    const stranger = await app.browser().get(`${account}/data.zip`);
    expect([stranger.status, stranger.headers.get("Location")?.startsWith("/login")]).toEqual([303, true]);
    expect((await client.browser.post(`${account}/data.zip`, {})).status).toBe(404);
    for (let download = 2; download <= 5; download += 1) {
      const again = await client.browser.get(`${account}/data.zip`);
      expect([download, again.status, (await again.arrayBuffer()).byteLength > 70_000]).toEqual([download, 200, true]);
    }
    const paused = await client.browser.get(`${account}/data.zip`);
    expect([paused.status, Number(paused.headers.get("Retry-After")) > 0]).toEqual([429, true]);
    const page = await read(paused);
    expect(page.text).toMatch(/Your data was downloaded several times just now\. Try again in \d+ minutes\./);
    expect(page.headers.get("Content-Disposition")).toBeNull();
    expect(await isSignedIn(client.browser)).toBe(true);
  });

  test("is begun by who presses it, not by a request for its head, another site or a browser that fetches ahead", async () => {
    const { browser } = await newClient(app, "Pressing Owner");
    const address = `${account}/data.zip`;
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
        expect([method, headers, status, location, name]).toEqual([method, headers, 303, account, null]);
      }
    });
    expect(calls.filter((call) => /own_data|attempt/.test(call))).toEqual([]);
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
      const answer = await large.browser.get(`${account}/data.zip`);
      packed = unzip(Buffer.from(await answer.arrayBuffer()));
    });
    const asked = calls.filter((call) => call.includes("rpc/own_data"));
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
    app.proxy.fail(503, /rpc\/own_data/);
    const calls = await app.proxy.during(async () => {
      const page = await read(await browser.get(`${account}/data.zip`));
      expect([page.status, page.headers.get("Content-Disposition")]).toEqual([503, null]);
      expectNothingInternal(page);
    });
    // Once, and again twice.
    expect(calls.filter((call) => call.includes("rpc/own_data"))).toHaveLength(3);
    app.proxy.fail(500, /rpc\/own_data\?before/);
    const begun = await browser.get(`${account}/data.zip`);
    expect(begun.status).toBe(200);
    const whole = await begun.arrayBuffer().catch((error: Error) => error);
    expect(() => unzip(Buffer.from(whole instanceof ArrayBuffer ? new Uint8Array(whole) : []))).toThrow();
  });
});
