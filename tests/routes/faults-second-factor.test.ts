import { afterEach, beforeAll, describe, expect, test } from "vitest";
import { Authenticator } from "../support/authenticator.ts";
import { ambiguousStatuses, type Fault, faults } from "../support/fault-proxy.ts";
import {
  expectNoInternals,
  getTestApp,
  type ParsedPage,
  parsePage,
  password,
  type TestBrowser,
  unavailableText,
} from "../support/test-app.ts";

let app: Awaited<ReturnType<typeof getTestApp>>;
beforeAll(async () => {
  app = await getTestApp();
});
afterEach(() => app.proxy.fail("none"));

const allFaults: Fault[] = [...faults, ...ambiguousStatuses];

/** Expects a failure page with one of these toasts, and the person still signed in. */
function expectFailure(page: ParsedPage, browser: TestBrowser, titles: string[]) {
  expect([502, 503]).toContain(page.status);
  expect(titles).toContain(page.toasts.at(-1)?.title);
  expect(page.toasts.at(-1)).toMatchObject({ description: unavailableText, variant: "destructive" });
  expect(browser.cookies.has("session")).toBe(true);
  expectNoInternals(page);
}

function createAuthenticator(page: ParsedPage): Authenticator {
  const link = page.all("a").find((one) => one.getAttribute("href")?.startsWith("otpauth:"));
  return Authenticator.fromUri(link?.getAttribute("href") ?? "");
}

describe("a second factor is not begun, and the same button begins it afterwards", () => {
  let browser: TestBrowser;
  beforeAll(async () => {
    browser = app.browser();
    await browser.signUpAndLogIn("Beginning");
  });

  test.each(allFaults)("when the backend fails as it is begun: %s", async (fault) => {
    const form = await browser.open("/portal/2fa");
    app.proxy.fail(fault, /^POST \/auth\/v1\/factors$/);
    const page = await parsePage(await browser.submit(form, "Set up 2FA"));
    expectFailure(page, browser, ["Error setting up 2FA"]);
    app.proxy.fail("none");
    const begun = await parsePage(await browser.submit(page, "Set up 2FA"));
    expect(begun.h1).toBe("Set up 2FA");
    expect((await browser.open("/portal/2fa")).all("main li")).toHaveLength(0);
  });
});

describe("a code is not taken, and the same code is taken afterwards", () => {
  const steps = [
    { step: "it is challenged", of: /\/challenge$/ },
    { step: "it is verified", of: /\/verify$/ },
  ];
  test.each(steps.flatMap((step) => allFaults.map((fault) => ({ ...step, fault }))))(
    "when the backend fails as $step: $fault",
    async ({ of, fault }) => {
      const browser = app.browser();
      await browser.signUpAndLogIn("Enabling");
      const begun = await parsePage(await browser.submit(await browser.open("/portal/2fa"), "Set up 2FA"));
      const code = await createAuthenticator(begun).freshCode();
      app.proxy.fail(fault, of);
      const page = await parsePage(await browser.submit(begun, "Enable 2FA", { code }));
      expectFailure(page, browser, ["Error challenging", "Verification failed"]);
      expect(page.value("secret")).toBe(begun.value("secret"));
      expect((await browser.get("/portal")).status).toBe(200);
      app.proxy.fail("none");
      expect((await browser.submit(page, "Enable 2FA", { code })).headers.get("Location")).toBe("/portal");
      expect((await browser.open("/portal/2fa")).text).toContain("Authenticator, ");
    },
  );
});

test.each(["close", 500, 429, "html"] as const)(
  "at sign-in a code is asked for again when it fails: %s",
  async (fault) => {
    const browser = app.browser();
    const email = await browser.signUpAndLogIn("Entering");
    const begun = await parsePage(await browser.submit(await browser.open("/portal/2fa"), "Set up 2FA"));
    const authenticator = createAuthenticator(begun);
    await browser.submit(begun, "Enable 2FA", { code: await authenticator.freshCode() });
    const half = app.browser();
    await half.post("/login", { email, password });
    const form = await half.open("/login/verify");
    const code = await authenticator.freshCode();
    app.proxy.fail(fault, /\/verify$/);
    const page = await parsePage(await half.submit(form, "Verify", { code }));
    expectFailure(page, half, ["Error challenging", "Verification failed"]);
    expect((await half.get("/portal")).headers.get("Location")).toBe("/login/verify");
    app.proxy.fail("none");
    expect((await half.submit(page, "Verify", { code })).headers.get("Location")).toBe("/portal");
  },
);
