import type { Page } from "@playwright/test";
import { expect, test, toast } from "../../support/e2e-fixtures.ts";
import { labels } from "../../support/labels.ts";
import { enableSaveData, openMovingPage, setTabHidden, stopClock, withMotion } from "../../support/motion.ts";

test.beforeEach(() => test.slow());

test.describe("Row of industries", () => {
  const row = (page: Page) => page.getByRole("region", { name: labels.industries });
  const getScrollLeft = (page: Page) => row(page).evaluate((row) => row.scrollLeft);

  test("Buttons and dragging with the mouse scroll the row of industries, and a click without dragging selects an industry.", async ({
    page,
  }) => {
    await openMovingPage(page, "/");
    const previous = page.getByRole("button", { name: "Previous industries" });
    const next = page.getByRole("button", { name: labels.nextIndustries });
    await expect(previous).toHaveAttribute("aria-disabled", "true");
    await expect(row(page).getByRole("button").last()).not.toBeInViewport();
    await next.focus();
    await expect(async () => {
      await page.keyboard.press("Enter");
      await expect(next).toHaveAttribute("aria-disabled", "true", { timeout: 500 });
    }).toPass({ intervals: [50] });
    await expect(row(page).getByRole("button").last()).toBeInViewport({ ratio: 0.9 });
    await expect(next).toBeFocused();
    await expect(async () => {
      await previous.press("Enter");
      await expect(previous).toHaveAttribute("aria-disabled", "true", { timeout: 500 });
    }).toPass({ intervals: [50] });
    await expect.poll(() => getScrollLeft(page)).toBe(0);

    await row(page).scrollIntoViewIfNeeded();
    const card = await row(page).getByRole("button").nth(2).boundingBox();
    if (!card) throw new Error("no card");
    await page.mouse.move(card.x + 150, card.y + 60);
    await page.mouse.down();
    await page.mouse.move(card.x - 250, card.y + 60, { steps: 8 });
    expect(await getScrollLeft(page)).toBeCloseTo(400, -1);
    await page.mouse.up();
    // CSS scroll snap stops the row at the left edge of a card.
    await expect.poll(() => getScrollLeft(page)).toBe(472);
    await expect(row(page)).not.toHaveAttribute("data-dragged");
    await expect(toast(page)).toHaveCount(0);
    await page.mouse.move(card.x + 100, card.y + 60);
    await page.mouse.down();
    await page.mouse.move(card.x + 97, card.y + 60);
    await page.mouse.up();
    await expect(toast(page, "Clicked")).toBeVisible();
    expect(await getScrollLeft(page)).toBe(472);
    await toast(page).getByRole("button", { name: "Close" }).click();
    await expect(toast(page)).toHaveCount(0);

    await page.mouse.move(card.x + 150, card.y + 60);
    await page.mouse.down();
    await page.mouse.move(card.x - 30, card.y + 60, { steps: 5 });
    await page.mouse.up();
    await row(page).getByRole("button").nth(4).press("Enter");
    await expect(toast(page, "Clicked")).toBeVisible();
  });
});

/**
 * Swipes over the element `over` with one finger, by `xDistance` CSS pixels. A negative distance is a swipe to the
 * left.
 */
async function swipe(page: Page, over: ReturnType<Page["locator"]>, xDistance: number): Promise<void> {
  await over.evaluate((element) => element.scrollIntoView({ block: "center", behavior: "instant" }));
  const box = await over.boundingBox();
  const y = (box?.y ?? 0) + 100;
  const start = (box?.x ?? 0) + 300;
  const touch = await page.context().newCDPSession(page);
  await touch.send("Input.dispatchTouchEvent", { type: "touchStart", touchPoints: [{ x: start, y }] });
  for (let step = 1; step <= 10; step += 1) {
    const x = start + (xDistance * step) / 10;
    await touch.send("Input.dispatchTouchEvent", { type: "touchMove", touchPoints: [{ x, y }] });
  }
  await touch.send("Input.dispatchTouchEvent", { type: "touchEnd", touchPoints: [] });
}

