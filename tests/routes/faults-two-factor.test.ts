import { afterEach, beforeAll, describe, expect, test } from "vitest";
import { Authenticator } from "../support/authenticator.ts";
import { type Fault, faults, meaningless } from "../support/fault-proxy.ts";
import {
  type Browser,
  expectNothingInternal,
  type Page,
  password,
  read,
  theApp,
  unavailable,
} from "../support/routes.ts";

let app: Awaited<ReturnType<typeof theApp>>;
beforeAll(async () => {
  app = await theApp();
});
afterEach(() => app.proxy.fail("none"));

const all: Fault[] = [...faults, ...meaningless];

/** Expects a failure page with one of these toasts, and the person still signed in. */
function expectFailure(page: Page, browser: Browser, titles: string[]) {
  expect([502, 503]).toContain(page.status);
  expect(titles).toContain(page.toasts.at(-1)?.title);
  expect(page.toasts.at(-1)).toMatchObject({ description: unavailable, variant: "destructive" });
  expect(browser.cookies.has("session")).toBe(true);
  expectNothingInternal(page);
}

function authenticatorOf(page: Page): Authenticator {
  const link = page.all("a").find((one) => one.getAttribute("href")?.startsWith("otpauth:"));
  return Authenticator.fromUri(link?.getAttribute("href") ?? "");
}

describe("a second factor is not begun, and the same button begins it afterwards", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = app.browser();
    await browser.signUpAndIn("Beginning");
  });

  test.each(all)("when the backend fails as it is begun: %s", async (fault) => {
    const form = await browser.open("/portal/2fa");
    app.proxy.fail(fault, /^POST \/auth\/v1\/factors$/);
    const page = await read(await browser.press(form, "Set up 2FA"));
    expectFailure(page, browser, ["Error setting up 2FA"]);
    app.proxy.fail("none");
    const begun = await read(await browser.press(page, "Set up 2FA"));
    expect(begun.h1).toBe("Set up 2FA");
    expect((await browser.open("/portal/2fa")).all("main li")).toHaveLength(0);
  });
});

describe("a code is not taken, and the same code is taken afterwards", () => {
  const steps = [
    { step: "it is challenged", of: /\/challenge$/ },
    { step: "it is verified", of: /\/verify$/ },
  ];
  test.each(steps.flatMap((step) => all.map((fault) => ({ ...step, fault }))))(
    "when the backend fails as $step: $fault",
    async ({ of, fault }) => {
      const browser = app.browser();
      await browser.signUpAndIn("Enabling");
      const begun = await read(await browser.press(await browser.open("/portal/2fa"), "Set up 2FA"));
      const code = await authenticatorOf(begun).freshCode();
      app.proxy.fail(fault, of);
      const page = await read(await browser.press(begun, "Enable 2FA", { code }));
      expectFailure(page, browser, ["Error challenging", "Verification failed"]);
      expect(page.value("secret")).toBe(begun.value("secret"));
      expect((await browser.get("/portal")).status).toBe(200);
      app.proxy.fail("none");
      expect((await browser.press(page, "Enable 2FA", { code })).headers.get("Location")).toBe("/portal");
      expect((await browser.open("/portal/2fa")).text).toContain("Authenticator, ");
    },
  );
});

test.each(["close", 500, 429, "html"] as const)(
  "at sign-in a code is asked for again when it fails: %s",
  async (fault) => {
    const browser = app.browser();
    const email = await browser.signUpAndIn("Entering");
    const begun = await read(await browser.press(await browser.open("/portal/2fa"), "Set up 2FA"));
    const authenticator = authenticatorOf(begun);
    await browser.press(begun, "Enable 2FA", { code: await authenticator.freshCode() });
    const half = app.browser();
    await half.post("/login", { email, password });
    const form = await half.open("/login/verify");
    const code = await authenticator.freshCode();
    app.proxy.fail(fault, /\/verify$/);
    const page = await read(await half.press(form, "Verify", { code }));
    expectFailure(page, half, ["Error challenging", "Verification failed"]);
    expect((await half.get("/portal")).headers.get("Location")).toBe("/login/verify");
    app.proxy.fail("none");
    expect((await half.press(page, "Verify", { code })).headers.get("Location")).toBe("/portal");
  },
);
