import { expect, type Page } from "@playwright/test";
import { labels } from "./labels.ts";

export const withMotion = { motionEnabled: true };

export const pauseButton = (page: Page) => page.getByRole("button", { name: labels.pauseMotion });

/** Opens a page and waits until the script for its animations has loaded. */
export async function openMovingPage(page: Page, path: string): Promise<void> {
  await page.goto(path);
  await expect(pauseButton(page)).toBeVisible({ timeout: 15_000 });
}

/** Turns on the browser's data-saving mode. Tests pass this function to `addInitScript`. */
export function enableSaveData(): void {
  Object.defineProperty(navigator, "connection", { value: { saveData: true } });
}

/** Stops the clock of the page. After that, only `page.clock.runFor` advances the clock. */
export async function stopClock(page: Page): Promise<void> {
  await page.clock.pauseAt((await page.evaluate(() => Date.now())) + 1000);
}

export async function setTabHidden(page: Page, hidden: boolean): Promise<void> {
  await page.evaluate((hidden) => {
    Object.defineProperty(document, "hidden", { value: hidden, configurable: true });
    document.dispatchEvent(new Event("visibilitychange"));
  }, hidden);
}