test.describe("Story in five scenes", () => {
  test.use(withMotion);
  // Simulates a device in data-saving mode, on which the site draws no animated streaks. The browser is then faster.
  test.beforeEach(({ page }) => page.addInitScript(enableSaveData));

  const story = (page: Page) => page.getByRole("region", { name: labels.story });
  const expectScene = (page: Page, scene: number) =>
    expect(async () => {
      await expect(story(page).getByRole("group", { name: `${scene} of 5` })).toBeInViewport({ ratio: 0.9 });
      await expect(story(page).getByRole("group")).toHaveCount(1);
      await expect(story(page).locator("[aria-current]")).toHaveText(`Show scene ${scene}`);
    }).toPass({ timeout: 15_000 });

  test("The story shows the next scene every 8 s, unless the story is hovered, focused, out of view or in a hidden tab.", async ({
    page,
  }) => {
    await page.clock.install();
    await openMovingPage(page, "/about");
    await story(page).scrollIntoViewIfNeeded();
    await expect(story(page)).toHaveAttribute("aria-roledescription", "carousel");
    await expect(story(page).getByRole("group")).toHaveAttribute("aria-roledescription", "slide");
    const live = story(page).locator("ol");
    const expectPaused = async () => {
      await expect(live).toHaveAttribute("aria-live", "polite");
      await page.clock.fastForward(20_000);
      await expectScene(page, 1);
    };
    await story(page).hover();
    await expectPaused();
    await page.mouse.move(0, 0);
    await expect(live).toHaveAttribute("aria-live", "off");
    await story(page).getByRole("button", { name: "Show scene 3" }).focus();
    await expectPaused();
    await page.getByRole("link", { name: "Skip to the content" }).focus();
    await expect(live).toHaveAttribute("aria-live", "off");
    await setTabHidden(page, true);
    await expectPaused();
    await setTabHidden(page, false);
    await expect(live).toHaveAttribute("aria-live", "off");
    await page.getByRole("contentinfo").scrollIntoViewIfNeeded();
    await expect(live).toHaveAttribute("aria-live", "polite");
    await page.clock.fastForward(20_000);
    await story(page).scrollIntoViewIfNeeded();
    await expectScene(page, 1);
    await page.clock.fastForward(8000);
    await expectScene(page, 2);

    await test.step("the story's buttons and dots change the scene, also from the last scene to the first and back", async () => {
      await story(page).getByRole("button", { name: "Show scene 1" }).click();
      await expectScene(page, 1);
      await story(page).getByRole("button", { name: "Previous scene" }).click();
      await expectScene(page, 5);
      await story(page).getByRole("button", { name: labels.nextScene }).click();
      await expectScene(page, 1);
      await story(page).getByRole("button", { name: labels.nextScene }).press("Enter");
      await expectScene(page, 2);
      await story(page).getByRole("button", { name: "Show scene 5" }).click();
      await expectScene(page, 5);
    });

    await test.step("exactly 8 s after the last scene, the story shows the first scene", async () => {
      await stopClock(page);
      // The timer of 8 seconds starts when the pointer leaves the story.
      await page.getByRole("link", { name: "Skip to the content" }).focus();
      await expect(live).toHaveAttribute("aria-live", "polite");
      await page.mouse.move(0, 0);
      await expect(live).toHaveAttribute("aria-live", "off");
      await page.clock.runFor(7500);
      await expectScene(page, 5);
      // Advances the stopped clock in steps, because the page recognises the end of scrolling with a timer.
      await expect(async () => {
        await page.clock.runFor(50);
        await expect(story(page).getByRole("group", { name: "1 of 5" })).toBeVisible({ timeout: 20 });
      }).toPass({ intervals: [20] });
      await expectScene(page, 1);
    });
  });

  test.describe("On a phone", () => {
    test.use({ hasTouch: true, viewport: { width: 390, height: 800 } });
    test("Swiping, dragging with the mouse and arrow keys change the scene of the story.", async ({ page }) => {
      await openMovingPage(page, "/about");
      await story(page).scrollIntoViewIfNeeded();
      // Goes back to scene 1, because the story may have changed the scene before the focus stopped the story.
      await story(page).locator("ol").focus();
      await story(page).getByRole("button", { name: "Show scene 1" }).press("Enter");
      await expectScene(page, 1);
      await swipe(page, story(page), -250);
      await expectScene(page, 2);
      const box = await story(page).boundingBox();
      if (!box) throw new Error("no story");
      await page.mouse.move(box.x + 200, box.y + 80);
      await page.mouse.down();
      await page.mouse.move(box.x + 120, box.y + 80, { steps: 4 });
      await page.mouse.up();
      await expectScene(page, 3);
      await story(page).locator("ol").focus();
      await page.keyboard.press("ArrowRight");
      await expectScene(page, 4);
    });
  });
});
