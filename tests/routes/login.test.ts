import postgres from "postgres";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { readEmailsTo } from "../support/outbox.ts";
import { newClient } from "../support/route-fixtures.ts";
import { issueClientIds } from "../support/service-role.ts";
import { closeAccount, resultOrThrow } from "../support/staff-actions.ts";
import {
  type FormValues,
  getTestApp,
  getText,
  noStorePattern,
  origin,
  parsePage,
  password,
} from "../support/test-app.ts";

let app: Awaited<ReturnType<typeof getTestApp>>;
let email: string;
let shipment: string;
let sql: postgres.Sql;
beforeAll(async () => {
  app = await getTestApp();
  sql = postgres(process.env.TESTS_DATABASE_URL ?? "", { max: 1, onnotice: () => undefined });
  const browser = app.browser();
  email = await browser.signUpAndLogIn("Baraka");
  shipment = await browser.createShipment("Coffee");
});
afterAll(() => sql.end());

/** Sends the login form of a new visitor and reads the page it answers. */
async function submitRejected(typed: { email?: string; password?: string }) {
  const browser = app.browser();
  const page = await parsePage(await browser.submit(await browser.open("/login"), "Log in", typed));
  return { page, browser };
}

describe("a login with something missing or too long", () => {
  test.each([
    { what: "no e-mail address", email: "", password, words: ["Enter your e-mail address."] },
    {
      what: "something that is no e-mail address",
      email: "baraka@",
      password,
      words: ["Enter an e-mail address in the form name@example.com."],
    },
    {
      what: "an e-mail address of 255 characters",
      email: `${"b".repeat(240)}@client.example`,
      password,
      words: ["Use at most 254 characters for the e-mail address."],
    },
    { what: "no password", email: "baraka@client.example", password: "", words: ["Enter your password."] },
    {
      what: "a password of 73 bytes",
      email: "baraka@client.example",
      password: "p".repeat(73),
      words: ["This password is too long to be yours: at most 72 characters."],
    },
    { what: "nothing at all", email: "", password: "", words: ["Enter your e-mail address.", "Enter your password."] },
  ])("is refused for $what, beside the field and above, without asking the backend", async (typed) => {
    const calls = await app.proxy.during(async () => {
      const { page, browser } = await submitRejected({ email: typed.email, password: typed.password });
      expect(page.status).toBe(400);
      expect(page.headers.get("Cache-Control") ?? "").toMatch(noStorePattern);
      expect(page.title).toMatch(/^Error: Client Login/);
      expect(page.toasts).toEqual([{ title: "Login Failed", description: typed.words[0], variant: "destructive" }]);
      expect(page.problems.map(({ text }) => text)).toEqual(typed.words);
      for (const { id } of page.problems) expect(page.has(id), id).toBe(true);
      expect([...page.saidOf("email"), ...page.saidOf("password")]).toEqual(typed.words);
      expect(page.value("email")).toBe(typed.email);
      expect(page.value("password")).toBe("");
      if (typed.password) expect(page.html).not.toContain(typed.password);
      expect(browser.cookies.has("session")).toBe(false);
    });
    expect(calls).toEqual([]);
  });
});

