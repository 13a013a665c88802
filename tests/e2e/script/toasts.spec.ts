import type { Page } from "@playwright/test";
import {
  expect,
  openHydrated,
  quoteDialog,
  quoteLink,
  test,
  toast,
  waitForHydration,
} from "../../support/e2e-fixtures.ts";
import { holdScripts } from "../../support/held-requests.ts";
import { labels } from "../../support/labels.ts";

const toastRegion = (page: Page) => page.getByRole("region", { name: labels.notifications });
const emailField = (page: Page) => page.getByLabel("Email");

declare global {
  interface Window {
    announcements: { region: Element; text: string }[];
  }
}

/** Records the texts that live regions announce to screen readers. Applies to all pages that open after this call. */
async function recordLiveRegions(page: Page): Promise<void> {
  await page.addInitScript(() => {
    window.announcements = [];
    document.addEventListener("DOMContentLoaded", () => {
      new MutationObserver((changes) => {
        for (const { target, addedNodes } of changes) {
          for (const node of [target, ...addedNodes]) {
            const element = node instanceof Element ? node : node.parentElement;
            const live = element?.closest("[aria-live], [role=status], [role=alert]");
            const text = live?.textContent?.replace(/\s+/g, " ").trim();
            const last = window.announcements.findLast(({ region }) => region === live);
            if (live && text && last?.text !== text) window.announcements.push({ region: live, text });
          }
        }
      }).observe(document, { childList: true, characterData: true, subtree: true });
    });
  });
}

function readLiveRegions(page: Page): Promise<string[]> {
  return page.evaluate(() => window.announcements.map(({ text }) => text));
}

/** Opens the login page and stops its clock. Returns a function that clicks 'Forgot password?', which shows a toast. */
async function openWithStoppedClock(page: Page) {
  await page.clock.install();
  await openHydrated(page, "/login");
  const now = await page.evaluate(() => Date.now());
  await page.clock.pauseAt(now + 1000);
  return async () => {
    await page.getByRole("button", { name: "Forgot password?" }).click();
    await expect(toast(page, "Feature coming soon!")).toBeVisible();
    await emailField(page).focus();
  };
}

