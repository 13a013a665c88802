import jsQR from "jsqr";
import { PNG } from "pngjs";
import { Authenticator } from "../support/authenticator.ts";
import { expect, fillLogin, logIn, logInWithoutPage, test, toast } from "../support/e2e-fixtures.ts";
import { labels } from "../support/labels.ts";
import { removeSecondFactors } from "../support/service-role.ts";

test("A client sets up 2FA by QR code, logs in with a code and removes the authenticator with a fresh code", async ({
  page,
  newClient: newcomer,
  serviceRole: company,
}) => {
  test.slow();
  await logInWithoutPage(page, newcomer);
  await page.goto("/portal");

  const authenticator = await test.step("set it up", async () => {
    await page.getByRole("link", { name: "Manage 2FA" }).click();
    await page.getByRole("button", { name: labels.setUp2fa }).click();
    const shown = page.getByRole("img", { name: "QR code for your authenticator app" });
    const picture = PNG.sync.read(await shown.screenshot());
    const uri = jsQR(new Uint8ClampedArray(picture.data), picture.width, picture.height)?.data ?? "";
    await expect(page.getByRole("link", { name: labels.openAuthenticator }), "the QR code leads there").toHaveAttribute(
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
    return app;
  });

  await test.step("log in with a code", async () => {
    await page.getByRole("button", { name: "Sign out" }).click();
    await fillLogin(page, newcomer);
    await expect(page).toHaveURL(/\/login\/verify$/);
    await page.getByLabel("6-digit code").fill(await authenticator.freshCode());
    await page.getByRole("button", { name: "Verify" }).click();
    await expect(page).toHaveURL(/\/portal$/);
    await expect(toast(page, "Login Successful")).toBeVisible();
  });

  await test.step("remove it with a fresh code", async () => {
    await page.goto("/portal/2fa");
    await page.getByRole("link", { name: labels.removeLink }).click();
    await page.getByLabel("6-digit code").fill(await authenticator.freshCode());
    await page.getByRole("button", { name: labels.remove }).click();
    await expect(toast(page, labels.authenticatorRemoved)).toBeVisible();
    await expect(removeSecondFactors(company, newcomer.email)).rejects.toThrow("has no second factor.");
  });
});

test("A client sees the 2FA reminder once in a visit", async ({ page, client }) => {
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

test("A login on a shared computer ends with the browser", async ({ page, client, context }) => {
  await page.goto("/login");
  await page.getByLabel("Email").fill(client.email);
  await page.getByLabel("Password", { exact: true }).fill(client.password);
  await page.getByLabel("This is a shared computer: forget me when the browser closes").check();
  await page.getByRole("button", { name: labels.logIn, exact: true }).click();
  await expect(toast(page, "Login Successful")).toBeVisible();
  const session = (await context.cookies()).find(({ name }) => name === "session");
  expect(session).toMatchObject({ httpOnly: true, sameSite: "Lax", expires: -1 });
});
