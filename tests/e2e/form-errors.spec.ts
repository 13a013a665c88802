import type { Page } from "@playwright/test";
import { expect, insertShipment, test, waitForHydration } from "../support/e2e-fixtures.ts";
import { labels } from "../support/labels.ts";

// The size of a small phone's screen without the browser's own bars.
test.use({ viewport: { width: 390, height: 664 } });

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
