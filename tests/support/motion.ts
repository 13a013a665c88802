/** Helpers for journeys on pages with animations. */
import { expect, type Page } from "@playwright/test";

/** For `test.use`: lets pages move, which the fixtures pause. */
export const withMotion = { motionEnabled: true };

export const pauseButton = (page: Page) => page.getByRole("button", { name: "Pause all motion" });

/** Opens a page and waits until what makes it move has arrived. */
export async function openMovingPage(page: Page, path: string): Promise<void> {
  await page.goto(path);
  await expect(pauseButton(page)).toBeVisible({ timeout: 15_000 });
}

/** For `addInitScript`: a device that asks for less data. */
export function enableSaveData(): void {
  Object.defineProperty(navigator, "connection", { value: { saveData: true } });
}

/** Stops the clock of the page; from then on only `page.clock.runFor` moves it. */
export async function stopClock(page: Page): Promise<void> {
  await page.clock.pauseAt((await page.evaluate(() => Date.now())) + 1000);
}

/** Makes the page believe that its tab is hidden, or visible again. */
export async function setTabHidden(page: Page, hidden: boolean): Promise<void> {
  await page.evaluate((hidden) => {
    Object.defineProperty(document, "hidden", { value: hidden, configurable: true });
    document.dispatchEvent(new Event("visibilitychange"));
  }, hidden);
}
