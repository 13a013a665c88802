import jsQR from "jsqr";
import { PNG } from "pngjs";
import { Authenticator } from "../support/authenticator.ts";
import { expect, logIn, logInWithoutPage, test, toast } from "../support/e2e-fixtures.ts";
import { removeSecondFactors } from "../support/service-role.ts";

test("2FA from its setup through the sign-in to its removal", async ({
  page,
  newClient: newcomer,
  serviceRole: company,
}) => {
  test.slow();
  await logInWithoutPage(page, newcomer);
  await page.goto("/portal");

  await test.step("leaving the setup half-way blocks nothing", async () => {
    for (const _round of [1, 2]) {
      await page.goto("/portal/2fa");
      await page.getByRole("button", { name: "Set up 2FA" }).click();
      await expect(page.getByRole("heading", { level: 1 })).toHaveText("Set up 2FA");
    }
    await page.getByRole("link", { name: "Cancel" }).click();
    await expect(page.getByRole("button", { name: "Set up 2FA" })).toBeVisible();
    await page.goto("/portal");
  });

  const authenticator = await test.step("set it up", async () => {
    await page.getByRole("link", { name: "Manage 2FA" }).click();
    await page.getByRole("button", { name: "Set up 2FA" }).click();
    const shown = page.getByRole("img", { name: "QR code for your authenticator app" });
    const picture = PNG.sync.read(await shown.screenshot());
    const uri = jsQR(new Uint8ClampedArray(picture.data), picture.width, picture.height)?.data ?? "";
    await expect(page.getByRole("link", { name: "open it from here" }), "the QR code leads there").toHaveAttribute(
      "href",
      uri,
    );
    const key = new URL(uri).searchParams.get("secret") ?? "";
    await expect(page.getByText((key.match(/.{4}/g) ?? []).join(" "))).toBeVisible();

    await page.getByLabel("6-digit code").fill("12 34 5");
    await page.getByRole("button", { name: "Enable 2FA" }).click();
    await expect(toast(page, "Verification failed")).toBeVisible();
    const app = new Authenticator(key);
    await page.getByLabel("6-digit code").fill(await app.wrongCode());
    await page.getByRole("button", { name: "Enable 2FA" }).click();
    await expect(toast(page, "The code is incorrect. Please try again.")).toBeVisible();

    const code = await app.freshCode();
    await page.getByLabel("6-digit code").fill(`${code.slice(0, 3)} ${code.slice(3)}`);
    await page.getByRole("button", { name: "Enable 2FA" }).click();
    await expect(toast(page, "2FA Enabled!")).toBeVisible();
    await expect(toast(page, "Your account is now more secure.")).toBeVisible();
    return app;
  });

  await test.step("sign in: nothing opens before the code", async () => {
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByLabel("Email").fill(newcomer.email);
    await page.getByLabel("Password", { exact: true }).fill(newcomer.password);
    await page.getByRole("button", { name: "Log in", exact: true }).click();
    await expect(page).toHaveURL(/\/login\/verify$/);
    await page.goto("/portal/new");
    await expect(page).toHaveURL(/\/login\/verify\?next=%2Fportal%2Fnew$/);
    // The code that enabled 2FA is used up.
    await page.getByLabel("6-digit code").fill(await authenticator.lastCode());
    await page.getByRole("button", { name: "Verify" }).click();
    await expect(toast(page, "Verification failed")).toBeVisible();
    await page.getByLabel("6-digit code").fill(await authenticator.freshCode());
    await page.getByRole("button", { name: "Verify" }).click();
    await expect(page).toHaveURL(/\/portal\/new$/);
    await expect(toast(page, "Login Successful")).toBeVisible();
  });

  await test.step("removing it takes a fresh code", async () => {
    await page.goto("/portal/2fa");
    await page.getByRole("link", { name: /^Remove/ }).click();
    await page.getByLabel("6-digit code").fill(await authenticator.lastCode());
    await page.getByRole("button", { name: "Remove" }).click();
    await expect(toast(page, "Verification failed")).toBeVisible();
    await page.getByLabel("6-digit code").fill(await authenticator.freshCode());
    await page.getByRole("button", { name: "Remove" }).click();
    await expect(toast(page, "Authenticator removed")).toBeVisible();
    await expect(removeSecondFactors(company, newcomer.email)).rejects.toThrow("has no second factor.");
  });
});

test("staff take a lost factor off, and the password opens the account again", async ({
  page,
  newClient: newcomer,
  serviceRole: company,
}) => {
  await logInWithoutPage(page, newcomer);
  await page.goto("/portal/2fa");
  await page.getByRole("button", { name: "Set up 2FA" }).click();
  const app = Authenticator.fromUri(await page.getByRole("link", { name: "open it from here" }).getAttribute("href"));
  await page.getByLabel("6-digit code").fill(await app.freshCode());
  await page.getByRole("button", { name: "Enable 2FA" }).click();
  await expect(toast(page, "2FA Enabled!")).toBeVisible();
  await page.getByRole("button", { name: "Sign out" }).click();
  await removeSecondFactors(company, newcomer.email);
  await logIn(page, newcomer);
  await expect(page).toHaveURL(/\/portal$/);
});

test("the reminder to set up 2FA comes once in a visit", async ({ page, client }) => {
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

test("on a shared computer the session ends with the browser", async ({ page, client, context }) => {
  await page.goto("/login");
  await page.getByLabel("Email").fill(client.email);
  await page.getByLabel("Password", { exact: true }).fill(client.password);
  await page.getByLabel("This is a shared computer: forget me when the browser closes").check();
  await page.getByRole("button", { name: "Log in", exact: true }).click();
  await expect(toast(page, "Login Successful")).toBeVisible();
  const session = (await context.cookies()).find(({ name }) => name === "session");
  expect(session).toMatchObject({ httpOnly: true, sameSite: "Lax", expires: -1 });
});
