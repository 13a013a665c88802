import { afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { sendPasswordLink } from "../../app/models/password-link.server.ts";
import { findAccountId, inviteStaffMember } from "../../app/models/staff.server.ts";
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
  setUpSecondFactor,
  staffPassword,
} from "../support/route-fixtures.ts";
import { closeAccount, resultOrThrow } from "../support/staff-actions.ts";
import {
  expectNoInternals,
  getTestApp,
  noStorePattern,
  type ParsedPage,
  parsePage,
  password,
  type TestBrowser,
} from "../support/test-app.ts";

let app: Awaited<ReturnType<typeof getTestApp>>;
beforeAll(async () => {
  app = await getTestApp();
});
afterEach(() => app.proxy.fail("none"));

const expiredText = "This link has been used or is too old.";

/** Sends an account the link to a new password; its path. */
async function sendLink({ id, email }: { id: string; email: string }): Promise<string> {
  const told = await sendPasswordLink(app.company, app.company, emailSender, id, "The command");
  expect(told).toEqual({ sent: true });
  return getLatestLinkTo(email);
}

/** Invites a colleague; their address, and the path of the link. */
async function inviteAndGetLink(name: string) {
  const email = newEmailAddress(name);
  const who = { name, email, role: "clerk" };
  expect(await inviteStaffMember(app.company, app.company, emailSender, who)).toEqual({ sent: true });
  return { email, link: await getLatestLinkTo(email) };
}

/** Opens a link in a fresh browser and sets this password. */
async function setPassword(link: string, typed: { password: string; code?: string }, browser = app.browser()) {
  return browser.submit(await browser.open(link), "Set password", typed);
}

/** Where a login with this password leads, or the status that it gets. */
async function logIn(email: string, typed: string) {
  const answer = await app.browser().post("/login", { email, password: typed });
  return answer.headers.get("Location") ?? answer.status;
}

const isLoggedIn = async (browser: TestBrowser) => (await browser.get("/portal")).status === 200;

