import type { Page } from "@playwright/test";
import { expect, test } from "../../support/e2e-fixtures.ts";
import { labels } from "../../support/labels.ts";
import { enableSaveData, openMovingPage, stopClock, withMotion } from "../../support/motion.ts";

test.use(withMotion);
test.beforeEach(({ page }) => {
  test.slow();
  // Simulates a device in data-saving mode, on which the site draws no animated streaks. The browser is then faster.
  return page.addInitScript(enableSaveData);
});

/** Watches the page's statistics. The returned function returns true if a number has counted up. */
async function watchNumbers(page: Page) {
  await page.addInitScript(() => {
    new MutationObserver(() => {
      if (document.querySelector("#stats dd [aria-hidden]")) Object.assign(window, { hasCounted: true });
    }).observe(document, { subtree: true, childList: true });
  });
  return () => page.evaluate(() => "hasCounted" in window);
}

test("Statistics count up in 2 s when half of them is visible, without layout shift. Screen readers read the final values.", async ({
  page,
}) => {
  await page.setViewportSize({ width: 390, height: 700 });
  await page.clock.install();
  await openMovingPage(page, "/");
  const list = page.locator("#stats dl");
  const shown = page.locator("#stats dd [aria-hidden]");
  await expect(shown).toHaveText(["0+", "0+", "0+"]);
  const boxes = () => list.locator("div").evaluateAll((all) => all.map((each) => each.getBoundingClientRect().width));
  const before = await boxes();
  await stopClock(page);

  const scrollTo = (share: number) =>
    list.evaluate((list, share) => {
      const { top, height } = list.getBoundingClientRect();
      scrollBy({ top: top + height * share - innerHeight, behavior: "instant" });
    }, share);
  await scrollTo(0.4);
  await page.clock.runFor(1000);
  await expect(shown).toHaveText(["0+", "0+", "0+"]);
  await scrollTo(0.6);
  await expect(async () => {
    await page.clock.runFor(50);
    await expect(shown.first()).not.toHaveText("0+", { timeout: 50 });
  }).toPass({ intervals: [50] });
  await page.clock.runFor(1000);
  const deliveries = Number((await shown.last().textContent())?.replace(/\D/g, ""));
  expect(deliveries).toBeGreaterThan(14_000);
  expect(deliveries).toBeLessThan(26_000);
  expect(await list.ariaSnapshot()).toContain("36,000+");
  expect(await boxes()).toEqual(before);
  await page.clock.runFor(1000);
  await expect(shown).toHaveCount(0);
  await expect(list.locator("dd")).toHaveText(["30+", "100+", "36,000+"]);
  expect(await boxes()).toEqual(before);
});

test("Statistics that are visible before hydration do not count up.", async ({ page }) => {
  const hasCounted = await watchNumbers(page);
  await page.setViewportSize({ width: 1280, height: 1600 });
  await openMovingPage(page, "/");
  await expect(page.locator("#stats dl")).toBeInViewport();
  await page.locator("#closing, footer").last().scrollIntoViewIfNeeded();
  await page.locator("#stats dl").scrollIntoViewIfNeeded();
  expect(await hasCounted()).toBe(false);
});

test("Statistics show their final values immediately with reduced motion or while all motion is paused.", async ({
  page,
}) => {
  const hasCounted = await watchNumbers(page);
  await page.setViewportSize({ width: 390, height: 700 });
  const expectFinalValues = async () => {
    await page.goto("/");
    await expect(page.getByRole("button", { name: labels.nextIndustries })).toBeAttached();
    await page.locator("#stats dl").scrollIntoViewIfNeeded();
    await expect(page.locator("#stats dd").last()).toBeInViewport();
    expect(await hasCounted()).toBe(false);
  };
  await page.emulateMedia({ reducedMotion: "reduce" });
  await expectFinalValues();
  await page.emulateMedia({ reducedMotion: "no-preference" });
  await page.addInitScript(() => localStorage.setItem("motion", "paused"));
  await expectFinalValues();
});
