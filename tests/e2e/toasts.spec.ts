import type { Page } from "@playwright/test";
import { expect, test, toast, waitForHydration } from "../support/e2e-fixtures.ts";
import { holdScripts, readLiveRegions, recordLiveRegions } from "../support/page-recorder.ts";

const toastRegion = (page: Page) => page.getByRole("region", { name: "Notifications (F8)" });
/** An element outside the toasts, to focus. */
const emailField = (page: Page) => page.getByLabel("Email");

/** Opens the login page and stops its clock. Returns a function that shows a toast by 'Forgot password?'. */
async function openWithStoppedClock(page: Page) {
  await page.clock.install();
  await page.goto("/login");
  await waitForHydration(page);
  const now = await page.evaluate(() => Date.now());
  await page.clock.pauseAt(now + 1000);
  return async () => {
    await page.getByRole("button", { name: "Forgot password?" }).click();
    await expect(toast(page, "Feature coming soon!")).toBeVisible();
    await emailField(page).focus();
  };
}

test("a toast goes after five seconds, waits for the pointer and for the focus, and ends by Escape, by its button and by a swipe to the right; F8 leads to it", async ({
  page,
}) => {
  const show = await openWithStoppedClock(page);

  await test.step("five seconds", async () => {
    await show();
    await page.clock.runFor(4900);
    await expect(toast(page)).toHaveAttribute("data-state", "open");
    await page.clock.runFor(300);
    await expect(toast(page)).toHaveCount(0);
  });

  await test.step("under the pointer its time stands still", async () => {
    await show();
    await page.clock.runFor(3000);
    await toast(page).hover();
    await page.clock.runFor(60_000);
    await expect(toast(page)).toHaveAttribute("data-state", "open");
    await page.mouse.move(5, 300);
    await page.clock.runFor(1900);
    await expect(toast(page)).toHaveAttribute("data-state", "open");
    await page.clock.runFor(300);
    await expect(toast(page)).toHaveCount(0);
  });

  await test.step("so it does while the focus is in it", async () => {
    await show();
    const close = toast(page).getByRole("button", { name: "Close" });
    await close.focus();
    await expect(close).toBeFocused();
    await page.clock.runFor(60_000);
    await expect(toast(page)).toHaveAttribute("data-state", "open");
    await emailField(page).focus();
    await page.clock.runFor(5200);
    await expect(toast(page)).toHaveCount(0);
  });

  await test.step("the toast after one that was closed by hand has its five seconds too", async () => {
    await show();
    await toast(page).getByRole("button", { name: "Close" }).click();
    await page.clock.runFor(300);
    await expect(toast(page)).toHaveCount(0);
    await page.mouse.move(5, 300);
    await show();
    await page.clock.runFor(5200);
    await expect(toast(page)).toHaveCount(0);
  });

  const gone = async () => {
    await page.clock.runFor(300);
    await expect(toast(page)).toHaveCount(0);
  };
  const swipe = async (by: number) => {
    const box = await toast(page).boundingBox();
    if (!box) throw new Error("no toast to swipe");
    const y = box.y + 20;
    await page.mouse.move(box.x + 60, y);
    await page.mouse.down();
    await page.mouse.move(box.x + 60 + by / 2, y, { steps: 4 });
    await page.mouse.move(box.x + 60 + by, y, { steps: 4 });
    await page.mouse.up();
  };

  await test.step("Escape", async () => {
    await show();
    await page.keyboard.press("Escape");
    await gone();
  });

  await test.step("F8, the button by keyboard, and back to where the focus was", async () => {
    await show();
    await page.keyboard.press("F8");
    await expect(toastRegion(page).getByRole("list")).toBeFocused();
    await page.keyboard.press("Tab");
    await expect(toast(page)).toBeFocused();
    await page.keyboard.press("Tab");
    await expect(toast(page).getByRole("button", { name: "Close" })).toBeFocused();
    await page.keyboard.press("Enter");
    await gone();
    await expect(emailField(page)).toBeFocused();
  });

  await test.step("a swipe of 40 px brings it back, one of 60 px ends it", async () => {
    await show();
    await toast(page).evaluate((element) => Promise.all(element.getAnimations().map(({ finished }) => finished)));
    const box = await toast(page).boundingBox();
    await swipe(40);
    await expect(toast(page)).toHaveAttribute("data-state", "open");
    await expect.poll(() => toast(page).boundingBox()).toEqual(box);
    await swipe(-80);
    await expect(toast(page)).toHaveAttribute("data-state", "open");
    await swipe(60);
    await gone();
  });

  await test.step("the newest takes the place of the one before", async () => {
    await show();
    await expect(toast(page)).toHaveAttribute("data-toast", "default");
    await page.getByRole("button", { name: "Log in", exact: true }).click();
    await expect(toast(page, "Login Failed")).toHaveAttribute("data-toast", "destructive");
    await expect(toast(page)).toHaveCount(1);
  });
});

test("a toast that is pressed again on its way out, or closed while nothing has the focus, leaves nothing behind", async ({
  page,
}) => {
  await page.goto("/login");
  await waitForHydration(page);
  const show = () => page.getByRole("button", { name: "Forgot password?" }).click();
  const blur = () => page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur());
  await show();
  await expect(toast(page)).toBeVisible();
  const close = toast(page).getByRole("button", { name: "Close" });
  const box = await close.boundingBox();
  if (!box) throw new Error("no toast to close");
  await blur();
  await close.click();
  await page.mouse.down();
  await page.mouse.move(box.x + box.width / 2 + 3, box.y + box.height / 2);
  await page.mouse.up();
  await expect(toast(page)).toHaveCount(0);
  await expect(page.getByRole("main")).toBeFocused();
  await page.mouse.move(5, 300);

  await page.clock.install();
  await show();
  await expect(toast(page)).toBeVisible();
  await blur();
  await page.clock.runFor(5300);
  await expect(toast(page)).toHaveCount(0);
});

