import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { Authenticator } from "../support/authenticator.ts";
import {
  type FormValues,
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
beforeEach(() => app.proxy.fail("none"));

/** Presses "Set up 2FA" and returns the page with the secret and an authenticator that knows it. */
async function startSetup(browser: TestBrowser): Promise<{ page: ParsedPage; authenticator: Authenticator }> {
  const page = await parsePage(await browser.submit(await browser.open("/portal/2fa"), "Set up 2FA"));
  const link = page.all("a").find((one) => one.getAttribute("href")?.startsWith("otpauth:"));
  return { page, authenticator: Authenticator.fromUri(link?.getAttribute("href") ?? "") };
}

/** A new client with 2FA, in a browser that has given the code. */
async function newProtectedClient(name: string) {
  const browser = app.browser();
  const email = await browser.signUpAndLogIn(name);
  const { page, authenticator } = await startSetup(browser);
  const response = await browser.submit(page, "Enable 2FA", { code: await authenticator.freshCode() });
  expect(response.headers.get("Location")).toBe("/portal");
  return { browser, email, authenticator };
}

/** A second browser of the client that has given the password and not the code. */
async function logInWithoutCode(email: string): Promise<TestBrowser> {
  const browser = app.browser();
  const response = await browser.post("/login", { email, password });
  expect(response.headers.get("Location")).toBe("/login/verify");
  return browser;
}

describe("setting up", () => {
  test("shows the QR code, the secret in groups of four, an otpauth link and a field for the code", async () => {
    const browser = app.browser();
    const email = await browser.signUpAndLogIn("Setup");
    const { page, authenticator } = await startSetup(browser);
    expect(page.h1).toBe("Set up 2FA");
    expect(page.all("[role=img] svg")).toHaveLength(1);
    const uri = page.all("a").find((one) => one.getAttribute("href")?.startsWith("otpauth:"));
    const address = new URL(uri?.getAttribute("href") ?? "");
    expect(decodeURIComponent(address.pathname)).toContain(email);
    const secret = address.searchParams.get("secret") ?? "";
    expect(page.text).toContain((secret.match(/.{4}/g) ?? []).join(" "));
    const [field] = page.all("input[name=code]");
    expect(field?.getAttribute("inputmode")).toBe("numeric");
    expect(field?.getAttribute("autocomplete")).toBe("one-time-code");
    expect(page.headers.get("Cache-Control")).toMatch(noStorePattern);

    const code = await authenticator.freshCode();
    const done = await browser.submit(page, "Enable 2FA", { code: ` ${code.slice(0, 3)} ${code.slice(3)} ` });
    const next = await browser.follow(done);
    expect(next.toasts).toContainEqual({
      title: "2FA Enabled!",
      description: "Your account is now more secure.",
      variant: "default",
    });
    expect((await browser.open("/portal/2fa")).text).toContain("Authenticator, ");
  });

  test("a wrong code keeps the same secret on the page and says what the catalogue says", async () => {
    const browser = app.browser();
    await browser.signUpAndLogIn("Wrong");
    const { page, authenticator } = await startSetup(browser);
    const refused = await parsePage(
      await browser.submit(page, "Enable 2FA", { code: await authenticator.wrongCode() }),
    );
    expect(refused.status).toBe(400);
    expect(refused.title).toMatch(/^Error: /);
    expect(refused.toasts).toContainEqual({
      title: "Verification failed",
      description: "The code is incorrect. Please try again.",
      variant: "destructive",
    });
    expect(refused.value("secret")).toBe(page.value("secret"));
    expect(refused.value("code")).toBe("");
    const again = await browser.submit(refused, "Enable 2FA", { code: await authenticator.freshCode() });
    expect(again.headers.get("Location")).toBe("/portal");
  });

  test.each(["", "12345", "1234567", "abcdef", "12 34"])("the code %j is refused before it is sent", async (code) => {
    const browser = app.browser();
    await browser.signUpAndLogIn("Shape");
    const { page } = await startSetup(browser);
    const calls = app.proxy.calls.length;
    const refused = await parsePage(await browser.submit(page, "Enable 2FA", { code }));
    expect(refused.status).toBe(400);
    expect(refused.problems.map(({ id }) => refused.has(id))).toEqual([true]);
    expect(app.proxy.calls.slice(calls).filter((call) => call.includes("/verify"))).toEqual([]);
  });

  test("a second try after leaving half-way works, and so do two tabs: the one verified first stays", async () => {
    const browser = app.browser();
    await browser.signUpAndLogIn("Tabs");
    const first = await startSetup(browser);
    const second = await startSetup(browser);
    const late = await parsePage(
      await browser.submit(first.page, "Enable 2FA", { code: await first.authenticator.freshCode() }),
    );
    expect(late.status).toBe(409);
    expect(late.toasts).toEqual([
      {
        title: "Error challenging",
        description:
          "This authenticator is not known any more: another window removed it or began a new one. Start again.",
        variant: "destructive",
      },
    ]);
    expect(late.has("confirm-2fa-code")).toBe(false);
    expect(late.form("Set up 2FA").fields).toEqual({ begin: "" });
    const done = await browser.submit(second.page, "Enable 2FA", { code: await second.authenticator.freshCode() });
    expect(done.headers.get("Location")).toBe("/portal");
  });

  test.each([
    ["a secret of 60 KB", { secret: "A".repeat(60_000) }],
    ["a secret that is none", { secret: "<b>" }],
    ["no secret", { secret: "" }],
    ["a factor that is none", { factorId: "x".repeat(60_000) }],
  ])("a form with %s is refused before it is used, and can be begun again", async (_what, damage) => {
    const browser = app.browser();
    await browser.signUpAndLogIn("Damaged");
    const { page, authenticator } = await startSetup(browser);
    const code = await authenticator.freshCode();
    const refused = await parsePage(await browser.submit(page, "Enable 2FA", { code, ...damage }));
    expect(refused.status).toBe(400);
    expect(refused.toasts[0]).toMatchObject({ title: "Verification failed", variant: "destructive" });
    expect(refused.html.length).toBeLessThan(30_000);
    expect((await parsePage(await browser.submit(refused, "Set up 2FA"))).h1).toBe("Set up 2FA");
  });

  test("set-ups begun at the same moment succeed or are told to start again", async () => {
    const browser = app.browser();
    await browser.signUpAndLogIn("Many");
    const form = await browser.open("/portal/2fa");
    const pages = await Promise.all(
      Array.from({ length: 4 }, async () => parsePage(await browser.submit(form, "Set up 2FA"))),
    );
    for (const page of pages) {
      expect([200, 409]).toContain(page.status);
      if (page.status === 409) expect(page.toasts[0]?.description).toMatch(/Start again\.$/);
    }
  });

  test.each([
    ["POST /auth/v1/factors$", "Set up 2FA", "Error setting up 2FA"],
    ["/challenge$", "Enable 2FA", "Error challenging"],
    ["/verify$", "Enable 2FA", "Verification failed"],
  ])("when %s fails, the toast of the catalogue says so and the same form works later", async (call, button, title) => {
    const browser = app.browser();
    await browser.signUpAndLogIn("Fault");
    const begun = button === "Set up 2FA" ? null : await startSetup(browser);
    const page = begun?.page ?? (await browser.open("/portal/2fa"));
    const typed: FormValues = begun ? { code: await begun.authenticator.freshCode() } : {};
    app.proxy.fail(500, new RegExp(call));
    const refused = await parsePage(await browser.submit(page, button, typed));
    expect(refused.status).toBe(503);
    expect(refused.toasts.map((toast) => toast.title)).toContain(title);
    app.proxy.fail("none");
    const again = await browser.submit(begun ? refused : page, button, typed);
    expect(again.status).toBe(begun ? 303 : 200);
  });
});

describe("a session without the code", () => {
  test("is sent to the code by every portal page and every data request, and sees nothing of them", async () => {
    const { browser, email } = await newProtectedClient("Locked");
    const shipment = await browser.createShipment("Nobody may read this");
    const half = await logInWithoutCode(email);
    for (const path of ["/portal", "/portal/new", "/portal/2fa", shipment, "/portal.data", `${shipment}.data`]) {
      const response = await half.get(path);
      const body = await response.text();
      expect(body).not.toContain("Nobody may read this");
      const target = response.headers.get("Location") ?? body;
      expect(target, path).toContain("/login/verify");
      expect(response.headers.get("Cache-Control"), path).toBe("private, no-store");
    }
    const login = await half.get("/login?next=/portal/new");
    expect(login.headers.get("Location")).toBe("/login/verify?next=%2Fportal%2Fnew");
    const posted = await half.post("/portal/new", { name: "Mine", idempotencyKey: crypto.randomUUID() });
    expect(posted.headers.get("Location")).toContain("/login/verify");
    expect((await browser.open("/portal")).text).not.toContain("Mine");
  });

  test("gets in with the code, to the page it asked for, once per code", async () => {
    const { browser, email, authenticator } = await newProtectedClient("Enter");
    const shipment = await browser.createShipment("Tea");
    const half = await logInWithoutCode(email);
    const asked = await half.get(shipment);
    expect(asked.headers.get("Location")).toBe(`/login/verify?next=${encodeURIComponent(shipment)}`);
    const page = await half.follow(asked);
    expect(page.headers.get("X-Robots-Tag")).toBe("noindex");
    const used = await parsePage(await half.submit(page, "Verify", { code: await authenticator.lastCode() }));
    expect(used.status).toBe(400);
    expect(used.toasts[0]).toEqual({
      title: "Verification failed",
      description: "This code was entered before. Wait for the next one.",
      variant: "destructive",
    });
    const entered = await half.submit(used, "Verify", { code: await authenticator.freshCode() });
    expect(entered.headers.get("Location")).toBe(shipment);
    expect((await half.follow(entered)).toasts).toContainEqual(expect.objectContaining({ title: "Login Successful" }));
  });

  test("is not let in by a cookie that claims aal2", async () => {
    const { email } = await newProtectedClient("Forged");
    const half = await logInWithoutCode(email);
    const cookie = decodeURIComponent(half.cookies.get("session") ?? "");
    const session = JSON.parse(Buffer.from(cookie.replace("base64-", ""), "base64url").toString("utf8"));
    const [header, payload = "", signature] = String(session.access_token).split(".");
    const claims = { ...JSON.parse(Buffer.from(payload, "base64url").toString("utf8")), aal: "aal2" };
    const forged = `${header}.${Buffer.from(JSON.stringify(claims)).toString("base64url")}.${signature}`;
    const value = Buffer.from(JSON.stringify({ ...session, access_token: forged })).toString("base64url");
    half.cookies.set("session", `base64-${value}`);
    expect((await half.get("/portal")).headers.get("Location")).toBe("/login");
  });

  test("is told when too many codes were wrong", async () => {
    const { email, authenticator } = await newProtectedClient("Paused");
    const half = await logInWithoutCode(email);
    const page = await half.open("/login/verify");
    for (let wrong = 0; wrong < 5; wrong += 1)
      await half.submit(page, "Verify", { code: await authenticator.wrongCode() });
    const paused = await parsePage(await half.submit(page, "Verify", { code: await authenticator.freshCode() }));
    expect(paused.status).toBe(429);
    expect(paused.toasts[0]?.description).toBe("Too many wrong codes. Try again in 15 minutes.");
  });
});

test("the code page says whom to call about a lost authenticator, as a link to press", async () => {
  const { email } = await newProtectedClient("Lost");
  const page = await (await logInWithoutCode(email)).open("/login/verify");
  const [call] = page.all("main a");
  expect(call?.getAttribute("href")).toBe("tel:+254700000001");
  expect(page.text).toContain("Call +254 700 000 001: staff can take it off");
});

test("the code page is for those who need it: others are sent where they belong", async () => {
  expect((await app.browser().get("/login/verify")).headers.get("Location")).toBe("/login");
  const browser = app.browser();
  await browser.signUpAndLogIn("No factor");
  expect((await browser.get("/login/verify")).headers.get("Location")).toBe("/portal");
});

test("whoever has one authenticator is told to add the one of a new phone before the old one is removed", async () => {
  const browser = app.browser();
  await browser.signUpAndLogIn("New phone");
  const advice = "A new phone? Add it here first, then remove the old one with a code of it.";
  for (const [factors, isTold] of [false, true, false].entries()) {
    const page = await browser.open("/portal/2fa");
    expect([factors, page.all("main li").length, page.text.includes(advice)]).toEqual([factors, factors, isTold]);
    const button = factors === 0 ? "Set up 2FA" : "Add another authenticator";
    const begun = await parsePage(await browser.submit(page, button));
    const uri = begun.all("a").find((one) => one.getAttribute("href")?.startsWith("otpauth:"));
    const authenticator = Authenticator.fromUri(uri?.getAttribute("href") ?? "");
    await browser.submit(begun, "Enable 2FA", { code: await authenticator.freshCode() });
  }
});

test("removing a factor asks for a fresh code of it; another account's factor is a 404", async () => {
  const mine = await newProtectedClient("Remover");
  const theirs = await newProtectedClient("Stranger");
  const linkOf = async (browser: TestBrowser) =>
    (await browser.open("/portal/2fa"))
      .all("a")
      .map((link) => link.getAttribute("href") ?? "")
      .find((href) => href.startsWith("/portal/2fa/")) ?? "";
  expect((await mine.browser.get(await linkOf(theirs.browser))).status).toBe(404);
  const page = await mine.browser.open(await linkOf(mine.browser));
  const refused = await parsePage(
    await mine.browser.submit(page, "Remove", { code: await mine.authenticator.lastCode() }),
  );
  expect(refused.toasts[0]?.title).toBe("Verification failed");
  const removed = await mine.browser.submit(refused, "Remove", { code: await mine.authenticator.freshCode() });
  expect(removed.headers.get("Location")).toBe("/portal");
  const response = await app.browser().post("/login", { email: mine.email, password });
  expect(response.headers.get("Location")).toBe("/portal");
});

test("twenty requests with one expired token make one refresh, and all are answered", async () => {
  const browser = app.browser();
  await browser.signUpAndLogIn("Parallel");
  const cookie = decodeURIComponent(browser.cookies.get("session") ?? "");
  const session = JSON.parse(Buffer.from(cookie.replace("base64-", ""), "base64url").toString("utf8"));
  const expired = JSON.stringify({ ...session, expires_at: Math.floor(Date.now() / 1000) - 60 });
  const value = `base64-${Buffer.from(expired).toString("base64url")}`;
  const calls = app.proxy.calls.length;
  const statuses = await Promise.all(
    Array.from({ length: 20 }, async () => {
      const tab = app.browser();
      tab.cookies.set("session", value);
      return (await tab.get("/portal")).status;
    }),
  );
  expect(statuses).toEqual(Array(20).fill(200));
  expect(app.proxy.calls.slice(calls).filter((call) => call.includes("refresh_token"))).toHaveLength(1);
});