describe("the link in a mail", () => {
  test("to a new colleague asks for a password of 12 characters at least, says so, and opens the desk's set-up", async () => {
    const { email, link } = await inviteAndGetLink("Newly Invited");
    const page = await app.browser().open(link);
    expect([page.status, page.h1]).toEqual([200, "Set your password"]);
    expect(page.headers.get("Cache-Control") ?? "").toMatch(noStorePattern);
    expect(page.html).toContain('<meta name="robots" content="noindex"');
    expect(getField(page, "password-password").said).toEqual(["At least 12 characters"]);
    for (const short of ["", "elevenchars"]) {
      const refused = await parsePage(await setPassword(link, { password: short }));
      expect([refused.status, refused.title.startsWith("Error: ")]).toEqual([400, true]);
      expect(getField(refused, "password-password").said.at(-1)).toMatch(/^Choose a password/);
      expect(getField(refused, "password-password").value).toBe("");
      if (short) expect(refused.html).not.toContain(short);
    }
    const long = await parsePage(await setPassword(link, { password: "é".repeat(37) }));
    expect(getField(long, "password-password").said.at(-1)).toBe("Choose a shorter password: at most 72 characters.");

    const browser = app.browser();
    const answer = await setPassword(link, { password: "twelve chars" }, browser);
    expect(answer.headers.get("Location")).toBe("/login");
    expect((await browser.follow(answer)).toasts).toEqual([
      { title: "Password set", description: "Log in with it.", variant: "default" },
    ]);
    await browser.logIn(email, "twelve chars");
    expect((await browser.get("/desk")).headers.get("Location")).toBe("/desk/2fa");
  });

  test("to a new colleague mails nothing when it sets their first password; the link to the next one does", async () => {
    const { email, link } = await inviteAndGetLink("First Password");
    expect((await setPassword(link, { password: "the first password" })).status).toBe(303);
    const mail = await getLatestEmailTo(email);
    expect([mail.count, mail.subject]).toEqual([1, `Your account at the desk of ${emailSender.name}`]);
    expect(await logIn(email, "the first password")).toBe("/portal");
    const id = await findAccountId(app.company, email);
    expect((await setPassword(await sendLink({ id, email }), { password: "the second password" })).status).toBe(303);
    const told = await getLatestEmailTo(email);
    expect([told.count, told.subject]).toEqual([3, "Your password was changed"]);
  });

  test("to a client asks for 6 characters, ends every session, and the owner is told by mail", async () => {
    const client = await newClient(app, "Forgetful Client");
    const elsewhere = app.browser();
    await elsewhere.logIn(client.email);
    const link = await sendLink(client);
    const mail = await getLatestEmailTo(client.email);
    expect(mail.text).toContain("within one hour");
    expect(getField(await app.browser().open(link), "password-password").said).toEqual(["At least 6 characters"]);
    expect((await setPassword(link, { password: "five5" })).status).toBe(400);
    expect([await isLoggedIn(client.browser), await isLoggedIn(elsewhere)]).toEqual([true, true]);

    expect((await setPassword(link, { password: "sixsix" })).status).toBe(303);
    expect([await isLoggedIn(client.browser), await isLoggedIn(elsewhere)]).toEqual([false, false]);
    expect([await logIn(client.email, password), await logIn(client.email, "sixsix")]).toEqual([400, "/portal"]);
    const told = await getLatestEmailTo(client.email);
    expect([told.count, told.subject]).toEqual([mail.count + 1, "Your password was changed"]);
    expect(told.text).not.toContain("sixsix");
  });

  test("may lead to the password that the account had before", async () => {
    const client = await newClient(app, "Remembered It");
    expect((await setPassword(await sendLink(client), { password })).status).toBe(303);
    expect(await logIn(client.email, password)).toBe("/portal");
  });

  test("is spent by nobody who only opens it, such as a scanner of mails", async () => {
    const client = await newClient(app, "Scanned Mail");
    const link = await sendLink(client);
    for (let opened = 0; opened < 3; opened += 1) expect((await app.browser().get(link)).status).toBe(200);
    await app.browser().send(new Request(new URL(link, "http://127.0.0.1:3000"), { method: "HEAD" }));
    expect(await isLoggedIn(client.browser)).toBe(true);
    expect((await setPassword(link, { password: "after the scan" })).status).toBe(303);
  });

  test("that is wrong, cut off, used, replaced, too old, or of a closed account is the same page", async () => {
    const client = await newClient(app, "Old Links");
    const replaced = await sendLink(client);
    const used = await sendLink(client);
    const form = await app.browser().open(used);
    await setPassword(used, { password: "used it once" });
    const { data: late } = await app.company.rpc("issue_password_link", { account_id: client.id, valid_hours: 0 });
    const closed = await newClient(app, "Closed Links");
    const ofClosed = await sendLink(closed);
    resultOrThrow(await closeAccount(app.company, closed.id, "Closed"));
    const links = [
      ...["/auth/password", "/auth/password?token=", `/auth/password?token=${"0".repeat(64)}`, used.slice(0, -1)],
      ...[
        `${used}0`,
        used.toUpperCase().replace("/AUTH/PASSWORD?TOKEN", "/auth/password?token"),
        "/auth/password?token=%00",
      ],
      ...[used, replaced, `/auth/password?token=${late}`, ofClosed],
    ];
    const [first, ...others] = await Promise.all(links.map((link) => app.browser().open(link)));
    expect([first?.status, first?.h1]).toEqual([200, "Set your password"]);
    expect(first?.text).toContain(expiredText);
    expect(first?.all("main input")).toEqual([]);
    const look = ({ status, title, text }: ParsedPage) => ({ status, title, text });
    for (const [index, page] of others.entries())
      expect([links[index + 1], look(page)]).toEqual([links[index + 1], first && look(first)]);

    const { action, fields } = form.form("Set password");
    for (const link of links) {
      const token = new URL(link, "http://127.0.0.1:3000").searchParams.get("token") ?? "";
      const typed = { ...(fields as Record<string, string>), token, password: "another password" };
      const refused = await parsePage(await app.browser().post(action, typed));
      expect([link, refused.status]).toEqual([link, 400]);
      expect(refused.problems.map(({ text }) => text)).toEqual([`${expiredText} Ask for another one.`]);
    }
    expect([await logIn(client.email, "another password"), await logIn(client.email, "used it once")]).toEqual([
      400,
      "/portal",
    ]);
  });

  test.each([1, 2])(
    "sets one password when five are sent at once, and that one opens the account (%i)",
    async (round) => {
      const client = await newClient(app, `Five At Once ${round}`);
      const link = await sendLink(client);
      const passwords = Array.from({ length: 5 }, (_, index) => `password number ${index}`);
      const browsers = passwords.map(() => app.browser());
      const pages = await Promise.all(browsers.map((browser) => browser.open(link)));
      const answers = await Promise.all(
        passwords.map((password, index) =>
          browsers[index]?.submit(pages[index] as ParsedPage, "Set password", { password }),
        ),
      );
      const winners = passwords.filter((_, index) => answers[index]?.status === 303);
      expect(winners).toHaveLength(1);
      for (const answer of answers.filter((answer) => answer?.status !== 303)) {
        const refused = await parsePage(answer as Response);
        expect([400, 409]).toContain(refused.status);
        expect(refused.toasts[0]?.description).toContain(expiredText);
      }
      const opens = [];
      for (const typed of [password, ...passwords])
        if ((await logIn(client.email, typed)) === "/portal") opens.push(typed);
      expect(opens).toEqual(winners);
      expect(await isLoggedIn(client.browser)).toBe(false);
      expect((await getLatestEmailTo(client.email)).subject).toBe("Your password was changed");
    },
  );
});

