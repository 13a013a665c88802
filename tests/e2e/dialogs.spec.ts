import type { Page } from "@playwright/test";
import { Authenticator } from "../support/authenticator.ts";
import { expectFocusStays } from "../support/dialog-focus.ts";
import { expect, logInWithoutPage, test, toast, waitForHydration } from "../support/e2e-fixtures.ts";
import { holdForms } from "../support/page-recorder.ts";

const clickBackdrop = (page: Page) => page.mouse.click(8, 8);
const pressEscape = (page: Page) => page.keyboard.press("Escape");

test("the quote opens over the page, asks the server for nothing, and closes in every way", async ({ page }) => {
  await page.goto("/");
  await waitForHydration(page);
  await page.locator("header").getByRole("link", { name: "About", exact: true }).click();
  await expect(page).toHaveURL(/\/about$/);
  const opener = page.getByRole("contentinfo").getByRole("link", { name: "Get a Quote" });
  const dialog = page.getByRole("dialog", { name: "Get a Quote" });
  await opener.scrollIntoViewIfNeeded();
  const place = await page.evaluate(() => scrollY);
  expect(place).toBeGreaterThan(200);
  const asked: string[] = [];
  page.on("request", (request) => {
    // Browsers look for the icon at every change of the address.
    if (!/\/assets\/|favicon/.test(request.url())) asked.push(request.url());
  });

  const ways: [string, () => Promise<unknown>][] = [
    ["Escape", () => pressEscape(page)],
    ["its X", () => dialog.getByRole("link", { name: "Close" }).click()],
    ["a press beside it", () => clickBackdrop(page)],
    ["Back", () => page.goBack()],
  ];
  for (const [way, close] of ways) {
    await test.step(way, async () => {
      await opener.focus();
      await page.keyboard.press("Enter");
      await expect(dialog.getByLabel("Full Name")).toBeFocused();
      await expect(page).toHaveURL(/\/about\?quote$/);
      expect(await dialog.evaluate((element) => element.matches(":modal"))).toBe(true);
      await close();
      await expect(dialog).toHaveCount(0);
      await expect(page).toHaveURL(/\/about$/);
      await expect(opener).toBeFocused();
      expect(await page.evaluate(() => scrollY)).toBe(place);
    });
  }

  await test.step("the focus stays in", async () => {
    await page.keyboard.press("Enter");
    await expect(dialog).toBeVisible();
    await expectFocusStays(page, dialog);
    await pressEscape(page);
    await expect(dialog).toHaveCount(0);
  });
  expect(asked).toEqual([]);

  await page.goBack();
  await expect(page).toHaveURL(/\/$/);
  await expect(dialog).toHaveCount(0);
});

test("a refused quote answers in place, and the pressed button waits alone", async ({ page }) => {
  await page.goto("/about?quote");
  await waitForHydration(page);
  const dialog = page.getByRole("dialog", { name: "Get a Quote" });
  const send = dialog.getByRole("button", { name: /^Prepar/ });
  const { release, sent } = await holdForms(page);
  await dialog.getByLabel("Full Name").fill("Zawadi O'Brien");
  await send.click();
  await expect(send).toHaveText("Preparing…");
  await send.click({ force: true });
  await dialog.getByLabel("Full Name").press("Enter");
  await release();
  await expect(dialog.getByRole("region", { name: "There is a problem" })).toBeFocused();
  await expect(send).toHaveText("Prepare the mail");
  await expect(dialog.getByLabel("Full Name")).toHaveValue("Zawadi O'Brien");
  await expect(page).toHaveURL(/\/about\?quote$/);
  expect(sent()).toBe(1);
});

