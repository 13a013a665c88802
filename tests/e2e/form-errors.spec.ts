import type { Page } from "@playwright/test";
import { expect, insertShipment, test, waitForHydration } from "../support/e2e-fixtures.ts";
import { labels } from "../support/labels.ts";

// The size of a small phone's screen without the browser's own bars.
test.use({ viewport: { width: 390, height: 664 } });

/** True if no other element, such as a toast, covers the lower edge of the field. */
function isUncovered(field: Element): boolean {
  const { left, width, bottom } = field.getBoundingClientRect();
  return field.contains(document.elementFromPoint(left + width / 2, bottom - 4));
}

/** Sends a form. Checks that the first error and its field are visible without scrolling. */
async function expectVisibleError(page: Page, path: string, button: string | RegExp, hasScript = false) {
  await test.step(`${button} on ${path}`, async () => {
    await page.goto(path);
    if (hasScript) await waitForHydration(page);
    const submit = page.locator("button", { hasText: button }).last();
    const disclosure = page.locator("details:not([open])", { has: submit }).last();
    if (!(await submit.isVisible())) await disclosure.locator("summary").click();
    await submit.click();
    const field = page.locator("[aria-invalid=true]").first();
    await expect(field).toBeInViewport({ ratio: 0.9 });
    const [message = ""] = ((await field.getAttribute("aria-describedby")) ?? "").split(" ").slice(-1);
    await expect(page.locator(`[id="${message}"]`)).toBeInViewport({ ratio: 0.9 });
    await expect.poll(() => field.evaluate(isUncovered)).toBe(true);
  });
}

test("On a phone, the first error of a public form and its field are visible without scrolling.", async ({
  page,
  javaScriptEnabled,
}) => {
  for (const [path, button] of [
    ["/", labels.requestUpdate],
    ["/contact", labels.prepareEmail],
    ["/careers", "Check application"],
    ["/?quote", labels.prepareEmail],
    ["/login", labels.logIn],
    ["/signup", "Create Account"],
    ["/auth/confirm?token_hash=0123456789abcdef0123", "Confirm and log in"],
  ] as const) {
    await expectVisibleError(page, path, button, javaScriptEnabled);
  }
});

test("On a phone, the toast of a rejected sign-up does not cover the password field.", async ({ page }) => {
  await page.goto("/signup");
  await page.getByLabel("Client ID").fill("CLT-1234");
  await page.getByLabel("Full Name").fill("Amina Otieno");
  await page.getByLabel("Email").fill("amina@otieno.example");
  const password = page.getByRole("textbox", { name: "Password" });
  await password.fill("abc");
  await page.getByRole("button", { name: "Create Account" }).click();
  await expect(password).toHaveAttribute("aria-invalid", "true");
  await expect(page.getByText("Sign up Failed").last()).toBeVisible();
  await expect(password).toBeInViewport({ ratio: 1 });
  await expect.poll(() => password.evaluate(isUncovered)).toBe(true);
});

test("On a phone, the error of an upload without a file is visible next to its field.", async ({
  page,
  loggedInClient,
  serviceRole,
  javaScriptEnabled,
}) => {
  const { id } = await insertShipment(serviceRole, loggedInClient, `Cloves ${Date.now()}`);
  await expectVisibleError(page, `/portal/${id}`, /^Upload/, javaScriptEnabled);
});

test("On a phone, the first error of a client's form and its field are visible without scrolling.", async ({
  page,
  loggedInClient: _,
  javaScriptEnabled,
}) => {
  await expectVisibleError(page, "/portal/account", "Change password", javaScriptEnabled);
  await expectVisibleError(page, "/portal/account", "Change email", javaScriptEnabled);
});

test("On a phone, the first error of a form of the desk and its field are visible without scrolling.", async ({
  page,
  client,
  loggedInLead: _,
  serviceRole,
  javaScriptEnabled,
}) => {
  const { id } = await insertShipment(serviceRole, client, `Cloves ${Date.now()}`);
  await expectVisibleError(page, `/desk/shipments/${id}`, labels.correctStage, javaScriptEnabled);
  await expectVisibleError(page, "/desk/team", /^Send invitation$/, javaScriptEnabled);
});
