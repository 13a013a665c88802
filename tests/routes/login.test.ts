import { describe, expect, test } from "vitest";
import { describeCut } from "../support/labels.ts";
import { countEmailsTo, newClient, newEmailAddress } from "../support/route-fixtures.ts";
import { issueClientIds } from "../support/service-role.ts";
import { closeAccount, resultOrThrow } from "../support/staff-actions.ts";
import { type FormValues, getTestApp, getText, origin, parsePage, password } from "../support/test-app.ts";

const app = await getTestApp();
const { sql } = app;
const browser = app.browser();
const email = await browser.signUpAndLogIn("Baraka");
await browser.createShipment("Coffee");

const wrongLoginText = "The email or password is wrong.";
const wrongPassword = "not the password";

/** Sends the login form in a new browser. Returns the page, the browser and the backend calls that check a password. */
async function submitLogin(typed: FormValues) {
  const browser = app.browser();
  const previous = app.proxy.bodies.length;
  const page = await parsePage(await browser.submit(await browser.open("/login"), "Log in", typed));
  const logins = app.proxy.bodies.slice(previous).filter((call) => call.includes("grant_type=password"));
  return { page, browser, logins };
}

async function newUnconfirmedAddress(): Promise<string> {
  const [clientId = ""] = await issueClientIds(app.company, 1);
  const address = newEmailAddress("Waiting", "client.example");
  await app.browser().post("/signup", { clientId, fullName: "Waiting", email: address, password });
  return address;
}

describe("Rejected login", () => {
  const passwordTooLong =
    "This password is too long. A password can have at most 72 characters. Each accented letter, non-English letter or emoji counts as 2 or more characters.";
  test.each([
    [
      "an email address of 255 characters",
      { email: `${"b".repeat(240)}@client.example`, password },
      [`Use at most 254 characters for the email. ${describeCut(254)}`],
    ],
    ["a password of 73 bytes", { email: "b@client.example", password: "p".repeat(73) }, [passwordTooLong]],
    ["neither address nor password", { email: "", password: "" }, ["Enter your email.", "Enter your password."]],
  ])("A login with %s marks the wrong fields and makes no backend call.", async (_what, typed, errors) => {
    const calls = await app.proxy.during(async () => {
      const { page, browser } = await submitLogin(typed);
      expect(page.status).toBe(400);
      expect(page.title).toMatch(/^Error: Client Login/);
      expect(page.toasts).toEqual([{ title: "Login Failed", description: errors[0], variant: "destructive" }]);
      expect(page.problems.map(({ text }) => text)).toEqual(errors);
      for (const { id } of page.problems) expect(page.has(id), id).toBe(true);
      expect([...page.getDescriptions("email"), ...page.getDescriptions("password")]).toEqual(errors);
      expect([page.value("email"), page.value("password")]).toEqual([typed.email.slice(0, 254), ""]);
      if (typed.password) expect(page.html).not.toContain(typed.password);
      expect(browser.cookies.has("session")).toBe(false);
    });
    expect(calls).toEqual([]);
  });

  test("A login with a wrong password shows the error in the title, a toast and the summary, and does not show the password again.", async () => {
    const { page, browser } = await submitLogin({ email, password: wrongPassword });
    expect([page.status, page.title.startsWith("Error: "), page.value("email")]).toEqual([400, true, email]);
    expect(page.toasts).toEqual([{ title: "Login Failed", description: wrongLoginText, variant: "destructive" }]);
    expect(page.problems).toEqual([{ id: "login-email", text: wrongLoginText }]);
    expect(page.html).not.toContain(wrongPassword);
    expect(browser.cookies.has("session")).toBe(false);
  });

  test("A login to an unknown or closed account gets the same response after the same time as a login with a wrong password.", async () => {
    const closed = await newClient(app, "Closed Login");
    resultOrThrow(await closeAccount(app.company, closed.id, "They left"));
    const wrong = await submitLogin({ email, password: wrongPassword });
    const unknown = await submitLogin({ email: "nobody-at-all@client.example", password });
    const closedWithPassword = await submitLogin({ email: closed.email, password });
    const closedWithGuess = await submitLogin({ email: closed.email, password: wrongPassword });
    for (const { page, browser } of [unknown, closedWithPassword, closedWithGuess]) {
      expect([page.status, page.toasts, page.text]).toEqual([400, wrong.page.toasts, wrong.page.text]);
      expect(browser.cookies.has("session")).toBe(false);
    }
    // Supabase Auth rejects a closed account without hashing the password. The site then also logs in with an unknown
    // address, because that login hashes the password and makes the response equally slow.
    const counts = [wrong, unknown, closedWithPassword, closedWithGuess].map(({ logins }) => logins.length);
    expect(counts).toEqual([1, 1, 2, 2]);
    // The site tries a password with accents in two Unicode forms, as typed and as NFC.
    const decomposed = "cafe\u0301 in the harbour";
    for (const [to, count] of [
      [email, 2],
      ["nobody-at-all@client.example", 2],
      [closed.email, 4],
    ] as const)
      expect([to, (await submitLogin({ email: to, password: decomposed })).logins.length]).toEqual([to, count]);
    const [first, second] = closedWithPassword.logins;
    expect([first?.includes(closed.email), second?.includes(closed.email), second?.includes(password)]).toEqual([
      ...[true, false, true],
    ]);
  });

  test("After a rejected login, the form still has the choice of a shared computer and the next page.", async () => {
    const browser = app.browser();
    const form = await browser.open("/login?next=/portal/new");
    const rejected = await parsePage(await browser.submit(form, "Log in", { email, shared: "on" }));
    expect(rejected.form("Log in").fields).toMatchObject({ shared: "on", next: "/portal/new" });
    const response = await browser.submit(rejected, "Log in", { email, password });
    expect(response.headers.get("Location")).toBe("/portal/new");
    const session = response.headers.getSetCookie().find((line) => line.startsWith("session="));
    expect(session).toMatch(/^session=(?!.*max-age)/i);
    const unchecked = await parsePage(await browser.submit(form, "Log in", { email }));
    expect(unchecked.form("Log in").fields).not.toHaveProperty("shared");
  });
});

