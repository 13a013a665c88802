import { expect, logIn, test, toast, waitForHydration } from "../support/e2e-fixtures.ts";

test("the reminder of 2FA waits for the toast in view, and stays for ten seconds", async ({ page, client }) => {
  await page.clock.install();
  await logIn(page, client);
  await page.clock.pauseAt((await page.evaluate(() => Date.now())) + 1000);
  const reminder = toast(page, "Enable 2-Factor Authentication");
  await expect(toast(page)).toHaveText(/Login Successful/);
  await expect(reminder).toHaveCount(0);
  // In small steps, as part of the first toast's time has already passed.
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

test("the reminder that waited behind a toast is there on the next page, or goes with who signs out", async ({
  page,
  client,
}) => {
  await logIn(page, client);
  await waitForHydration(page);
  await page.goto("/portal/new");
  await expect(toast(page, "Enable 2-Factor Authentication")).toBeVisible();

  await page.context().clearCookies();
  await logIn(page, client);
  await waitForHydration(page);
  await page.getByRole("button", { name: "Sign out" }).click();
  await toast(page, "You are signed out").getByRole("button", { name: "Close" }).click();
  await expect(toast(page)).toHaveCount(0);
});

test("the reminder of 2FA ends where it leads, and does not come over the form it asks for", async ({
  page,
  client,
}) => {
  await logIn(page, client);
  await waitForHydration(page);
  await toast(page, "Login Successful").getByRole("button", { name: "Close" }).click();
  await toast(page, "Enable 2-Factor Authentication").getByRole("link", { name: "Set it up" }).click();
  await expect(page.getByRole("button", { name: "Set up 2FA" })).toBeVisible();
  await expect(toast(page)).toHaveCount(0);

  await page.context().clearCookies();
  await logIn(page, client);
  await waitForHydration(page);
  await page.getByRole("link", { name: "Manage 2FA" }).click();
  await page.getByRole("button", { name: "Set up 2FA" }).click();
  await toast(page, "Login Successful").getByRole("button", { name: "Close" }).click();
  await page.getByLabel("6-digit code").click();
  await expect(toast(page)).toHaveCount(0);
});

test("on a phone the list stays under a dialog opened over it", async ({ page, client }) => {
  await page.setViewportSize({ width: 390, height: 844 });
  await logIn(page, client);
  await waitForHydration(page);
  const list = page.getByText("My Shipments", { exact: true }).and(page.locator("main *"));
  await page.getByRole("link", { name: "Create Shipment" }).click();
  await expect(page.getByRole("dialog", { name: "Create Shipment" })).toBeVisible();
  await expect(list).toBeVisible();
});
