import type { Page } from "@playwright/test";
import { expect, test, toast } from "../support/fixtures.ts";

/** Everywhere else everything is paused (playwright.config.ts). */
const moving = { storageState: { cookies: [], origins: [] } };

test.beforeEach(() => test.slow());

const pauseButton = (page: Page) => page.getByRole("button", { name: "Pause all motion" });

/** Opens a page and waits until what makes it move has arrived. */
async function open(page: Page, path: string): Promise<void> {
  await page.goto(path);
  await expect(pauseButton(page)).toBeVisible({ timeout: 15_000 });
}

function saveData(): void {
  Object.defineProperty(navigator, "connection", { value: { saveData: true } });
}

/** The names of the endless animations that run right now. */
const running = (page: Page) =>
  page.evaluate(() => [
    ...new Set(
      document
        .getAnimations()
        .filter(({ playState, effect }) => playState === "running" && effect?.getTiming().iterations === Infinity)
        .map((animation) => (animation as CSSAnimation).animationName),
    ),
  ]);

/** Stops the clock of the page; from then on only `page.clock.runFor` moves it. */
async function stopClock(page: Page): Promise<void> {
  await page.clock.pauseAt((await page.evaluate(() => Date.now())) + 1000);
}

async function hideTab(page: Page, hidden: boolean): Promise<void> {
  await page.evaluate((hidden) => {
    Object.defineProperty(document, "hidden", { value: hidden, configurable: true });
    document.dispatchEvent(new Event("visibilitychange"));
  }, hidden);
}

