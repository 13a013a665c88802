import type { Locator, Page } from "@playwright/test";
import { Authenticator } from "../../support/authenticator.ts";
import {
  expect,
  heading,
  logInWithoutPage,
  openHydrated,
  quoteDialog,
  quoteLink,
  test,
  toast,
} from "../../support/e2e-fixtures.ts";
import { holdForms } from "../../support/held-requests.ts";
import { labels } from "../../support/labels.ts";

const pressEscape = (page: Page) => page.keyboard.press("Escape");

/** Moves the focus through the whole dialog with the Tab key. Checks that the focus never leaves the dialog. */
async function expectFocusStays(page: Page, dialog: Locator) {
  await expect(dialog).toHaveJSProperty("open", true);
  expect(await dialog.evaluate((element) => element.contains(document.activeElement)), "focus in the dialog").toBe(
    true,
  );
  const stops = await dialog.locator("a[href], button, input:not([type=hidden]), select, textarea").count();
  for (let step = 0; step < stops + 3; step += 1) {
    await page.keyboard.press("Tab");
    const at = await dialog.evaluate((element) => {
      const { activeElement } = document;
      return activeElement === document.body || element.contains(activeElement) ? "inside" : activeElement?.outerHTML;
    });
    expect(at).toBe("inside");
  }
}