test("a toast of script is heard once", async ({ page }) => {
  await recordLiveRegions(page);
  await page.clock.install();
  await page.goto("/login");
  await waitForHydration(page);
  await page.getByRole("button", { name: "Forgot password?" }).click();
  await expect.poll(() => readLiveRegions(page)).toEqual(["Notification Feature coming soon!"]);
  await page.clock.fastForward(5500);
  await expect(toast(page)).toHaveCount(0);
  expect(await readLiveRegions(page)).toHaveLength(1);
});

for (const { variant, press, words, spoken } of [
  // Screen readers do not announce a status in the initial HTML, so the toast has to be announced.
  { variant: "default", press: "Forgot password?", words: "Feature coming soon!", spoken: 1 },
  // An alert in the initial HTML is announced already.
  { variant: "destructive", press: "Log in", words: "Login Failed", spoken: 0 },
] as const) {
  test(`a ${variant} banner becomes the toast where it stands, and is heard once`, async ({ page }) => {
    await recordLiveRegions(page);
    await page.clock.install();
    const release = await holdScripts(page);
    await page.goto("/login", { waitUntil: "commit" });
    await page.getByRole("button", { name: press, exact: true }).click();
    const banner = page.locator(`div[data-toast=${variant}]`, { hasText: words });
    // Waits for the stylesheet: before it the browser has laid the banner out, but painted nothing.
    await expect(banner).toHaveCSS("position", "fixed");
    const before = await banner.boundingBox();
    await release();
    const shown = page.locator(`li[data-toast=${variant}]`, { hasText: words });
    await expect(shown).toBeVisible();
    await expect(banner).toHaveCount(0);
    expect(await shown.boundingBox()).toEqual(before);
    await expect.poll(async () => (await readLiveRegions(page)).length).toBe(spoken);
    await page.clock.fastForward(5500);
    await expect(shown).toHaveCount(0);
    expect(await readLiveRegions(page)).toHaveLength(spoken);
    for (const text of await readLiveRegions(page)) expect(text).toContain(words);
  });
}

for (const { when, held } of [
  { when: "before any script came", held: "*" },
  { when: "before toasts could be shown", held: "toast-region*" },
]) {
  test(`a banner that was closed ${when} does not come back as a toast`, async ({ page, client }) => {
    const release = await holdScripts(page, held);
    const asked = page.waitForRequest("**/assets/toast-region*");
    await page.goto("/login", { waitUntil: "commit" });
    await page.getByLabel("Email").fill(client.email);
    await page.getByLabel("Password", { exact: true }).fill(client.password);
    if (held !== "*") await asked;
    await page.getByRole("button", { name: "Log in", exact: true }).click();
    const answer = toast(page, "Login Successful");
    await answer.locator("summary").click();
    await expect(answer).toBeHidden();
    await release();
    await asked;
    await waitForHydration(page);
    await expect(toast(page, "Enable 2-Factor Authentication")).toBeVisible();
    await expect(answer).toHaveCount(0);
  });
}

test("a toast stays where it is while a dialog opens under it", async ({ page }) => {
  await page.addInitScript(() =>
    addEventListener("animationstart", ({ target }) => {
      if (target instanceof HTMLDialogElement) for (const growth of target.getAnimations()) growth.pause();
    }),
  );
  await page.goto("/login");
  await waitForHydration(page);
  await page.getByRole("button", { name: "Forgot password?" }).click();
  await expect(toast(page)).toBeVisible();
  await toast(page).evaluate((toast) => Promise.all(toast.getAnimations().map((arrival) => arrival.finished)));
  const before = await toast(page).boundingBox();
  await page.getByRole("contentinfo").getByRole("link", { name: "Get a Quote" }).click();
  const dialog = page.getByRole("dialog", { name: "Get a Quote" });
  await expect.poll(() => dialog.evaluate((dialog) => dialog.getAnimations()[0]?.playState)).toBe("paused");
  expect(await dialog.locator("[data-toast]").boundingBox()).toEqual(before);
});

test.describe("over a dialog", () => {
  test.use({ breaksConnection: true });

  test("a toast can be closed, and Escape ends it before the dialog", async ({ page }) => {
    await page.route("**/*.data*", (route) => (route.request().method() === "POST" ? route.abort() : route.continue()));
    await page.goto("/about");
    await waitForHydration(page);
    await page.getByRole("contentinfo").getByRole("link", { name: "Get a Quote" }).click();
    const dialog = page.getByRole("dialog", { name: "Get a Quote" });
    const send = dialog.getByRole("button", { name: "Prepare the mail" });
    const inside = dialog.locator("[data-toast]", { hasText: "No answer" });

    await send.click();
    await expect(inside).toBeVisible();
    await inside.getByRole("button", { name: "Close" }).click();
    await expect(inside).toHaveCount(0);
    await expect(dialog).toBeVisible();

    await send.click();
    await expect(inside).toBeVisible();
    await page.keyboard.press("F8");
    await expect(dialog.getByRole("region", { name: "Notifications (F8)" }).getByRole("list")).toBeFocused();
    await page.keyboard.press("Escape");
    await expect(inside).toHaveCount(0);
    await expect(dialog).toBeVisible();

    await send.click();
    await expect(inside).toBeVisible();
    await page.keyboard.press("Escape");
    await expect(inside).toHaveCount(0);
    await expect(dialog).toBeVisible();
    await page.keyboard.press("Escape");
    await expect(dialog).toHaveCount(0);
  });
});