test.describe("what moves", () => {
  test.use(moving);
  const partners = (page: Page) => page.getByRole("region", { name: "Marks of our partners" });

  for (const { path, name, items } of [
    { path: "/about", name: "Marks of our partners", items: 13 },
    { path: "/", name: "Three clients", items: 3 },
  ]) {
    test(`'${name}' loop in 40 s without a seam, and are read aloud once`, async ({ page }) => {
      await open(page, path);
      const strip = page.getByRole("region", { name });
      await strip.scrollIntoViewIfNeeded();
      await expect.poll(() => running(page)).toContain("strip");
      await expect(strip.getByRole("listitem")).toHaveCount(items);
      await expect(strip.locator("li")).toHaveCount(2 * items);
      const seam = await strip.evaluate((strip) => {
        const [animation] = strip.getAnimations({ subtree: true });
        if (!animation) throw new Error("nothing moves");
        animation.pause();
        const left = (round: number) => strip.querySelectorAll("ul")[round]?.getBoundingClientRect().left ?? 0;
        animation.currentTime = 0;
        const [start, width] = [left(0), left(1) - left(0)];
        animation.currentTime = 39_999.99;
        return { gap: Math.round(left(1) - start), fills: width >= strip.clientWidth };
      });
      expect(seam).toEqual({ gap: 0, fills: true });
      expect(await strip.evaluate((strip) => strip.firstElementChild?.getAnimations()[0]?.effect?.getTiming())).toEqual(
        expect.objectContaining({ duration: 40_000, iterations: Infinity }),
      );
    });
  }

  test("a strip stands still under the pointer, out of sight and in a hidden tab", async ({ page }) => {
    await open(page, "/about");
    await partners(page).scrollIntoViewIfNeeded();
    await expect.poll(() => running(page)).toContain("strip");
    await partners(page).hover();
    await expect.poll(() => running(page)).not.toContain("strip");
    await page.mouse.move(0, 0);
    await expect.poll(() => running(page)).toContain("strip");
    await page.getByRole("contentinfo").scrollIntoViewIfNeeded();
    await expect.poll(() => running(page)).toEqual(["pass"]);
    await partners(page).scrollIntoViewIfNeeded();
    await expect.poll(() => running(page)).toContain("strip");
    await hideTab(page, true);
    await expect.poll(() => running(page)).toEqual([]);
    await hideTab(page, false);
    await expect.poll(() => running(page)).toContain("strip");
  });

  test("one button pauses everything, on this page and on the next visit, and sets it going again", async ({
    page,
  }) => {
    await page.clock.install();
    await open(page, "/about");
    await page.getByRole("region", { name: "Scenes of our story" }).scrollIntoViewIfNeeded();
    await expect(pauseButton(page)).toHaveAttribute("aria-pressed", "false");
    await pauseButton(page).click();
    await expect(pauseButton(page)).toHaveAttribute("aria-pressed", "true");
    await expect.poll(() => running(page)).toEqual([]);
    expect(await page.evaluate(() => localStorage.getItem("motion"))).toBe("paused");
    await page.clock.fastForward(30_000);
    await expect(page.getByRole("group", { name: "1 of 5" })).toBeInViewport();

    await page.reload();
    await expect(pauseButton(page)).toHaveAttribute("aria-pressed", "true");
    await expect(page.locator(".traffic i")).toHaveCount(50);
    expect(await running(page)).toEqual([]);
    await pauseButton(page).press("Space");
    await expect(pauseButton(page)).toHaveAttribute("aria-pressed", "false");
    await expect.poll(() => running(page)).toContain("pass");
  });

  test("a strip that was paused shows the rest of itself to who scrolls it by keyboard", async ({ page }) => {
    await page.addInitScript(() => localStorage.setItem("motion", "paused"));
    await open(page, "/about");
    await expect(partners(page)).toHaveAttribute("tabindex", "0");
    await partners(page).focus();
    const last = partners(page).getByRole("listitem").last();
    await expect(last).not.toBeInViewport();
    await expect(async () => {
      await page.keyboard.press("ArrowRight");
      await expect(last).toBeInViewport({ timeout: 50 });
    }).toPass({ intervals: [20] });
  });

  test("for people who want less motion nothing moves, nothing is hidden, and there is nothing to pause", async ({
    page,
  }) => {
    await page.emulateMedia({ reducedMotion: "reduce" });
    await page.clock.install();
    for (const { path, name, items } of [
      { path: "/", name: "Three clients", items: 3 },
      { path: "/about", name: "Marks of our partners", items: 13 },
    ]) {
      await page.goto(path);
      await expect(page.locator(".traffic")).toBeAttached();
      const strip = page.getByRole("region", { name });
      for (const item of await strip.locator("li").all()) {
        await item.scrollIntoViewIfNeeded();
        await expect(item).toBeInViewport();
      }
      await expect(strip.locator("li")).toHaveCount(items);
      expect(await running(page)).toEqual([]);
      await expect(pauseButton(page)).toBeHidden();
      await expect(page.locator(".traffic")).toBeHidden();
    }
    const scenes = page.getByRole("region", { name: "Scenes of our story" });
    await scenes.scrollIntoViewIfNeeded();
    await page.clock.fastForward(30_000);
    await expect(scenes.getByRole("group", { name: "1 of 5" })).toBeInViewport();
    await scenes.getByRole("button", { name: "Next scene" }).click();
    await expect(scenes.getByRole("group", { name: "2 of 5" })).toBeInViewport({ ratio: 0.99 });
  });

  for (const width of [320, 1280]) {
    test(`nothing changes its place when script arrives, at ${width} px`, async ({ page }) => {
      await page.addInitScript(() => localStorage.setItem("motion", "paused"));
      await page.setViewportSize({ width, height: 800 });
      for (const path of ["/", "/about"]) {
        let arrive = () => {};
        const arrived = new Promise<void>((resolve) => {
          arrive = resolve;
        });
        await page.route("**/*.js", async (route) => {
          await arrived;
          await route.continue();
        });
        await page.goto(path, { waitUntil: "commit" });
        await expect(page.getByRole("contentinfo")).toBeVisible();
        const places = () =>
          page
            .locator("header :is(a, form, summary), main :is(h1, h2, h3, p, dd, figure, section), footer :is(p, a)")
            .evaluateAll((all) =>
              all.map((each) => {
                const { x, y, width, height } = each.getBoundingClientRect();
                return [each.textContent?.slice(0, 30), x, y + scrollY, width, height];
              }),
            );
        const before = await places();
        arrive();
        await expect(pauseButton(page)).toBeVisible();
        await expect(page.getByRole("button", { name: /^Next/ })).toBeVisible();
        expect(await places()).toEqual(before);
        await page.unroute("**/*.js");
      }
    });
  }
});

