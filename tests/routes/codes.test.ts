import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { Authenticator } from "../support/authenticator.ts";
import { type Browser, type Page, password, read, theApp } from "../support/routes.ts";

let app: Awaited<ReturnType<typeof theApp>>;
beforeAll(async () => {
  app = await theApp();
});

const wrong = "The code is incorrect. Please try again.";

/** Expects the code field to be marked as invalid, described by the error, and linked from the summary. */
function expectMarked(page: Page): void {
  const [field] = page.all("main input[name=code]");
  expect(field?.getAttribute("aria-invalid")).toBe("true");
  expect(page.saidOf("code")).toContain(wrong);
  expect(page.problems).toEqual([{ text: wrong, id: field?.getAttribute("id") }]);
}

describe("a wrong code marks its field, says so beside it, and is one press away in the summary,", () => {
  let browser: Browser;
  let email: string;
  let authenticator: Authenticator;
  let setup: Page;
  beforeEach(async () => {
    browser = app.browser();
    email = await browser.signUpAndIn("Wairimu Njoroge");
    setup = await read(await browser.press(await browser.open("/portal/2fa"), "Set up 2FA"));
    const uri = setup.all("a").map((link) => link.getAttribute("href") ?? "");
    authenticator = Authenticator.fromUri(uri.find((href) => href.startsWith("otpauth:")) ?? "");
  });
  const enable = async () => browser.press(setup, "Enable 2FA", { code: await authenticator.freshCode() });

  test("while 2FA is set up", async () => {
    expectMarked(await read(await browser.press(setup, "Enable 2FA", { code: await authenticator.wrongCode() })));
  });

  test("at the login", async () => {
    await enable();
    const half = app.browser();
    await half.post("/login", { email, password });
    const page = await half.open("/login/verify");
    expectMarked(await read(await half.press(page, "Verify", { code: await authenticator.wrongCode() })));
  });

  test("where an authenticator is removed", async () => {
    await enable();
    const links = (await browser.open("/portal/2fa")).all("main a").map((link) => link.getAttribute("href") ?? "");
    const page = await browser.open(links.find((href) => href.startsWith("/portal/2fa/")) ?? "");
    expectMarked(await read(await browser.press(page, "Remove", { code: await authenticator.wrongCode() })));
  });
});

test("reading begins at the page's own heading, and everything to press stands in a landmark", async () => {
  const browser = app.browser();
  await browser.signUpAndIn("Otieno Odhiambo");
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