test("The quote form opens without a request. Escape, the X button, a click outside and the Back button close the form.", async ({
  page,
}) => {
  await openHydrated(page, "/");
  await page.locator("header").getByRole("link", { name: "About", exact: true }).click();
  await expect(page).toHaveURL(/\/about$/);
  const opener = quoteLink(page);
  const dialog = quoteDialog(page);
  await opener.scrollIntoViewIfNeeded();
  const place = await page.evaluate(() => scrollY);
  expect(place).toBeGreaterThan(200);
  const requests: string[] = [];
  page.on("request", (request) => {
    // Ignores the site's icon, because browsers request the icon at each change of the URL.
    if (!/\/assets\/|favicon/.test(request.url())) requests.push(request.url());
  });

  const ways: [string, () => Promise<unknown>][] = [
    ["Escape", () => pressEscape(page)],
    ["its X", () => dialog.getByRole("link", { name: "Close" }).click()],
    ["the backdrop", () => page.mouse.click(8, 8)],
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

  await test.step("the focus stays in the dialog", async () => {
    await page.keyboard.press("Enter");
    await expect(dialog).toBeVisible();
    await expectFocusStays(page, dialog);
    await pressEscape(page);
    await expect(dialog).toHaveCount(0);
  });
  expect(requests).toEqual([]);

  await page.goBack();
  await expect(page).toHaveURL(/\/$/);
  await expect(dialog).toHaveCount(0);
});

test("The forms of the portal open as dialogs and show errors there. A double click sends a form only once.", async ({
  page,
  newClient: newcomer,
}) => {
  test.slow();
  await logInWithoutPage(page, newcomer);
  await openHydrated(page, "/portal");
  const opener = page.getByRole("link", { name: "Create Shipment" });
  const dialog = page.getByRole("dialog", { name: "Create Shipment" });
  const name = dialog.getByLabel(labels.shipmentName);
  const ways: [string, () => Promise<unknown>][] = [
    ["Escape", () => pressEscape(page)],
    [labels.cancel, () => dialog.getByRole("link", { name: labels.cancel }).click()],
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

  await test.step("the dialog closes before the response", async () => {
    await page.keyboard.press("Enter");
    await expect(name).toBeVisible();
    const pendingRequests: (() => void)[] = [];
    let isHeld = true;
    await page.route("**/*.data*", async (route) => {
      if (isHeld) await new Promise<void>((resolve) => pendingRequests.push(resolve));
      await route.continue();
    });
    await pressEscape(page);
    await expect(name).toBeHidden();
    await expect.poll(() => pendingRequests.length).toBeGreaterThan(0);
    await opener.press("Enter");
    isHeld = false;
    for (const continueRequest of pendingRequests) continueRequest();
    await expect(name).toBeVisible();
    await pressEscape(page);
    await expect(page).toHaveURL(/\/portal$/);
    await expect(opener).toBeFocused();
  });

  await test.step("an invalid name is reported in the dialog", async () => {
    await page.keyboard.press("Enter");
    await expect(name).toBeVisible();
    await expectFocusStays(page, dialog);
    await page.setViewportSize({ width: 390, height: 844 });
    const list = page.getByText("My Shipments", { exact: true }).and(page.locator("main *"));
    await expect(list, "the page around the dialog").toBeVisible();
    await page.setViewportSize({ width: 1280, height: 720 });
    await name.fill("x".repeat(500));
    await name.press("Enter");
    await expect(dialog.getByRole("region", { name: labels.errorSummary })).toBeFocused();
    await expect(dialog.locator("[data-toast]", { hasText: "Failed to create shipment" })).toBeVisible();
  });

  await test.step("the button shows progress, and one click sends one request", async () => {
    const { release, sent } = await holdForms(page);
    const create = dialog.getByRole("button", { name: /^Creat/ });
    await name.fill("Tea to Hamburg");
    await create.click();
    await expect(create).toHaveText("Creating…");
    await expect(page.getByRole("button", { name: /…$/ })).toHaveCount(1);
    await create.click({ force: true });
    await name.press("Enter");
    await release();
    await expect(heading(page)).toHaveText("Tea to Hamburg");
    expect(sent()).toBe(1);
    await expect(page.getByRole("link", { name: /^Tea to Hamburg/ })).toHaveCount(1);
  });

  await test.step("the Back button on the new shipment does not open the form again", async () => {
    await page.goBack();
    await expect(page).toHaveURL(/\/portal$/);
    await expect(dialog).toHaveCount(0);
    // Before the next step moves the focus, the focus must be back on the link that opened the dialog.
    await expect(opener).toBeFocused();
  });

  const managing = page.getByRole("link", { name: "Manage 2FA" });
  const manage = page.getByRole("dialog", { name: "Manage 2FA" });
  const remove = page.getByRole("dialog", { name: "Remove authenticator app" });

  await test.step("set up 2FA in the dialog", async () => {
    await managing.focus();
    await page.keyboard.press("Enter");
    await manage.getByRole("button", { name: labels.setUp2fa }).click();
    await expect(manage.getByRole("heading", { name: labels.setUp2fa })).toBeFocused();
    const key = manage.getByRole("link", { name: labels.openAuthenticator });
    const app = Authenticator.fromUri(await key.getAttribute("href"));
    await manage.getByLabel("6-digit code").fill(await app.freshCode());
    await manage.getByRole("button", { name: labels.enable2fa }).click();
    await expect(toast(page, "2FA Enabled!")).toBeVisible();
    await expect(manage).toHaveCount(0);
    // Closes the toast, because Escape would close the toast before the dialog.
    await toast(page).getByRole("button", { name: "Close" }).click();
    await expect(toast(page)).toHaveCount(0);
  });

  await test.step("Escape closes the upper dialog, then the lower dialog", async () => {
    await managing.focus();
    await page.keyboard.press("Enter");
    const first = manage.getByRole("link", { name: labels.removeLink });
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
});

test("A clicked button changes its label before the next frame, and a clicked link does not change its size.", async ({
  page,
  loggedInClient: _,
}) => {
  await openHydrated(page, "/portal");
  await page.getByRole("link", { name: "Create Shipment" }).click();
  const dialog = page.getByRole("dialog", { name: "Create Shipment" });
  await dialog.getByLabel(labels.shipmentName).fill("Tea");
  await page.route("**/portal/new.data*", async () => undefined);
  const label = await dialog.getByRole("button", { name: "Create Shipment" }).evaluate((button) => {
    (button as HTMLButtonElement).click();
    return new Promise((resolve) =>
      requestAnimationFrame(() => requestAnimationFrame(() => resolve(button.textContent))),
    );
  });
  expect(label).toBe("Creating…");

  await openHydrated(page, "/about");
  const link = page.locator("header").getByRole("link", { name: "Services", exact: true });
  const before = await link.boundingBox();
  await page.route("**/services.data*", async () => undefined);
  await link.click();
  await expect(link).toHaveClass(/pending/);
  expect(await link.boundingBox()).toEqual(before);
});