test.describe("the numbers", () => {
  test.use(moving);
  /** Notes whether any other number than the final one was ever in the page. */
  async function watchNumbers(page: Page) {
    await page.addInitScript(() => {
      new MutationObserver(() => {
        if (document.querySelector("#stats dd [aria-hidden]")) Object.assign(window, { hasCounted: true });
      }).observe(document, { subtree: true, childList: true });
    });
    return () => page.evaluate(() => "hasCounted" in window);
  }

  test("count up over 2000 ms once half of them is visible; read aloud they are final, and nothing shifts", async ({
    page,
  }) => {
    await page.setViewportSize({ width: 390, height: 700 });
    await page.clock.install();
    await open(page, "/");
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

  test("stay as they are when they were in view before script arrived", async ({ page }) => {
    const hasCounted = await watchNumbers(page);
    await page.setViewportSize({ width: 1280, height: 1600 });
    await open(page, "/");
    await expect(page.locator("#stats dl")).toBeInViewport();
    await page.locator("#closing, footer").last().scrollIntoViewIfNeeded();
    await page.locator("#stats dl").scrollIntoViewIfNeeded();
    expect(await hasCounted()).toBe(false);
  });

  for (const still of ["the device asks for less motion", "everything is paused"]) {
    test(`are final from the start where ${still}`, async ({ page }) => {
      const hasCounted = await watchNumbers(page);
      if (still.startsWith("the device")) await page.emulateMedia({ reducedMotion: "reduce" });
      else await page.addInitScript(() => localStorage.setItem("motion", "paused"));
      await page.setViewportSize({ width: 390, height: 700 });
      await page.goto("/");
      await expect(page.getByRole("button", { name: "Next industries" })).toBeAttached();
      await page.locator("#stats dl").scrollIntoViewIfNeeded();
      await expect(page.locator("#stats dd").last()).toBeInViewport();
      expect(await hasCounted()).toBe(false);
    });
  }
});

test.describe("the row of industries", () => {
  const row = (page: Page) => page.getByRole("region", { name: "The ten industries" });
  const left = (page: Page) => row(page).evaluate((row) => row.scrollLeft);

  test("moves by its buttons, which say when it ends", async ({ page }) => {
    await open(page, "/");
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
    expect(await left(page)).toBe(0);
  });

  test("is pushed by the mouse, which clicks nothing on the way; a click still clicks", async ({ page }) => {
    await open(page, "/");
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
  });

  test("a card that was pushed aside can still be chosen by keyboard", async ({ page }) => {
    await open(page, "/");
    const card = row(page).getByRole("button").nth(1);
    await card.scrollIntoViewIfNeeded();
    const box = await card.boundingBox();
    if (!box) throw new Error("no card");
    await page.mouse.move(box.x + 200, box.y + 60);
    await page.mouse.down();
    await page.mouse.move(box.x + 20, box.y + 60, { steps: 5 });
    await page.mouse.up();
    await card.press("Enter");
    await expect(toast(page, "Clicked")).toBeVisible();
  });

  test("follows a finger", async ({ browser }) => {
    const page = await browser.newPage({ hasTouch: true, viewport: { width: 390, height: 800 } });
    await open(page, "/");
    await row(page).scrollIntoViewIfNeeded();
    await swipe(page, row(page), -300);
    await expect.poll(() => left(page)).toBeGreaterThan(200);
    await page.close();
  });
});

/** A finger on the screen, to the left for less than 0. */
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
  test.use(moving);
  // Without streaks, which would take the browser's time.
  test.beforeEach(({ page }) => page.addInitScript(saveData));

  const story = (page: Page) => page.getByRole("region", { name: "Scenes of our story" });
  const stands = (page: Page, scene: number) =>
    expect(async () => {
      await expect(story(page).getByRole("group", { name: `${scene} of 5` })).toBeInViewport({ ratio: 0.9 });
      await expect(story(page).getByRole("group")).toHaveCount(1);
      await expect(story(page).locator("[aria-current]")).toHaveText(`Show scene ${scene}`);
    }).toPass({ timeout: 15_000 });

  test("turns by its buttons and dots and wraps both ways", async ({ page }) => {
    await open(page, "/about");
    await story(page).scrollIntoViewIfNeeded();
    await expect(story(page)).toHaveAttribute("aria-roledescription", "carousel");
    await expect(story(page).getByRole("group")).toHaveAttribute("aria-roledescription", "slide");
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

  test("goes on by itself every 8000 ms, round and round", async ({ page }) => {
    await page.clock.install();
    await open(page, "/about");
    await story(page).scrollIntoViewIfNeeded();
    await stopClock(page);
    // From here the time is known: it begins when the pointer goes.
    await story(page).hover();
    await expect(story(page).locator("ol")).toHaveAttribute("aria-live", "polite");
    await page.mouse.move(0, 0);
    await expect(story(page).locator("ol")).toHaveAttribute("aria-live", "off");
    let before = 1;
    for (const scene of [2, 3, 4, 5, 1]) {
      await page.clock.runFor(7500);
      await stands(page, before);
      // The row scrolls by the browser's own time and comes to rest by the page's.
      await expect(async () => {
        await page.clock.runFor(50);
        await expect(story(page).getByRole("group", { name: `${scene} of 5` })).toBeVisible({ timeout: 100 });
      }).toPass();
      await stands(page, scene);
      before = scene;
    }
  });

  test("waits under the pointer, while it has the focus, out of sight and in a hidden tab", async ({ page }) => {
    await page.clock.install();
    await open(page, "/about");
    await story(page).scrollIntoViewIfNeeded();
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
    await hideTab(page, true);
    await holds();
    await hideTab(page, false);
    await expect(live).toHaveAttribute("aria-live", "off");
    await page.getByRole("contentinfo").scrollIntoViewIfNeeded();
    await expect(live).toHaveAttribute("aria-live", "polite");
    await page.clock.fastForward(20_000);
    await story(page).scrollIntoViewIfNeeded();
    await stands(page, 1);
    await page.clock.fastForward(8000);
    await stands(page, 2);
  });

  test("follows the finger, the mouse and the arrow keys", async ({ browser }) => {
    const page = await browser.newPage({ hasTouch: true, viewport: { width: 390, height: 800 } });
    await open(page, "/about");
    await story(page).scrollIntoViewIfNeeded();
    // With the focus in it nothing turns by itself.
    await story(page).locator("ol").focus();
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
