import type { Page } from "@playwright/test";
import { expect, test, toast } from "../support/e2e-fixtures.ts";
import { enableSaveData, openMovingPage, setTabHidden, stopClock, withMotion } from "../support/motion.ts";

test.beforeEach(() => test.slow());

test.describe("the row of industries", () => {
  const row = (page: Page) => page.getByRole("region", { name: "The ten industries" });
  const left = (page: Page) => row(page).evaluate((row) => row.scrollLeft);

  test("moves by its buttons, which say when it ends, and is pushed by the mouse, which clicks nothing on the way; a click still clicks, and so does a key", async ({
    page,
  }) => {
    await openMovingPage(page, "/");
    const previous = page.getByRole("button", { name: "Previous industries" });
    const next = page.getByRole("button", { name: "Next industries" });
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
    await expect.poll(() => left(page)).toBe(0);

    await row(page).scrollIntoViewIfNeeded();
    const card = await row(page).getByRole("button").nth(2).boundingBox();
    if (!card) throw new Error("no card");
    await page.mouse.move(card.x + 150, card.y + 60);
    await page.mouse.down();
    await page.mouse.move(card.x - 250, card.y + 60, { steps: 8 });
    expect(await left(page)).toBeCloseTo(400, -1);
    await page.mouse.up();
    // It comes to rest with a card at its beginning.
    await expect.poll(() => left(page)).toBe(472);
    await expect(row(page)).not.toHaveAttribute("data-dragged");
    await expect(toast(page)).toHaveCount(0);
    await page.mouse.move(card.x + 100, card.y + 60);
    await page.mouse.down();
    await page.mouse.move(card.x + 97, card.y + 60);
    await page.mouse.up();
    await expect(toast(page, "Clicked")).toBeVisible();
    expect(await left(page)).toBe(472);
    await toast(page).getByRole("button", { name: "Close" }).click();
    await expect(toast(page)).toHaveCount(0);

    await page.mouse.move(card.x + 150, card.y + 60);
    await page.mouse.down();
    await page.mouse.move(card.x - 30, card.y + 60, { steps: 5 });
    await page.mouse.up();
    await row(page).getByRole("button").nth(4).press("Enter");
    await expect(toast(page, "Clicked")).toBeVisible();
  });

  test("follows a finger", async ({ browser }) => {
    const page = await browser.newPage({ hasTouch: true, viewport: { width: 390, height: 800 } });
    await openMovingPage(page, "/");
    await row(page).scrollIntoViewIfNeeded();
    await swipe(page, row(page), -300);
    await expect.poll(() => left(page)).toBeGreaterThan(200);
    await page.close();
  });
});

/** A touch swipe by `xDistance` CSS pixels; negative is to the left. */
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

test.describe("the story in five scenes", () => {
  test.use(withMotion);
  // Saves data, so that the animated streaks are not drawn: they slow the browser down.
  test.beforeEach(({ page }) => page.addInitScript(enableSaveData));

  const story = (page: Page) => page.getByRole("region", { name: "Scenes of our story" });
  const stands = (page: Page, scene: number) =>
    expect(async () => {
      await expect(story(page).getByRole("group", { name: `${scene} of 5` })).toBeInViewport({ ratio: 0.9 });
      await expect(story(page).getByRole("group")).toHaveCount(1);
      await expect(story(page).locator("[aria-current]")).toHaveText(`Show scene ${scene}`);
    }).toPass({ timeout: 15_000 });

  /** Waits for a scene with the clock stopped: scrolling runs in real time, but its end depends on the page's clock. */
  async function settled(page: Page, scene: number): Promise<void> {
    await expect(async () => {
      await page.clock.runFor(50);
      await expect(story(page).getByRole("group", { name: `${scene} of 5` })).toBeVisible({ timeout: 20 });
    }).toPass({ intervals: [20] });
    await stands(page, scene);
  }

  test("waits under the pointer, while it has the focus, out of sight and in a hidden tab; turns by its buttons and dots and wraps both ways; goes on by itself every 8000 ms", async ({
    page,
  }) => {
    await page.clock.install();
    await openMovingPage(page, "/about");
    await story(page).scrollIntoViewIfNeeded();
    await expect(story(page)).toHaveAttribute("aria-roledescription", "carousel");
    await expect(story(page).getByRole("group")).toHaveAttribute("aria-roledescription", "slide");
    const live = story(page).locator("ol");
    const holds = async () => {
      await expect(live).toHaveAttribute("aria-live", "polite");
      await page.clock.fastForward(20_000);
      await stands(page, 1);
    };
    await story(page).hover();
    await holds();
    await page.mouse.move(0, 0);
    await expect(live).toHaveAttribute("aria-live", "off");
    await story(page).getByRole("button", { name: "Show scene 3" }).focus();
    await holds();
    await page.getByRole("link", { name: "Skip to the content" }).focus();
    await expect(live).toHaveAttribute("aria-live", "off");
    await setTabHidden(page, true);
    await holds();
    await setTabHidden(page, false);
    await expect(live).toHaveAttribute("aria-live", "off");
    await page.getByRole("contentinfo").scrollIntoViewIfNeeded();
    await expect(live).toHaveAttribute("aria-live", "polite");
    await page.clock.fastForward(20_000);
    await story(page).scrollIntoViewIfNeeded();
    await stands(page, 1);
    await page.clock.fastForward(8000);
    await stands(page, 2);

    await test.step("it turns by its buttons and dots and wraps both ways", async () => {
      await story(page).getByRole("button", { name: "Show scene 1" }).click();
      await stands(page, 1);
      await story(page).getByRole("button", { name: "Previous scene" }).click();
      await stands(page, 5);
      await story(page).getByRole("button", { name: "Next scene" }).click();
      await stands(page, 1);
      await story(page).getByRole("button", { name: "Next scene" }).press("Enter");
      await stands(page, 2);
      await story(page).getByRole("button", { name: "Show scene 4" }).click();
      await stands(page, 4);
    });

    await test.step("it goes on every 8000 ms, and from the last scene to the first", async () => {
      await stopClock(page);
      // The 8000 ms begin when the pointer leaves.
      await page.getByRole("link", { name: "Skip to the content" }).focus();
      await expect(live).toHaveAttribute("aria-live", "polite");
      await page.mouse.move(0, 0);
      await expect(live).toHaveAttribute("aria-live", "off");
      let before = 4;
      for (const scene of [5, 1]) {
        await page.clock.runFor(7500);
        await stands(page, before);
        await settled(page, scene);
        before = scene;
      }
    });
  });

  test("follows the finger, the mouse and the arrow keys", async ({ browser }) => {
    const page = await browser.newPage({ hasTouch: true, viewport: { width: 390, height: 800 } });
    await page.addInitScript(enableSaveData);
    await openMovingPage(page, "/about");
    await story(page).scrollIntoViewIfNeeded();
    // With the focus in it the carousel does not advance by itself; it may have before.
    await story(page).locator("ol").focus();
    await story(page).getByRole("button", { name: "Show scene 1" }).press("Enter");
    await stands(page, 1);
    await swipe(page, story(page), -250);
    await stands(page, 2);
    const box = await story(page).boundingBox();
    if (!box) throw new Error("no story");
    await page.mouse.move(box.x + 200, box.y + 80);
    await page.mouse.down();
    await page.mouse.move(box.x + 120, box.y + 80, { steps: 4 });
    await page.mouse.up();
    await stands(page, 3);
    await story(page).locator("ol").focus();
    await page.keyboard.press("ArrowRight");
    await stands(page, 4);
    await page.close();
  });
});
