import { expect, logIn, test, toast, waitForHydration } from "../support/e2e-fixtures.ts";
import { labels } from "../support/labels.ts";

test("The 2FA reminder appears after the login toast and is shown for ten seconds", { tag: "@script" }, async ({
  page,
  client,
}) => {
  await page.clock.install();
  await logIn(page, client);
  await page.clock.pauseAt((await page.evaluate(() => Date.now())) + 1000);
  const reminder = toast(page, "Enable 2-Factor Authentication");
  await expect(toast(page)).toHaveText(/Login Successful/);
  await expect(reminder).toHaveCount(0);
  // The remaining time of the first toast depends on the duration of the login.
  await expect(async () => {
    await page.clock.runFor(500);
    await expect(reminder).toBeVisible({ timeout: 100 });
  }).toPass({ intervals: [50] });
  await expect(toast(page)).toHaveCount(1);
  await page.clock.runFor(9000);
  await expect(reminder).toHaveAttribute("data-state", "open");
  await page.clock.runFor(1500);
  await expect(toast(page)).toHaveCount(0);
});

test("A pending 2FA reminder appears on the next page, but not after signing out", {
  tag: "@script",
}, async ({ page, client }) => {
  await logIn(page, client);
  await waitForHydration(page);
  await page.goto("/portal/new");
  await expect(toast(page, "Enable 2-Factor Authentication")).toBeVisible();

  await page.context().clearCookies();
  await logIn(page, client);
  await waitForHydration(page);
  await page.getByRole("button", { name: "Sign out" }).click();
  await toast(page, labels.signedOut).getByRole("button", { name: "Close" }).click();
  await expect(toast(page)).toHaveCount(0);
});

test("The 2FA reminder does not cover the set-up form and closes on the page of the form", { tag: "@script" }, async ({
  page,
  client,
}) => {
  await logIn(page, client);
  await waitForHydration(page);
  await toast(page, "Login Successful").getByRole("button", { name: "Close" }).click();
  await toast(page, "Enable 2-Factor Authentication").getByRole("link", { name: "Set up 2FA" }).click();
  await expect(page.getByRole("button", { name: labels.setUp2fa })).toBeVisible();
  await expect(toast(page)).toHaveCount(0);

  await page.context().clearCookies();
  await logIn(page, client);
  await waitForHydration(page);
  await page.getByRole("link", { name: "Manage 2FA" }).click();
  await page.getByRole("button", { name: labels.setUp2fa }).click();
  await page.getByLabel("6-digit code").click();
  await expect(toast(page)).toHaveCount(0);
});

test("On a phone the list of shipments is visible around a dialog", { tag: "@script" }, async ({ page, client }) => {
  await page.setViewportSize({ width: 390, height: 844 });
  await logIn(page, client);
  await waitForHydration(page);
  const list = page.getByText("My Shipments", { exact: true }).and(page.locator("main *"));
  await page.getByRole("link", { name: "Create Shipment" }).click();
  await expect(page.getByRole("dialog", { name: "Create Shipment" })).toBeVisible();
  await expect(list).toBeVisible();
});
