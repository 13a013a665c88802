import { afterEach, expect, test } from "vitest";
import { allFaults } from "../support/fault-proxy.ts";
import { newClient, startFactorSetup } from "../support/route-fixtures.ts";
import { newProtectedClient, newSessionWithoutCode } from "../support/second-factor-suite.ts";
import {
  expectNoInternals,
  getTestApp,
  type ParsedPage,
  parsePage,
  type TestBrowser,
  unavailableText,
} from "../support/test-app.ts";

const app = await getTestApp();
afterEach(() => app.proxy.fail("none"));

const path = "/portal/2fa";
/** Expects an error page whose toast has this title, and that the client is still signed in. */
function expectFailure(page: ParsedPage, browser: TestBrowser, title: RegExp) {
  expect([502, 503]).toContain(page.status);
  expect(page.toasts.at(-1)).toEqual({
    title: expect.stringMatching(title),
    description: unavailableText,
    variant: "destructive",
  });
  expect(browser.cookies.has("session")).toBe(true);
  expectNoInternals(page);
}

test.each(allFaults)(
  "If the backend responds with %s, the 2FA set-up does not start, and the same button starts the set-up later",
  async (fault) => {
    const { browser } = await newClient(app, "Starting");
    const form = await browser.open(path);
    app.proxy.fail(fault, /^POST \/auth\/v1\/factors$/);
    const page = await parsePage(await browser.submit(form, "Set up 2FA"));
    expectFailure(page, browser, /^Error setting up 2FA$/);
    app.proxy.fail("none");
    expect((await parsePage(await browser.submit(page, "Set up 2FA"))).h1).toBe("Set up 2FA");
    expect((await browser.open(path)).all("main li")).toHaveLength(0);
  },
);

const steps = [
  { step: "challenge", title: /^Error challenging$/ },
  { step: "verify", title: /^Verification failed$/ },
];
test.each(steps.flatMap((step) => allFaults.map((fault) => ({ ...step, fault }))))(
  "A set-up whose $step fails with $fault is not completed, and the same code completes the set-up later",
  async ({ step, title, fault }) => {
    const { browser } = await newClient(app, "Enabling");
    const setup = await startFactorSetup(browser, path);
    const code = await setup.authenticator.freshCode();
    app.proxy.fail(fault, new RegExp(`/${step}$`));
    const page = await parsePage(await browser.submit(setup.page, "Enable 2FA", { code }));
    expectFailure(page, browser, title);
    expect(page.value("secret")).toBe(setup.page.value("secret"));
    expect((await browser.get("/portal")).status).toBe(200);
    app.proxy.fail("none");
    expect((await browser.submit(page, "Enable 2FA", { code })).headers.get("Location")).toBe("/portal");
    expect((await browser.open(path)).text).toContain("Phone added in ");
  },
);

test.each(["close", 500, 429, "html"] as const)(
  "A login whose code cannot be checked (%s) gives no access, and the same code is accepted later",
  async (fault) => {
    const { email, authenticator } = await newProtectedClient(app, "Entering");
    const half = await newSessionWithoutCode(app, email);
    const form = await half.open("/login/verify");
    const code = await authenticator.freshCode();
    app.proxy.fail(fault, /\/verify$/);
    const page = await parsePage(await half.submit(form, "Verify", { code }));
    expectFailure(page, half, /^(Error challenging|Verification failed)$/);
    expect((await half.get("/portal")).headers.get("Location")).toBe("/login/verify");
    app.proxy.fail("none");
    expect((await half.submit(page, "Verify", { code })).headers.get("Location")).toBe("/portal");
  },
);