describe("Login with an unconfirmed address", () => {
  const unconfirmedText = "Your email address is not confirmed yet.";

  test("Only a login with the correct password reveals that the address is not confirmed, after any number of attempts.", async () => {
    const address = await newUnconfirmedAddress();
    const guess = await submitLogin({ email: address, password: wrongPassword });
    expect(guess.page.toasts[0]?.description).toBe(wrongLoginText);
    // Uses a new browser for these logins, because five failed logins would lock the first browser.
    const browser = app.browser();
    for (let attempt = 0; attempt < 6; attempt += 1) {
      const page = await parsePage(await browser.post("/login", { email: address, password }));
      expect([page.status, page.toasts[0]?.description.startsWith(unconfirmedText)]).toEqual([400, true]);
      expect(browser.cookies.has("session")).toBe(false);
    }
  });

  test("A login sends the confirmation email again after a minute, and the page mentions the email only if it was sent.", async () => {
    const address = await newUnconfirmedAddress();
    const sentBefore = await countEmailsTo(address);
    const logIn = async () => (await submitLogin({ email: address, password })).page.toasts[0]?.description;
    const notSent = `${unconfirmedText} Open the link in our email first. No email? Log in again in 5 minutes, and we will email you a new link.`;
    expect(await logIn()).toBe(notSent);
    await sql`update auth.users set confirmation_sent_at = now() - interval '61 seconds' where email = ${address}`;
    app.proxy.fail(500, /\/resend/);
    expect(await logIn()).toBe(notSent);
    app.proxy.fail("none");
    expect(await countEmailsTo(address)).toBe(sentBefore);
    expect(await logIn()).toBe(`${unconfirmedText} We have emailed you a new link. Open that link, then log in.`);
    expect(await countEmailsTo(address)).toBe(sentBefore + 1);
  });
});

