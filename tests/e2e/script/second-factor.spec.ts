import {
  expect,
  logIn,
  logInWithoutPage,
  openHydrated,
  test,
  toast,
  waitForHydration,
} from "../../support/e2e-fixtures.ts";
import { labels } from "../../support/labels.ts";

test("The 2FA reminder appears after the toast about the login, for ten seconds.", async ({ page, client }) => {
  await page.clock.install();
  await logIn(page, client);
  await page.clock.pauseAt((await page.evaluate(() => Date.now())) + 1000);
  const reminder = toast(page, "Enable 2-Factor Authentication");
  await expect(toast(page)).toHaveText(/Login Successful/);
  await expect(reminder).toHaveCount(0);
  // The remaining time of the toast about the login depends on how long the login took, so the clock advances in steps.
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

test("A waiting 2FA reminder does not appear after signing out.", async ({ page, client }) => {
  await logIn(page, client);
  await waitForHydration(page);
  await page.getByRole("button", { name: "Sign out" }).click();
  await toast(page, labels.signedOut).getByRole("button", { name: "Close" }).click();
  await expect(toast(page)).toHaveCount(0);
});

test("A waiting 2FA reminder appears on the next page, and does not cover the form that sets up 2FA.", async ({
  page,
  client,
}) => {
  await logIn(page, client);
  await waitForHydration(page);
  await page.goto("/portal/new");
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

test.describe("Setting up 2FA over a lost connection", () => {
  test.use({ breaksConnection: true });

  test("If the connection is lost while a code is sent, the page shows an error and still shows the setup key.", async ({
    page,
    newClient: newcomer,
  }) => {
    await logInWithoutPage(page, newcomer);
    await openHydrated(page, "/portal/2fa");
    await page.getByRole("button", { name: labels.setUp2fa }).click();
    const link = page.getByRole("link", { name: labels.openAuthenticator });
    const address = await link.getAttribute("href");
    await page.route("**/*.data*", (route) => (route.request().method() === "POST" ? route.abort() : route.continue()));
    await page.getByLabel("6-digit code").fill("123456");
    await page.getByRole("button", { name: labels.enable2fa }).click();
    await expect(page.getByRole("region", { name: labels.errorSummary })).toContainText(labels.typedTextStays);
    await expect(link).toHaveAttribute("href", address ?? "");
  });
});