describe("who may not log in", () => {
  test("looks the same with a wrong password and with an unknown address", async () => {
    const wrong = await submitRejected({ email, password: "not the password" });
    const unknown = await submitRejected({ email: email.replace("baraka", "nobody"), password: "not the password" });
    for (const { page, browser } of [wrong, unknown]) {
      expect(page.status).toBe(400);
      expect(page.title).toMatch(/^Error: /);
      expect(page.toasts).toEqual([
        {
          title: "Login Failed",
          description: "The e-mail address or the password is not right.",
          variant: "destructive",
        },
      ]);
      expect(page.problems).toEqual([{ id: "login-email", text: "The e-mail address or the password is not right." }]);
      expect(page.html).not.toContain("not the password");
      expect(browser.cookies.has("session")).toBe(false);
    }
    expect(wrong.page.value("email")).toBe(email);
    expect(wrong.page.text).toBe(unknown.page.text);
  });

  test("looks the same with the right password of a closed account, and auth is asked twice, as a hash takes its time", async () => {
    const closed = await newClient(app, "Closed Login");
    resultOrThrow(await closeAccount(app.company, closed.id, "They left"));
    /** The page that a login gets, and what auth was asked for it. */
    async function asked(typed: { email: string; password: string }) {
      const before = app.proxy.bodies.length;
      const { page, browser } = await submitRejected(typed);
      const calls = app.proxy.bodies.slice(before).filter((call) => call.includes("grant_type=password"));
      return { page, browser, calls };
    }
    const wrong = await asked({ email, password: "not the password" });
    const unknown = await asked({ email: "nobody-at-all@client.example", password });
    const right = await asked({ email: closed.email, password });
    const both = await asked({ email: closed.email, password: "not the password" });
    expect([wrong, unknown, right, both].map(({ calls }) => calls.length)).toEqual([1, 1, 2, 2]);
    for (const { page, browser } of [unknown, right, both]) {
      expect([page.status, page.toasts, page.text]).toEqual([400, wrong.page.toasts, wrong.page.text]);
      expect(browser.cookies.has("session")).toBe(false);
    }
    // The second time about nobody, with the password that was given.
    const [first = "", second = ""] = right.calls;
    expect([first.includes(closed.email), second.includes(closed.email), second.includes(password)]).toEqual([
      true,
      false,
      true,
    ]);
  });

  test.each([400, 429, 500, 503, "html"] as const)("makes auth be asked once when it fails: %s", async (fault) => {
    app.proxy.fail(fault, /grant_type=password/);
    const calls = await app.proxy.during(async () => {
      const { page } = await submitRejected({ email, password });
      expect(page.status).toBeGreaterThanOrEqual(400);
    });
    app.proxy.fail("none");
    expect(calls.filter((call) => call.includes("grant_type=password"))).toHaveLength(1);
  });

  test("keeps the tick of a shared computer and the page that was asked for, whatever was wrong", async () => {
    const mistakes: FormValues[] = [{ email }, { email, password: "not the password" }, { email: "", password }];
    for (const wrong of mistakes) {
      const person = app.browser();
      const page = await person.open("/login?next=/portal/new");
      const refused = await parsePage(await person.submit(page, "Log in", { ...wrong, shared: "on" }));
      expect(refused.form("Log in").fields).toMatchObject({ shared: "on", next: "/portal/new" });
      const entered = await person.submit(refused, "Log in", { email, password });
      expect(entered.headers.get("Location")).toBe("/portal/new");
      expect(entered.headers.getSetCookie().find((line) => line.startsWith("session="))).not.toMatch(/max-age/i);
      const unticked = await parsePage(await app.browser().submit(page, "Log in", wrong));
      expect(unticked.form("Log in").fields).not.toHaveProperty("shared");
    }
  });

  test("hears of an unconfirmed address only with its password", async () => {
    const [clientId = ""] = await issueClientIds(app.company, 1);
    const waiting = "waiting-for-login@client.example";
    await app.browser().post("/signup", { clientId, fullName: "Waiting", email: waiting, password });
    const guess = await submitRejected({ email: waiting, password: "not the password" });
    expect(guess.page.toasts[0]?.description).toBe("The e-mail address or the password is not right.");
    const right = await submitRejected({ email: waiting, password });
    expect(right.page.status).toBe(400);
    expect(right.page.toasts).toEqual([
      { title: "Login Failed", description: expect.stringContaining("is not confirmed yet."), variant: "destructive" },
    ]);
    expect(right.browser.cookies.has("session")).toBe(false);
    // The right password is no guess, however often it is given.
    for (let again = 0; again < 6; again += 1) {
      const form = await right.browser.open("/login");
      expect((await right.browser.submit(form, "Log in", { email: waiting, password })).status).toBe(400);
    }
  });
});