describe("an account with a second factor", () => {
  test("needs its code: without it or with a wrong one nothing changes, nobody is signed out, and the link stays good", async () => {
    const client = await newClient(app, "Careful Client");
    const authenticator = await setUpSecondFactor(client.browser, "/portal/2fa");
    const link = await sendLink(client);
    const mails = await countEmailsTo(client.email);
    const wrong = ["", "12345", await authenticator.wrongCode(), await authenticator.lastCode()];
    for (const code of wrong) {
      const refused = await parsePage(await setPassword(link, { password: "a new password", code }));
      expect([code, refused.status]).toEqual([code, 400]);
      expect(getField(refused, "password-code").isMarked).toBe(true);
      expect(getField(refused, "password-code").said.at(-1)).toMatch(/code/);
      expect(refused.html).not.toContain("a new password");
    }
    expect(await isLoggedIn(client.browser)).toBe(true);
    expect([await logIn(client.email, "a new password"), await countEmailsTo(client.email)]).toEqual([400, mails]);

    const done = await setPassword(link, { password: "a new password", code: await authenticator.freshCode() });
    expect(done.headers.get("Location")).toBe("/login");
    expect(await isLoggedIn(client.browser)).toBe(false);
    expect([await logIn(client.email, password), await logIn(client.email, "a new password")]).toEqual([
      400,
      "/login/verify",
    ]);
  });

  test("hears on the page of the link whom to call about a lost authenticator; one without a factor does not", async () => {
    const client = await newClient(app, "New Phone");
    const lost = /You lost the authenticator\? Call \+254 700 000 001: staff can take it off/;
    expect((await app.browser().open(await sendLink(client))).text).not.toMatch(lost);
    await setUpSecondFactor(client.browser, "/portal/2fa");
    const link = await sendLink(client);
    const page = await app.browser().open(link);
    expect(page.text).toMatch(lost);
    expect(page.all("main a").map((one) => one.getAttribute("href"))).toContain("tel:+254700000001");
    expect((await parsePage(await setPassword(link, { password: "a new password", code: "" }))).text).toMatch(lost);
  });

  test("takes no code that was entered before, and says so; the link stays good for the next one", async () => {
    const client = await newClient(app, "Overheard Client");
    const authenticator = await setUpSecondFactor(client.browser, "/portal/2fa");
    const link = await sendLink(client);
    const elsewhere = app.browser();
    await elsewhere.post("/login", { email: client.email, password });
    const code = await authenticator.freshCode();
    expect((await elsewhere.submit(await elsewhere.open("/login/verify"), "Verify", { code })).status).toBe(303);
    const mails = await countEmailsTo(client.email);

    const refused = await parsePage(await setPassword(link, { password: "a new password", code }));
    expect(refused.status).toBe(400);
    const why = "This code was entered before. Wait for the next one.";
    expect(refused.problems).toEqual([{ text: why, id: "password-code" }]);
    expect(getField(refused, "password-code")).toMatchObject({ isMarked: true, value: "" });
    expect(getField(refused, "password-code").said.at(-1)).toBe(why);
    expect([await isLoggedIn(client.browser), await isLoggedIn(elsewhere)]).toEqual([true, true]);
    expect([await logIn(client.email, "a new password"), await countEmailsTo(client.email)]).toEqual([400, mails]);

    const next = await authenticator.freshCode();
    expect((await setPassword(link, { password: "a new password", code: next })).status).toBe(303);
    const half = app.browser();
    await half.post("/login", { email: client.email, password: "a new password" });
    const spent = await parsePage(await half.submit(await half.open("/login/verify"), "Verify", { code: next }));
    expect([spent.status, spent.problems.map(({ text }) => text)]).toEqual([400, [why]]);
  });

  test("pauses after five wrong codes, however often the link is opened", async () => {
    const client = await newClient(app, "Guessed Client");
    const authenticator = await setUpSecondFactor(client.browser, "/portal/2fa");
    const link = await sendLink(client);
    for (let guess = 0; guess < 5; guess += 1) {
      expect((await setPassword(link, { password: "guessed it", code: await authenticator.wrongCode() })).status).toBe(
        400,
      );
    }
    const paused = await parsePage(
      await setPassword(link, { password: "guessed it", code: await authenticator.freshCode() }),
    );
    expect(paused.status).toBe(429);
    expect(paused.toasts[0]?.description).toBe("Too many wrong codes. Try again in 15 minutes.");
    expect(await logIn(client.email, password)).toBe("/login/verify");
  });

  test("of a colleague keeps it: the new password alone does not open the desk", async () => {
    const colleague = await newStaffMember(app, "clerk", "Second Password");
    const link = await sendLink(colleague);
    expect((await setPassword(link, { password: "elevenchars", code: "123456" })).status).toBe(400);
    const code = await colleague.authenticator.freshCode();
    expect((await setPassword(link, { password: "another twelve", code })).status).toBe(303);
    expect((await colleague.browser.get("/desk")).headers.get("Location")).toMatch(/^\/login/);
    expect([await logIn(colleague.email, staffPassword), await logIn(colleague.email, "another twelve")]).toEqual([
      400,
      "/login/verify",
    ]);
  });
});

