import process from "node:process";
import { afterEach, beforeAll, describe, expect, test } from "vitest";
import { ambiguousStatuses, faults } from "../support/fault-proxy.ts";
import { readEmailsTo } from "../support/outbox.ts";
import { issueClientIds } from "../support/service-role.ts";
import {
  expectNoInternals,
  getTestApp,
  parsePage,
  password,
  type TestBrowser,
  unavailableText,
} from "../support/test-app.ts";

let app: Awaited<ReturnType<typeof getTestApp>>;
let browser: TestBrowser;
let email: string;
beforeAll(async () => {
  app = await getTestApp();
  browser = app.browser();
  email = await app.browser().signUpAndLogIn("Patient");
});
afterEach(() => app.proxy.fail("none"));

describe("a sign-up is not done, kept, and can be sent again", () => {
  const steps = [
    { step: "while the client ID is checked", of: /\/rpc\/admit_sign_up/ },
    { step: "while the account is made", of: /\/auth\/v1\/signup/ },
    { step: "altogether", of: /./ },
  ];
  const cases = steps.flatMap((step) => faults.map((fault) => ({ ...step, fault })));
  const others = ambiguousStatuses.map((fault) => ({ step: "altogether", of: /./, fault }));
  test.each([...cases, ...others])("when the backend fails $step: $fault", async ({ of, fault, step }) => {
    const [clientId = ""] = await issueClientIds(app.company, 1);
    const typed = {
      clientId,
      fullName: "Akinyi <Odhiambo>",
      email: `${step}-${fault}@client.example`.replace(/ /g, "-"),
    };
    const form = await browser.open("/signup");
    app.proxy.fail(fault, of);
    const page = await parsePage(await browser.submit(form, "Create Account", { ...typed, password }));
    expect([502, 503]).toContain(page.status);
    expect(page.title).toMatch(/^Error: Sign up/);
    expect(page.toasts).toEqual([{ title: "Sign-up Failed", description: unavailableText, variant: "destructive" }]);
    for (const [name, value] of Object.entries(typed)) expect(page.value(name)).toBe(value);
    expect(page.html).not.toContain(password);
    expectNoInternals(page);

    app.proxy.fail("none");
    expect(await readEmailsTo(process.env.DATA_DIR ?? "", typed.email)).toHaveLength(0);
    const again = await browser.submit(page, "Create Account", { password });
    expect((await browser.follow(again)).toasts[0]?.title).toBe("Account Created!");
    expect(await readEmailsTo(process.env.DATA_DIR ?? "", typed.email)).toHaveLength(1);
  });

  test("when its answer was lost; sent again it is the same account, and no second one", async () => {
    const [clientId = ""] = await issueClientIds(app.company, 1);
    const typed = { clientId, fullName: "Lost", email: "lost-answer@client.example", password };
    app.proxy.fail("lost answer", /\/auth\/v1\/signup/);
    const page = await parsePage(await browser.post("/signup", typed));
    expect(page.toasts[0]?.title).toBe("Sign-up Failed");
    app.proxy.fail("none");
    expect((await browser.submit(page, "Create Account", { password })).status).toBe(303);
    await browser.confirmEmail(typed.email);
    await browser.logIn(typed.email);
    expect(await readEmailsTo(process.env.DATA_DIR ?? "", typed.email)).toHaveLength(1);
  });
});

describe("a login is not done, kept, and can be sent again", () => {
  test.each([...faults, ...ambiguousStatuses])("when the backend fails: %s", async (fault) => {
    const person = app.browser();
    const form = await person.open("/login?next=/portal/new");
    app.proxy.fail(fault);
    const page = await parsePage(await person.submit(form, "Log in", { email, password }));
    expect([502, 503]).toContain(page.status);
    expect(page.title).toMatch(/^Error: Client Login/);
    expect(page.toasts).toEqual([{ title: "Sign in Failed", description: unavailableText, variant: "destructive" }]);
    expect(page.value("email")).toBe(email);
    expect(page.html).not.toContain(password);
    expect(person.cookies.has("session")).toBe(false);
    expectNoInternals(page);

    app.proxy.fail("none");
    const again = await person.submit(page, "Log in", { password });
    expect(again.headers.get("Location")).toBe("/portal/new");
  });
});

describe("a confirmation is not done and its button still works", () => {
  const steps = [
    ...[...faults, ...ambiguousStatuses].map((fault) => ({ step: "altogether", of: /./, fault })),
    { step: "as the password is given", of: /grant_type=password/, fault: 500 as const },
    { step: "as the token is looked up", of: /mark_password_proven/, fault: 500 as const },
    { step: "as the token is spent", of: /\/verify$/, fault: 500 as const },
  ];
  test.each(steps)("when the backend fails $step: $fault", async ({ step, of, fault }) => {
    const [clientId = ""] = await issueClientIds(app.company, 1);
    const address = `confirm-${step}-${fault}@client.example`.replace(/ /g, "-");
    const person = app.browser();
    await person.post("/signup", { clientId, fullName: "Confirming", email: address, password });
    person.cookies.delete("flash");
    app.proxy.fail(fault, of);
    const page = await parsePage(await person.confirmEmail(address));
    expect([502, 503]).toContain(page.status);
    expect(page.toasts).toEqual([{ title: "Sign in Failed", description: unavailableText, variant: "destructive" }]);
    expectNoInternals(page);

    app.proxy.fail("none");
    expect(page.value("email")).toBe(address);
    const again = await person.submit(page, "Confirm this address", { password });
    expect((await person.follow(again)).toasts[0]?.title).toBe("E-mail address confirmed");
  });
});

test("a sign-up that auth took counts, even when the backend goes away before its client ID is spent", async () => {
  const [clientId = ""] = await issueClientIds(app.company, 1);
  app.proxy.fail("close", /redeem_client_id/);
  const typed = { clientId, fullName: "Spent", email: "spent-later@client.example", password };
  expect((await app.browser().post("/signup", typed)).headers.get("Location")).toBe("/login");
});

describe("signing out takes the cookie and says that the backend was not told", () => {
  const steps = [
    { step: "at the sign-out", of: /\/logout/ },
    { step: "altogether", of: /./ },
  ];
  const failures = [500, 503, "close", 409, 422, 429, 502, 504] as const;
  test.each(steps.flatMap((step) => failures.map((fault) => ({ ...step, fault }))))(
    "when it fails $step: $fault",
    async ({ of, fault }) => {
      const person = app.browser();
      await person.logIn(email);
      const portal = await person.open("/portal");
      app.proxy.fail(fault, of);
      const answer = await person.submit(portal, "Sign out");
      expect(answer.status).toBe(303);
      expect(person.cookies.has("session")).toBe(false);
      const login = await person.follow(answer);
      expect(login.h1).toBe("Client Login");
      expect(login.toasts).toEqual([
        {
          title: "Sign out Failed",
          description: expect.stringContaining("You are signed out on this device."),
          variant: "destructive",
        },
      ]);
      expectNoInternals(login);
      app.proxy.fail("none");
      expect((await person.get("/portal")).headers.get("Location")).toBe("/login");
    },
  );

  test.each(["html", "half json"] as const)("and takes the cookie whatever nonsense it answers: %s", async (fault) => {
    const person = app.browser();
    await person.logIn(email);
    app.proxy.fail(fault);
    const login = await person.follow(await person.post("/portal/sign-out", {}));
    expect(person.cookies.has("session")).toBe(false);
    expect(login.h1).toBe("Client Login");
    expectNoInternals(login);
  });
});