test("an unconfirmed address hears whether its link was mailed again, and is not told so of a mail that never left", async () => {
  const [clientId = ""] = await issueClientIds(app.company, 1);
  const waiting = "waiting-for-the-mail@client.example";
  await app.browser().post("/signup", { clientId, fullName: "Waiting", email: waiting, password });
  const mails = async () => (await readEmailsTo(process.env.DATA_DIR ?? "", waiting)).length;
  const mailed = await mails();
  const toldAtLogin = async () => (await submitRejected({ email: waiting, password })).page.toasts[0]?.description;
  const notSent =
    "Your e-mail address is not confirmed yet. The link that we mailed you holds: open it, then log in. If it is lost, log in again in a few minutes, and we send it again.";
  expect([await toldAtLogin(), await mails()]).toEqual([notSent, mailed]);

  const minuteAgo = () =>
    sql`update auth.users set confirmation_sent_at = now() - interval '61 seconds' where email = ${waiting}`;
  await minuteAgo();
  for (const fault of [500, "close"] as const) {
    app.proxy.fail(fault, /\/resend/);
    expect([fault, await toldAtLogin()]).toEqual([fault, notSent]);
  }
  app.proxy.fail("none");
  expect(await mails()).toBe(mailed);

  expect([await toldAtLogin(), await mails()]).toEqual([
    "Your e-mail address is not confirmed yet. We have sent you the link again: open it, then log in.",
    mailed + 1,
  ]);
});

describe("a login that is right", () => {
  test("leads to the portal, which says so once", async () => {
    const browser = app.browser();
    const answer = await browser.submit(await browser.open("/login"), "Log in", { email, password });
    expect(answer.status).toBe(303);
    expect(answer.headers.get("Location")).toBe("/portal");
    expect(answer.headers.get("Cache-Control") ?? "").toMatch(noStorePattern);
    const portal = await browser.follow(answer);
    expect(portal.toasts.slice(0, 1)).toEqual([{ title: "Login Successful", description: "", variant: "default" }]);
    expect((await browser.open("/portal")).toasts).toEqual([]);
  });

  test("takes the address in any case and with blanks around it", async () => {
    const answer = await app.browser().post("/login", { email: `  ${email.toUpperCase()} `, password });
    expect(answer.headers.get("Location")).toBe("/portal");
  });

  test("keeps the session in one cookie that no script reads and that holds nothing about the person", async () => {
    const browser = app.browser();
    const answer = await browser.post("/login", { email, password });
    const lines = answer.headers.getSetCookie().filter((line) => line.startsWith("session"));
    expect(lines).toHaveLength(1);
    expect((lines[0] ?? "").split("; ").slice(1)).toEqual(
      expect.arrayContaining(["Path=/", "HttpOnly", "SameSite=Lax", `Max-Age=${30 * 24 * 60 * 60}`]),
    );
    expect(lines[0]).not.toMatch(/; (Secure|Domain)/i);
    const value = browser.cookies.get("session") ?? "";
    const kept = Buffer.from(value.replace(/^base64-/, ""), "base64url").toString("utf8");
    expect(Object.keys(JSON.parse(kept))).toEqual(expect.arrayContaining(["access_token", "refresh_token"]));
    expect(kept).not.toMatch(/client\.example|Baraka|user/);
    expect((await browser.open("/portal")).html).not.toContain(JSON.parse(kept).refresh_token);
  });
});

