import jsQR from "jsqr";
import { PNG } from "pngjs";
import { Authenticator } from "../support/authenticator.ts";
import { expect, logIn, logInWithoutPage, test, toast } from "../support/e2e-fixtures.ts";
import { labels } from "../support/labels.ts";

test("A client can set up 2FA with the setup key in the QR code.", async ({ page, newClient: newcomer }) => {
  await logInWithoutPage(page, newcomer);
  await page.goto("/portal");
  await page.getByRole("link", { name: "Manage 2FA" }).click();
  await page.getByRole("button", { name: labels.setUp2fa }).click();
  const shown = page.getByRole("img", { name: "QR code for your authenticator app" });
  const picture = PNG.sync.read(await shown.screenshot());
  const uri = jsQR(new Uint8ClampedArray(picture.data), picture.width, picture.height)?.data ?? "";
  await expect(page.getByRole("link", { name: labels.openAuthenticator }), "content of the QR code").toHaveAttribute(
    "href",
    uri,
  );
  const key = new URL(uri).searchParams.get("secret") ?? "";
  await expect(page.getByText((key.match(/.{4}/g) ?? []).join(" "))).toBeVisible();

  const app = new Authenticator(key);
  const code = await app.freshCode();
  await page.getByLabel("6-digit code").fill(`${code.slice(0, 3)} ${code.slice(3)}`);
  await page.getByRole("button", { name: labels.enable2fa }).click();
  await expect(toast(page, "2FA Enabled!")).toBeVisible();
});

test("A client sees the 2FA reminder once per session of the browser.", async ({ page, client }) => {
  await logIn(page, client);
  await toast(page, "Login Successful").locator("summary, button").click();
  const reminder = toast(page, "Enable 2-Factor Authentication");
  await expect(reminder).toBeVisible();
  await expect(reminder).toContainText("For your security, please enable 2FA in your account settings.");
  await page.goto("/portal/new");
  await expect(reminder).toHaveCount(0);
  await page.goto("/portal");
  await expect(reminder).toHaveCount(0);
});
