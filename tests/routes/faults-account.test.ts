import { afterEach, describe, expect, test } from "vitest";
import { allFaults, ambiguousStatuses, faults } from "../support/fault-proxy.ts";
import { countEmailsTo, newEmailAddress } from "../support/route-fixtures.ts";
import { issueClientIds } from "../support/service-role.ts";
import {
  expectNoInternals,
  getTestApp,
  type ParsedPage,
  parsePage,
  password,
  type TestBrowser,
  unavailableText,
} from "../support/test-app.ts";

const app = await getTestApp();
const email = await app.browser().signUpAndLogIn("Patient");
let browser: TestBrowser;
afterEach(() => app.proxy.fail("none"));

/** Returns complete fields of a sign-up, without the password. */
async function newSignUp(fullName = "Akinyi <Odhiambo>") {
  browser = app.browser();
  const [clientId = ""] = await issueClientIds(app.company, 1);
  return { clientId, fullName, email: newEmailAddress("Patient", "client.example") };
}

/** Expects an error page whose toast has this title and says that the backend is unavailable. */
function expectFailure(page: ParsedPage, title: string): void {
  expect([502, 503]).toContain(page.status);
  expect(page.title).toMatch(/^Error: /);
  expect(page.toasts).toEqual([{ title, description: unavailableText, variant: "destructive" }]);
  expect(page.html).not.toContain(password);
  expectNoInternals(page);
}

describe("sign-up while the backend fails", () => {
  const steps = [
    { step: "the check of the client ID", call: /\/rpc\/admit_sign_up/ },
    { step: "the creation of the account", call: /\/auth\/v1\/signup/ },
    { step: "everything", call: /./ },
  ];
  test.each([
    ...steps.flatMap((step) => faults.map((fault) => ({ ...step, fault }))),
    ...ambiguousStatuses.map((fault) => ({ step: "everything", call: /./, fault })),
  ])("A sign-up stays in its form when $step fails with $fault, and can be sent again", async ({ call, fault }) => {
    const typed = await newSignUp();
    const form = await browser.open("/signup");
    app.proxy.fail(fault, call);
    const page = await parsePage(await browser.submit(form, "Create Account", { ...typed, password }));
    expectFailure(page, "Sign-up Failed");
    for (const [name, value] of Object.entries(typed)) expect(page.value(name)).toBe(value);
    app.proxy.fail("none");
    expect(await countEmailsTo(typed.email)).toBe(0);
    const response = await browser.submit(page, "Create Account", { password });
    expect((await browser.follow(response)).toasts[0]?.title).toBe("Account Created!");
    expect(await countEmailsTo(typed.email)).toBe(1);
  });

  test("A sign-up whose response is lost and that is sent again creates one account and sends one email", async () => {
    const typed = await newSignUp();
    app.proxy.fail("lost answer", /\/auth\/v1\/signup/);
    const page = await parsePage(await browser.post("/signup", { ...typed, password }));
    expect(page.toasts[0]?.title).toBe("Sign-up Failed");
    app.proxy.fail("none");
    expect((await browser.submit(page, "Create Account", { password })).status).toBe(303);
    await browser.confirmEmail(typed.email);
    await browser.logIn(typed.email);
    expect(await countEmailsTo(typed.email)).toBe(1);
  });

  test("A sign-up that Supabase Auth accepted succeeds when the backend fails before its Client ID is marked as used", async () => {
    const typed = await newSignUp();
    app.proxy.fail("close", /redeem_client_id/);
    const response = await browser.post("/signup", { ...typed, password });
    expect(response.headers.get("Location")).toBe("/login");
  });
});

test.each(allFaults)("A login that fails with %s stays in its form and can be sent again", async (fault) => {
  const person = app.browser();
  const form = await person.open("/login?next=/portal/new");
  app.proxy.fail(fault);
  const page = await parsePage(await person.submit(form, "Log in", { email, password }));
  expectFailure(page, "Sign in Failed");
  expect([page.value("email"), person.cookies.has("session")]).toEqual([email, false]);
  app.proxy.fail("none");
  expect((await person.submit(page, "Log in", { password })).headers.get("Location")).toBe("/portal/new");
});

test.each([
  ...allFaults.map((fault) => ({ step: "everything", call: /./, fault })),
  { step: "the check of the password", call: /grant_type=password/, fault: 500 as const },
  { step: "the proof of the password", call: /mark_password_proven/, fault: 500 as const },
  { step: "the use of the token", call: /\/verify$/, fault: 500 as const },
])(
  "A confirmation stays in its form when $step fails with $fault, and the same form confirms the address later",
  async ({ call, fault }) => {
    const typed = await newSignUp();
    await browser.post("/signup", { ...typed, password });
    browser.cookies.delete("flash");
    app.proxy.fail(fault, call);
    const page = await parsePage(await browser.confirmEmail(typed.email));
    expectFailure(page, "Sign in Failed");
    expect(page.value("email")).toBe(typed.email);
    app.proxy.fail("none");
    const response = await browser.submit(page, "Confirm and log in", { password });
    expect((await browser.follow(response)).toasts[0]?.title).toBe("Email address confirmed");
  },
);

describe("sign-out while the backend fails", () => {
  const steps = [
    { step: "the sign-out", call: /\/logout/ },
    { step: "everything", call: /./ },
  ];
  const failures = [500, 503, "close", 409, 422, 429, 502, 504] as const;
  test.each(steps.flatMap((step) => failures.map((fault) => ({ ...step, fault }))))(
    "A client signs out of this device when $step fails with $fault, and reads that only this device is signed out",
    async ({ call, fault }) => {
      const person = app.browser();
      await person.logIn(email);
      const portal = await person.open("/portal");
      app.proxy.fail(fault, call);
      const login = await person.follow(await person.submit(portal, "Sign out"));
      expect([login.h1, person.cookies.has("session")]).toEqual(["Client Login", false]);
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

  test.each(["html", "half json"] as const)("A client can sign out if the backend responds with %s", async (fault) => {
    const person = app.browser();
    await person.logIn(email);
    app.proxy.fail(fault);
    const login = await person.follow(await person.post("/portal/sign-out", {}));
    expect([login.h1, person.cookies.has("session")]).toEqual(["Client Login", false]);
    expectNoInternals(login);
  });
});