describe("after the login", () => {
  test("a person comes to the portal page they asked for before", async () => {
    const browser = app.browser();
    const asked = await browser.get(shipment);
    expect(asked.status).toBe(303);
    expect(asked.headers.get("Location")).toBe(`/login?next=${encodeURIComponent(shipment)}`);
    const login = await browser.follow(asked);
    const answer = await browser.submit(login, "Log in", { email, password });
    expect(answer.headers.get("Location")).toBe(shipment);
    const page = await browser.follow(answer);
    expect(page.h1).toBe("Coffee");
    expect(page.toasts[0]?.title).toBe("Login Successful");
  });

  test("a person who mistyped their password first comes there too", async () => {
    const browser = app.browser();
    const login = await browser.follow(await browser.get("/portal?page=2"));
    const again = await parsePage(await browser.submit(login, "Log in", { email, password: "mistyped" }));
    const answer = await browser.submit(again, "Log in", { email, password });
    expect(answer.headers.get("Location")).toBe("/portal?page=2");
  });

  test("a person comes back to what they searched for, as the form of the search writes it", async () => {
    const [browser, other] = [app.browser(), app.browser()];
    await other.logIn(email);
    const { action, fields } = (await other.open("/portal")).form("Find");
    const search = `${action}?${new URLSearchParams({ ...(fields as Record<string, string>), q: "coffee" })}`;
    expect(search).toMatch(/^\/portal\?(?=.*\bq=coffee\b)(?=.*\bwaiting=(&|$))(?=.*\bstage=(&|$))/);
    const asked = await browser.get(search);
    expect(asked.headers.get("Location")).toBe(`/login?next=${encodeURIComponent(search)}`);
    const answer = await browser.submit(await browser.follow(asked), "Log in", { email, password });
    expect(answer.headers.get("Location")).toBe(search);
    expect((await browser.follow(answer)).value("q")).toBe("coffee");
  });

  test("a person whose session ended while they filled in a form comes back to the form", async () => {
    const browser = app.browser();
    const ended = await browser.post("/portal/new", { name: "Lost" });
    const answer = await browser.submit(await browser.follow(ended), "Log in", { email, password });
    expect((await browser.follow(answer)).h1).toBe("Create Shipment");
  });

  test.each([
    "//evil.example",
    "/\\evil.example",
    "\\\\evil.example",
    "https://evil.example",
    "https://evil.example/portal",
    "/portal/../x",
    "/portal/..%2fx",
    "/portal//evil.example",
    "/portal\n",
    "/portal\t/x",
    "/portal@evil.example",
    "/portal.evil.example",
    "/portal?next=//evil.example",
    "/login",
    " /portal/new",
    "javascript:alert(1)",
    "data:text/html,x",
    "",
  ])("nobody is sent to %j", async (next) => {
    const browser = app.browser();
    const login = await browser.open(`/login?next=${encodeURIComponent(next)}`);
    expect(login.form("Log in").fields.next).toBeUndefined();
    const answer = await browser.post("/login", { email, password, next });
    expect(answer.status).toBe(303);
    expect(answer.headers.get("Location")).toBe("/portal");
  });

  test("two answers to `next` smuggle nothing in: the form is refused", async () => {
    const body = new URLSearchParams([
      ["email", email],
      ["password", password],
      ["next", "/portal/new"],
    ]);
    body.append("next", "//evil.example");
    const answer = await app.browser().post("/login", body);
    expect([answer.status, answer.headers.get("Location")]).toEqual([400, null]);
    expect(answer.headers.getSetCookie().join()).not.toContain("session=");
  });
});

describe("somebody who is signed in and opens the login or the sign-up", () => {
  const client = async () => {
    const browser = app.browser();
    await browser.logIn(email);
    return browser;
  };

  test.each([
    ["/login", "/portal"],
    ["/signup", "/portal"],
    ["/login?next=/portal/new", "/portal/new"],
    ["/login?next=//evil.example", "/portal"],
  ])("is sent on from %s", async (path, to) => {
    const answer = await (await client()).get(path);
    expect([answer.status, answer.headers.get("Location")]).toEqual([303, to]);
    expect(answer.headers.get("Cache-Control") ?? "").toMatch(noStorePattern);
  });

  test("hears in the portal what the login would have said", async () => {
    const browser = await client();
    await browser.post("/actions/forgot-password", {});
    const page = await browser.follow(await browser.get("/login"));
    expect(page.h1).toBe("My Shipments");
    expect(page.toasts[0]?.title).toBe("Feature coming soon!");
    expect(browser.cookies.has("flash")).toBe(false);
  });

  test("can still log in, as somebody else too, and is told when the password is wrong", async () => {
    const browser = await client();
    const before = browser.cookies.get("session");
    expect((await browser.post("/login", { email, password: "mistyped" })).status).toBe(400);
    expect((await browser.post("/login", { email, password })).headers.get("Location")).toBe("/portal");
    expect(browser.cookies.get("session")).not.toBe(before);
  });

  test("gets the form once the session is over, and loses its cookie", async () => {
    const browser = await client();
    const session = browser.cookies.get("session") ?? "";
    await browser.post("/portal/sign-out", {});
    for (const dead of [session, "forged", "base64-e30"]) {
      for (const path of ["/login", "/signup"]) {
        browser.cookies.clear();
        browser.cookies.set("session", dead);
        const page = await browser.open(path);
        expect([page.status, page.all("main form").length > 0]).toEqual([200, true]);
        expect(page.all("header nav a, footer a").map(getText)).not.toContain("My Shipments");
        expect(browser.cookies.has("session")).toBe(false);
      }
    }
  });

  test("gets the form while nobody can tell, and keeps the session", async () => {
    const browser = await client();
    app.proxy.fail(503, /get_viewer/);
    const page = await browser.open("/login");
    app.proxy.fail("none");
    expect([page.status, page.h1]).toEqual([200, "Client Login"]);
    expect((await browser.get("/login")).headers.get("Location")).toBe("/portal");
  });
});