test("the token of a link and the password stand in no line of the log", async () => {
  const client = await newClient(app, "Logged Client");
  const link = await sendLink(client);
  const token = link.split("token=")[1] ?? "";
  const lines: string[] = [];
  const spy = vi.spyOn(console, "log").mockImplementation((...said) => void lines.push(said.join(" ")));
  try {
    const browser = app.browser();
    const page = await browser.open(link);
    await browser.submit(page, "Set password", { password: "x" });
    expect((await browser.submit(page, "Set password", { password: "never logged" })).status).toBe(303);
    await browser.submit(page, "Set password", { password: "never logged" });
    await expect.poll(() => lines.join("\n").match(/"route":"\/auth\/password"/g)).toHaveLength(4);
  } finally {
    spy.mockRestore();
  }
  expect(token).toHaveLength(64);
  for (const secret of [token, token.slice(0, 16), "never logged", client.email]) {
    expect(lines.join("\n")).not.toContain(secret);
  }
});

describe("while the backend fails, nothing is changed, the page says so, and the link is good afterwards:", () => {
  test.each([
    ["the link is looked up", /rpc\/password_link/],
    ["the account is opened by it", /generate_link/],
    ["it is entered", /auth\/v1\/verify/],
    ["the link is spent", /redeem_password_link/],
    ["the password is set", /^PUT .*\/auth\/v1\/user/],
    ["anything is asked", /./],
  ])("%s", async (_step, of) => {
    const client = await newClient(app, "Patient Client");
    const link = await sendLink(client);
    const browser = app.browser();
    const form = await browser.open(link);
    app.proxy.fail(500, of);
    const refused = await parsePage(await browser.submit(form, "Set password", { password: "a new password" }));
    expect(refused.status).toBe(503);
    expectNoInternals(refused);
    expect(refused.html).not.toContain("a new password");
    expect(refused.text).toMatch(/Our records do not answer|Not available at the moment/);
    app.proxy.fail("none");
    expect(await isLoggedIn(client.browser)).toBe(true);
    expect([await logIn(client.email, "a new password"), await logIn(client.email, password)]).toEqual([
      400,
      "/portal",
    ]);
    expect((await browser.submit(form, "Set password", { password: "a new password" })).status).toBe(303);
    expect(await logIn(client.email, "a new password")).toBe("/portal");
  });
});

test("a second window that has the page open sees no more than a stranger", async () => {
  const client = await newClient(app, "Two Windows");
  const link = await sendLink(client);
  const page = await app.browser().open(link);
  expect(page.html).not.toContain(client.email);
  expect(page.html).not.toContain(client.id);
  expect(page.html).not.toContain(client.name);
  const signedIn = copyBrowser(app, client.browser);
  expect((await signedIn.open(link)).h1).toBe("Set your password");
});