test("Alternating logins and sign-ups send at most five emails per day to the same address.", async () => {
  const address = await newUnconfirmedAddress();
  const statuses: number[] = [];
  for (let attempt = 0; attempt < 6; attempt += 1) {
    await sql`update auth.users set confirmation_sent_at = now() - interval '61 seconds' where email = ${address}`;
    const [clientId = ""] = await issueClientIds(app.company, 1);
    const form = { clientId, fullName: "Stranger", email: address.toUpperCase(), password };
    const sender = app.browser();
    statuses.push((await sender.post(attempt % 2 ? "/login" : "/signup", form)).status);
  }
  expect(await countEmailsTo(address)).toBe(5);
  expect(statuses).toEqual([303, 400, 303, 400, 429, 400]);
});

test("Sign-ups from one IP address send at most twenty emails per hour.", async () => {
  const sender = app.browser();
  const addresses = Array.from({ length: 21 }, () => newEmailAddress("Victim", "client.example"));
  const clientIds = await issueClientIds(app.company, 21);
  const signUp = (email: string, index: number) =>
    sender.post("/signup", { clientId: clientIds[index] ?? "", fullName: "Stranger", email, password });
  const statuses: number[] = [];
  for (const start of [0, 5, 10, 15, 20]) {
    const responses = addresses.slice(start, start + 5).map((email, index) => signUp(email, start + index));
    for (const { status } of await Promise.all(responses)) statuses.push(status);
  }
  expect(statuses).toEqual([...Array(20).fill(303), 429]);
});

describe("Successful login", () => {
  test("A client can log in with a password whose accents and spaces another device or form has encoded differently.", async () => {
    const decomposed = "café mombasa é".normalize("NFD");
    for (const [set, ...allTyped] of [
      ["café mombasa é", decomposed, "café\u00a0mombasa\u3000é"],
      // A form of another app can use two characters for a letter and its accent.
      [decomposed, decomposed],
    ] as const) {
      const [client_id] = await issueClientIds(app.company, 1);
      const account = { email: newEmailAddress("Typist", "client.example"), password: set, email_confirm: true };
      const { error } = await app.company.auth.admin.createUser({ ...account, user_metadata: { client_id } });
      expect(error).toBeNull();
      for (const typed of allTyped) {
        const response = await app.browser().post("/login", { email: account.email, password: typed });
        expect(response.headers.get("Location")).toBe("/portal");
      }
    }
  });

  test("After a login, a client is redirected to the portal, and the toast about the login appears once.", async () => {
    const browser = app.browser();
    const response = await browser.submit(await browser.open("/login"), "Log in", { email, password });
    expect([response.status, response.headers.get("Location")]).toEqual([303, "/portal"]);
    const portal = await browser.follow(response);
    expect(portal.toasts[0]).toEqual({ title: "Login Successful", description: "", variant: "default" });
    expect((await browser.open("/portal")).toasts).toEqual([]);
  });

  test("The session is in one cookie for 30 days. Script cannot read the cookie, and the cookie contains no personal data.", async () => {
    const browser = app.browser();
    const response = await browser.post("/login", { email, password });
    const [cookie = "", ...others] = response.headers.getSetCookie().filter((line) => line.startsWith("session"));
    expect(others).toEqual([]);
    expect(cookie.split("; ").slice(1)).toEqual(
      expect.arrayContaining(["Path=/", "HttpOnly", "SameSite=Lax", `Max-Age=${30 * 24 * 60 * 60}`]),
    );
    expect(cookie).not.toMatch(/; (Secure|Domain)/i);
    const value = browser.cookies.get("session") ?? "";
    const session = Buffer.from(value.replace(/^base64-/, ""), "base64url").toString("utf8");
    expect(session).not.toMatch(/client\.example|Baraka|user/);
    expect((await browser.open("/portal")).html).not.toContain(JSON.parse(session).refresh_token);
  });

  test("On a shared computer the session cookie ends with the browser session.", async () => {
    const response = await app.browser().post("/login", { email, password, shared: "on" });
    const cookies = response.headers.getSetCookie().filter((line) => line.startsWith("session"));
    expect(cookies).toHaveLength(1);
    expect(cookies[0]).not.toMatch(/; (Max-Age|Expires)=/i);
  });

  test("A signed-in client who logs in again gets a new session. A wrong password is rejected.", async () => {
    const browser = app.browser();
    await browser.logIn(email);
    const previous = browser.cookies.get("session");
    expect((await browser.post("/login", { email, password: wrongPassword })).status).toBe(400);
    expect((await browser.post("/login", { email, password })).headers.get("Location")).toBe("/portal");
    expect(browser.cookies.get("session")).not.toBe(previous);
  });
});