describe("a browser that keeps no cookies", () => {
  const login = { Referer: `${origin}/login?next=/portal/new` };
  const noCookies = "This browser keeps no cookies";

  test.each(["/portal", "/portal/new", "/login/verify"])("is told so when a right login leads to %s", async (path) => {
    const browser = app.browser();
    const back = await browser.get(path, login);
    expect(back.headers.get("Cache-Control") ?? "").toMatch(noStorePattern);
    browser.cookies.clear();
    const page = await browser.follow(back);
    expect([page.status, page.h1]).toEqual([200, "Client Login"]);
    expect(page.all("[role=alert] h2").map(getText)).toEqual([noCookies]);
    expect(page.form("Log in").fields.next).toBe(path === "/portal/new" ? path : undefined);
  });

  test("is told so by script too", async () => {
    const browser = app.browser();
    const back = await browser.get("/portal.data", login);
    expect(await back.text()).toContain("/login?cookies");
    browser.cookies.clear();
    expect(await (await browser.get("/login.data?cookies")).text()).toMatch(/"noCookies",true/);
  });

  test("is told so until it keeps them, and comes to the plain login then", async () => {
    const browser = app.browser();
    expect((await browser.open("/login?cookies&next=/portal/new")).text).toContain(noCookies);
    const again = await browser.get("/login?cookies&next=/portal/new");
    expect(again.headers.get("Location")).toBe("/login?next=%2Fportal%2Fnew");
    expect((await browser.follow(again)).text).not.toContain(noCookies);
  });

  test("is not suspected in a person who is signed out and comes back from the portal's address", async () => {
    const browser = app.browser();
    await browser.logIn(email);
    await browser.follow(await browser.post("/portal/sign-out", {}));
    // After Back or a reload, the Referer is still the login.
    let answer = await browser.get("/portal", login);
    while (answer.status === 303) answer = await browser.get(answer.headers.get("Location") ?? "");
    const page = await parsePage(answer);
    expect([page.h1, page.toasts]).toEqual(["Client Login", []]);
    expect(page.text).not.toContain(noCookies);
  });

  test.each([`${origin}/`, "https://evil.example/login", `${origin}/login/verify`, "/login", ""])(
    "is not suspected in who comes from %j",
    async (Referer) => {
      const answer = await app.browser().get("/portal", { Referer });
      expect([answer.headers.get("Location"), answer.headers.getSetCookie()]).toEqual(["/login", []]);
    },
  );
});

test("'Forgot password?' only says that it is coming", async () => {
  const browser = app.browser();
  const answer = await browser.submit(await browser.open("/login"), "Forgot password?");
  expect(answer.status).toBe(303);
  expect(answer.headers.get("Location")).toBe("/login");
  const page = await browser.follow(answer);
  expect(page.toasts).toEqual([{ title: "Feature coming soon!", description: "", variant: "default" }]);
  expect((await browser.open("/login")).toasts).toEqual([]);
});

test("the form shows what the specification asks for", async () => {
  const page = await app.browser().open("/login");
  expect(page.all("main label").slice(0, 2).map(getText)).toEqual(["Email", "Password"]);
  const { fields } = page.form("Log in");
  expect(fields).toMatchObject({ email: "", password: "" });
  expect(page.all("main [name=password]").map((input) => input.getAttribute("type"))).toEqual(["password"]);
  expect(page.all("main a").map((link) => link.getAttribute("href"))).toEqual([
    "tel:+254700000001",
    "mailto:nairobi@mizigo.example",
    "/signup",
    "/additional-info#identity-check",
  ]);
});