test("the portal's forms are dialogs over the list, which answer in place and send nothing twice", async ({
  page,
  newClient: newcomer,
}) => {
  test.slow();
  await logInWithoutPage(page, newcomer);
  await page.goto("/portal");
  await waitForHydration(page);
  const opener = page.getByRole("link", { name: "Create Shipment" });
  const dialog = page.getByRole("dialog", { name: "Create Shipment" });
  const name = dialog.getByLabel("Name of the shipment");
  const ways: [string, () => Promise<unknown>][] = [
    ["Escape", () => pressEscape(page)],
    ["Cancel", () => dialog.getByRole("link", { name: "Cancel" }).click()],
    ["a press beside it", () => clickBackdrop(page)],
    ["Back", () => page.goBack()],
  ];
  for (const [way, close] of ways) {
    await test.step(way, async () => {
      await opener.focus();
      await page.keyboard.press("Enter");
      await expect(name).toBeVisible();
      await close();
      await expect(dialog).toHaveCount(0);
      await expect(page).toHaveURL(/\/portal$/);
      await expect(opener).toBeFocused();
    });
  }

  await test.step("nobody waits for the server until it is gone", async () => {
    await page.keyboard.press("Enter");
    await expect(name).toBeVisible();
    const answers: (() => void)[] = [];
    let isHeld = true;
    await page.route("**/*.data*", async (route) => {
      if (isHeld) await new Promise<void>((resolve) => answers.push(resolve));
      await route.continue();
    });
    await pressEscape(page);
    await expect(name).toBeHidden();
    await expect.poll(() => answers.length).toBeGreaterThan(0);
    await opener.press("Enter");
    isHeld = false;
    for (const answer of answers) answer();
    await expect(name).toBeVisible();
    await pressEscape(page);
    await expect(page).toHaveURL(/\/portal$/);
    await expect(opener).toBeFocused();
  });

  await test.step("a refused name is answered in place", async () => {
    await page.keyboard.press("Enter");
    await expect(name).toBeVisible();
    await expectFocusStays(page, dialog);
    await name.fill("x".repeat(500));
    await name.press("Enter");
    await expect(dialog.getByRole("region", { name: "There is a problem" })).toBeFocused();
    await expect(dialog.locator("[data-toast]", { hasText: "Failed to create shipment" })).toBeVisible();
  });

  await test.step("the button says that it is on its way, and one press counts", async () => {
    const { release, sent } = await holdForms(page);
    const create = dialog.getByRole("button", { name: /^Creat/ });
    await name.fill("Tea to Hamburg");
    await create.click();
    await expect(create).toHaveText("Creating…");
    await expect(page.getByRole("button", { name: /…$/ })).toHaveCount(1);
    await create.click({ force: true });
    await name.press("Enter");
    await release();
    await expect(page.getByRole("heading", { level: 1 })).toHaveText("Tea to Hamburg");
    expect(sent()).toBe(1);
    await expect(page.getByRole("link", { name: /^Tea to Hamburg/ })).toHaveCount(1);
  });

  await test.step("Back from the new shipment does not open the form again", async () => {
    await page.goBack();
    await expect(page).toHaveURL(/\/portal$/);
    await expect(dialog).toHaveCount(0);
    // Back where the form was opened from; until then the focus may move away from what a test has focused.
    await expect(opener).toBeFocused();
  });

  const managing = page.getByRole("link", { name: "Manage 2FA" });
  const manage = page.getByRole("dialog", { name: "Manage 2FA" });
  const remove = page.getByRole("dialog", { name: "Remove an authenticator" });

  await test.step("set it up", async () => {
    await managing.focus();
    await page.keyboard.press("Enter");
    await manage.getByRole("button", { name: "Set up 2FA" }).click();
    await expect(manage.getByRole("heading", { name: "Set up 2FA" }), "reading begins at what came").toBeFocused();
    const key = manage.getByRole("link", { name: "open it from here" });
    const app = Authenticator.fromUri(await key.getAttribute("href"));
    await manage.getByLabel("6-digit code").fill(await app.wrongCode());
    await manage.getByRole("button", { name: "Enable 2FA" }).click();
    await expect(manage.locator("[data-toast]", { hasText: "Verification failed" })).toBeVisible();
    await manage.getByLabel("6-digit code").fill(await app.freshCode());
    await manage.getByRole("button", { name: "Enable 2FA" }).click();
    await expect(toast(page, "2FA Enabled!")).toBeVisible();
    await expect(manage).toHaveCount(0);
    // While the toast is there, Escape closes it and not the dialog.
    await toast(page).getByRole("button", { name: "Close" }).click();
    await expect(toast(page)).toHaveCount(0);
  });

  await test.step("open the list of authenticators and the removal of one, and come back step by step", async () => {
    await managing.focus();
    await page.keyboard.press("Enter");
    const first = manage.getByRole("link", { name: /^Remove/ });
    await first.focus();
    await page.keyboard.press("Enter");
    await expect(remove).toBeVisible();
    await expectFocusStays(page, remove);
    await pressEscape(page);
    await expect(remove).toHaveCount(0);
    await expect(first).toBeFocused();
    await pressEscape(page);
    await expect(manage).toHaveCount(0);
    await expect(page).toHaveURL(/\/portal$/);
    await expect(managing).toBeFocused();
  });

  await test.step("a wrong code is answered in place", async () => {
    await page.keyboard.press("Enter");
    await manage.getByRole("link", { name: /^Remove/ }).click();
    await remove.getByLabel("6-digit code").fill("12 34");
    await remove.getByRole("button", { name: "Remove" }).click();
    await expect(remove.locator("[data-toast]", { hasText: "Verification failed" })).toBeVisible();
    await remove.getByRole("link", { name: "Keep it" }).click();
    await expect(manage).toBeVisible();
    await clickBackdrop(page);
    await expect(page).toHaveURL(/\/portal$/);
  });
});

test("a pressed button says so before the next picture of the page, and a pressed link keeps its shape", async ({
  page,
  loggedInClient: signedIn,
}) => {
  expect(signedIn.email).toContain("@");
  await page.goto("/portal");
  await waitForHydration(page);
  await page.getByRole("link", { name: "Create Shipment" }).click();
  const dialog = page.getByRole("dialog", { name: "Create Shipment" });
  await dialog.getByLabel("Name of the shipment").fill("Tea");
  await page.route("**/portal/new.data*", async () => undefined);
  const said = await dialog.getByRole("button", { name: "Create Shipment" }).evaluate((button) => {
    (button as HTMLButtonElement).click();
    return new Promise((resolve) =>
      requestAnimationFrame(() => requestAnimationFrame(() => resolve(button.textContent))),
    );
  });
  expect(said).toBe("Creating…");

  await page.goto("/about");
  await waitForHydration(page);
  const link = page.locator("header").getByRole("link", { name: "Services", exact: true });
  const before = await link.boundingBox();
  await page.route("**/services.data*", async () => undefined);
  await link.click();
  await expect(link).toHaveClass(/pending/);
  expect(await link.boundingBox()).toEqual(before);
});
