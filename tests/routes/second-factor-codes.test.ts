import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { Authenticator } from "../support/authenticator.ts";
import { getTestApp, type ParsedPage, parsePage, password, type TestBrowser } from "../support/test-app.ts";

let app: Awaited<ReturnType<typeof getTestApp>>;
beforeAll(async () => {
  app = await getTestApp();
});

const wrongCodeText = "The code is incorrect. Please try again.";

/** Expects the code field to be marked as invalid, described by the error, and linked from the summary. */
function expectFieldError(page: ParsedPage): void {
  const [field] = page.all("main input[name=code]");
  expect(field?.getAttribute("aria-invalid")).toBe("true");
  expect(page.saidOf("code")).toContain(wrongCodeText);
  expect(page.problems).toEqual([{ text: wrongCodeText, id: field?.getAttribute("id") }]);
}

describe("a wrong code marks its field, says so beside it, and is one press away in the summary,", () => {
  let browser: TestBrowser;
  let email: string;
  let authenticator: Authenticator;
  let setup: ParsedPage;
  beforeEach(async () => {
    browser = app.browser();
    email = await browser.signUpAndLogIn("Wairimu Njoroge");
    setup = await parsePage(await browser.submit(await browser.open("/portal/2fa"), "Set up 2FA"));
    const uri = setup.all("a").map((link) => link.getAttribute("href") ?? "");
    authenticator = Authenticator.fromUri(uri.find((href) => href.startsWith("otpauth:")) ?? "");
  });
  const enable = async () => browser.submit(setup, "Enable 2FA", { code: await authenticator.freshCode() });

  test("while 2FA is set up", async () => {
    expectFieldError(
      await parsePage(await browser.submit(setup, "Enable 2FA", { code: await authenticator.wrongCode() })),
    );
  });

  test("at the login", async () => {
    await enable();
    const half = app.browser();
    await half.post("/login", { email, password });
    const page = await half.open("/login/verify");
    expectFieldError(await parsePage(await half.submit(page, "Verify", { code: await authenticator.wrongCode() })));
  });

  test("where an authenticator is removed", async () => {
    await enable();
    const links = (await browser.open("/portal/2fa")).all("main a").map((link) => link.getAttribute("href") ?? "");
    const page = await browser.open(links.find((href) => href.startsWith("/portal/2fa/")) ?? "");
    expectFieldError(await parsePage(await browser.submit(page, "Remove", { code: await authenticator.wrongCode() })));
  });
});

test("reading begins at the page's own heading, and everything to press stands in a landmark", async () => {
  const browser = app.browser();
  await browser.signUpAndLogIn("Otieno Odhiambo");
  const shipment = await browser.createShipment("Tea");
  for (const path of ["/portal", "/portal/new", "/portal/2fa", shipment, "/", "/about", "/contact"]) {
    const page = await browser.open(path);
    expect(page.all("main h1, main h2, main h3")[0]?.tagName, path).toBe("H1");
    const outside = page
      .all("body a, body button")
      .filter(
        (each) => !each.closest("header, nav, main, footer, aside, dialog") && each.getAttribute("href") !== "#main",
      );
    expect(outside.map(String), path).toEqual([]);
  }
});