describe("Page after the login", () => {
  test("After the login, a client is redirected to the requested search, even if the first password was wrong.", async () => {
    const [browser, signedIn] = [app.browser(), app.browser()];
    await signedIn.logIn(email);
    const { action, fields } = (await signedIn.open("/portal")).form("Find");
    const search = `${action}?${new URLSearchParams({ ...(fields as Record<string, string>), q: "coffee" })}`;
    const login = await browser.follow(await browser.get(search));
    const rejected = await parsePage(await browser.submit(login, "Log in", { email, password: wrongPassword }));
    const response = await browser.submit(rejected, "Log in", { email, password });
    expect(response.headers.get("Location")).toBe(search);
    const page = await browser.follow(response);
    expect([page.value("q"), page.toasts[0]?.title]).toEqual(["coffee", "Login Successful"]);
  });

  test("A login with another site's URL as the next page redirects to the portal.", async () => {
    const next = "//evil.example";
    const login = await app.browser().open(`/login?next=${encodeURIComponent(next)}`);
    expect(login.form("Log in").fields.next).toBeUndefined();
    const response = await app.browser().post("/login", { email, password, next });
    expect([response.status, response.headers.get("Location")]).toEqual([303, "/portal"]);
  });
});

describe("Browser without cookies", () => {
  const headers = { Referer: `${origin}/login?next=/portal/new` };
  const noCookies = "This browser blocks cookies";

  test.each(["/portal", "/portal/new", "/login/verify"])(
    "If a browser stores no cookies, the client sees a warning about cookies after a login that redirects to %s.",
    async (path) => {
      const browser = app.browser();
      const response = await browser.get(path, headers);
      browser.cookies.clear();
      const page = await browser.follow(response);
      expect([page.status, page.h1]).toEqual([200, "Client Login"]);
      expect(page.all("[role=alert] h2").map(getText)).toEqual([noCookies]);
      expect(page.form("Log in").fields.next).toBe(path === "/portal/new" ? path : undefined);
    },
  );

  test("After a client allows cookies again, the login page shows no warning about cookies.", async () => {
    const browser = app.browser();
    expect((await browser.open("/login?cookies&next=/portal/new")).text).toContain(noCookies);
    const response = await browser.get("/login?cookies&next=/portal/new");
    expect(response.headers.get("Location")).toBe("/login?next=%2Fportal%2Fnew");
    expect((await browser.follow(response)).text).not.toContain(noCookies);
  });

  test("After signing out, opening the portal from the login page shows no warning about cookies.", async () => {
    const browser = app.browser();
    await browser.logIn(email);
    await browser.follow(await browser.post("/portal/sign-out", {}));
    // After the Back button or a reload, browsers send the login page's Referer header again.
    let response = await browser.get("/portal", headers);
    while (response.status === 303) response = await browser.get(response.headers.get("Location") ?? "");
    const page = await parsePage(response);
    expect([page.h1, page.toasts, page.text.includes(noCookies)]).toEqual(["Client Login", [], false]);
  });

  test.each([`${origin}/`, "https://evil.example/login", `${origin}/login/verify`, ""])(
    "The site does not show a warning about cookies if a visitor comes to the portal from %j.",
    async (Referer) => {
      const response = await app.browser().get("/portal", { Referer });
      expect([response.headers.get("Location"), response.headers.getSetCookie()]).toEqual(["/login", []]);
    },
  );
});