test("Escape, button or swipe close a toast. Otherwise, it closes after 5 s without hover or focus.", async ({
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

  await test.step("the toast's time pauses while the toast is hovered", async () => {
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

  await test.step("the toast's time pauses while the toast has the focus", async () => {
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

  await test.step("the next toast also stays for five seconds", async () => {
    await show();
    await toast(page).getByRole("button", { name: "Close" }).click();
    await page.clock.runFor(300);
    await expect(toast(page)).toHaveCount(0);
    await page.mouse.move(5, 300);
    await show();
    await page.clock.runFor(5200);
    await expect(toast(page)).toHaveCount(0);
  });

  const expectClosed = async () => {
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
    await expectClosed();
  });

  await test.step("F8 moves the focus to the toast, and the focus returns after the toast is closed", async () => {
    await show();
    await page.keyboard.press("F8");
    await expect(toastRegion(page).getByRole("list")).toBeFocused();
    await page.keyboard.press("Tab");
    await expect(toast(page)).toBeFocused();
    await page.keyboard.press("Tab");
    await expect(toast(page).getByRole("button", { name: "Close" })).toBeFocused();
    await page.keyboard.press("Enter");
    await expectClosed();
    await expect(emailField(page)).toBeFocused();
  });

  await test.step("a toast returns after a swipe of 40 px and closes after a swipe of 60 px", async () => {
    await show();
    await toast(page).evaluate((element) => Promise.all(element.getAnimations().map(({ finished }) => finished)));
    const box = await toast(page).boundingBox();
    await swipe(40);
    await expect(toast(page)).toHaveAttribute("data-state", "open");
    await expect.poll(() => toast(page).boundingBox()).toEqual(box);
    await swipe(-80);
    await expect(toast(page)).toHaveAttribute("data-state", "open");
    await swipe(60);
    await expectClosed();
  });

  await test.step("a new toast replaces the previous one", async () => {
    await show();
    await expect(toast(page)).toHaveAttribute("data-toast", "default");
    await page.getByRole("button", { name: labels.logIn, exact: true }).click();
    await expect(toast(page, "Login Failed")).toHaveAttribute("data-toast", "destructive");
    await expect(toast(page)).toHaveCount(1);
  });

  await test.step("the toast closes when the person leaves the page", async () => {
    await page.getByRole("main").getByRole("link", { name: "Sign up" }).click();
    await expect(page).toHaveURL("/signup");
    await expect(toast(page)).toHaveCount(0);
  });
});

test("A toast disappears completely, even if it is clicked while closing or if no element has the focus.", async ({
  page,
}) => {
  await openHydrated(page, "/login");
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

test("A toast is announced once. Hydration turns a banner into a toast in the same place, which is also announced once.", async ({
  page,
}) => {
  await recordLiveRegions(page);
  await page.clock.install();
  const release = await holdScripts(page);
  await page.goto("/login", { waitUntil: "commit" });
  await page.getByRole("button", { name: "Forgot password?" }).click();
  const banner = page.locator("div[data-toast]", { hasText: "Feature coming soon!" });
  // Waits for the stylesheet, because the banner has no position before the stylesheet has loaded.
  await expect(banner).toHaveCSS("position", "fixed");
  const before = await banner.boundingBox();
  await release();
  const shown = page.locator("li[data-toast]", { hasText: "Feature coming soon!" });
  await expect(shown).toBeVisible();
  await expect(banner).toHaveCount(0);
  expect(await shown.boundingBox()).toEqual(before);
  // Screen readers do not announce a status in the initial HTML, so the site's script must announce the toast.
  await expect.poll(() => readLiveRegions(page)).toEqual(["Notification Feature coming soon!"]);
  await page.clock.fastForward(5500);
  await expect(shown).toHaveCount(0);
  await page.getByRole("button", { name: labels.logIn, exact: true }).click();
  await expect(toast(page, "Login Failed")).toBeVisible();
  await page.getByRole("button", { name: "Forgot password?" }).click();
  await expect(shown).toBeVisible();
  const announced = async () => (await readLiveRegions(page)).filter((text) => /coming soon/.test(text));
  await expect.poll(announced).toHaveLength(2);
  await page.clock.fastForward(5500);
  await expect(shown).toHaveCount(0);
  expect(await announced()).toHaveLength(2);
});

test("Hydration moves the title of an error summary into a toast, and the title is not announced again.", async ({
  page,
}) => {
  await recordLiveRegions(page);
  const release = await holdScripts(page);
  await page.goto("/login", { waitUntil: "commit" });
  await page.getByRole("button", { name: labels.logIn, exact: true }).click();
  const summary = page.getByRole("alert", { name: "Login Failed" });
  await expect(summary).toBeVisible();
  await release();
  await expect(page.locator("li[data-toast=destructive]", { hasText: "Login Failed" })).toBeVisible();
  await expect(summary).toHaveCount(0);
  await expect(page.getByRole("region", { name: labels.errorSummary })).toBeVisible();
  // Screen readers have already announced the alert in the initial HTML, so there must be no second announcement.
  expect(await readLiveRegions(page)).toEqual([]);
});

for (const { moment, held } of [
  { moment: "before any script arrived", held: "*" },
  { moment: "before toasts could be shown", held: "toast-region*" },
]) {
  test(`A banner that is closed ${moment} does not return as a toast.`, async ({ page, client }) => {
    const release = await holdScripts(page, held);
    const regionRequest = page.waitForRequest("**/assets/toast-region*");
    await page.goto("/login", { waitUntil: "commit" });
    await page.getByLabel("Email").fill(client.email);
    await page.getByLabel("Password", { exact: true }).fill(client.password);
    if (held !== "*") await regionRequest;
    await page.getByRole("button", { name: labels.logIn, exact: true }).click();
    const banner = toast(page, "Login Successful");
    await banner.locator("summary").click();
    await expect(banner).toBeHidden();
    await release();
    await regionRequest;
    await waitForHydration(page);
    await expect(toast(page, "Enable 2-Factor Authentication")).toBeVisible();
    await expect(banner).toHaveCount(0);
  });
}

test("A toast does not move when a dialog opens under the toast.", async ({ page }) => {
  await page.addInitScript(() =>
    addEventListener("animationstart", ({ target }) => {
      if (target instanceof HTMLDialogElement) for (const growth of target.getAnimations()) growth.pause();
    }),
  );
  await openHydrated(page, "/cookie-settings");
  await page.getByRole("button", { name: "Save My Preferences" }).click();
  await expect(toast(page)).toBeVisible();
  await toast(page).evaluate((toast) => Promise.all(toast.getAnimations().map((arrival) => arrival.finished)));
  const before = await toast(page).boundingBox();
  await quoteLink(page).click();
  const dialog = quoteDialog(page);
  await expect.poll(() => dialog.evaluate((dialog) => dialog.getAnimations()[0]?.playState)).toBe("paused");
  expect(await dialog.locator("[data-toast]").boundingBox()).toEqual(before);
});

test("The button of a toast over a dialog closes the toast, and Escape closes the toast before the dialog.", async ({
  page,
  loggedInClient: _,
}) => {
  await openHydrated(page, "/portal");
  await page.getByRole("link", { name: "Create Shipment" }).click();
  const dialog = page.getByRole("dialog", { name: "Create Shipment" });
  await dialog.getByLabel(labels.shipmentName).fill("x".repeat(201));
  const send = dialog.getByRole("button", { name: "Create Shipment" });
  const inside = dialog.locator("[data-toast]", { hasText: "Failed to create shipment" });

  await send.click();
  await expect(inside).toBeVisible();
  await inside.getByRole("button", { name: "Close" }).click();
  await expect(inside).toHaveCount(0);
  await expect(dialog).toBeVisible();

  await send.click();
  await expect(inside).toBeVisible();
  await page.keyboard.press("F8");
  await expect(dialog.getByRole("region", { name: labels.notifications }).getByRole("list")).toBeFocused();
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
