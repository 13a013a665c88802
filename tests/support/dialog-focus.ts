import type { Locator, Page } from "@playwright/test";
import { expect } from "./e2e-fixtures.ts";

/** Moves the focus by Tab through the whole dialog and expects that the focus stays inside. */
export async function expectFocusStays(page: Page, dialog: Locator) {
  await expect(dialog).toHaveJSProperty("open", true);
  expect(await dialog.evaluate((element) => element.contains(document.activeElement)), "focus goes in").toBe(true);
  const stops = await dialog.locator("a[href], button, input:not([type=hidden]), select, textarea").count();
  for (let step = 0; step < stops + 3; step += 1) {
    await page.keyboard.press("Tab");
    const at = await dialog.evaluate((element) => {
      const { activeElement } = document;
      return activeElement === document.body || element.contains(activeElement) ? "inside" : activeElement?.outerHTML;
    });
    expect(at).toBe("inside");
  }
}
