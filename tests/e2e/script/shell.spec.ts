import type { Page } from "@playwright/test";
import { expect, test } from "../../support/e2e-fixtures.ts";
import { labels } from "../../support/labels.ts";
import { enableSaveData, openMovingPage, withMotion } from "../../support/motion.ts";

const header = (page: Page) => page.locator("header").first();

test.beforeEach(() => test.slow());

const transparentColor = "rgba(0, 0, 0, 0)";

test("The header is always visible, and becomes opaque after scrolling more than 50 px.", async ({ page }) => {
  await openMovingPage(page, "/");
  await expect(header(page)).toHaveCSS("background-color", transparentColor);
  const scroll = (top: number) => page.evaluate((top) => window.scrollTo({ top, behavior: "instant" }), top);
  await scroll(51);
  await expect(header(page)).not.toHaveCSS("background-color", transparentColor);
  await scroll(50);
  await expect(header(page)).toHaveCSS("background-color", transparentColor);
  await scroll(2000);
  await expect(header(page)).toBeInViewport({ ratio: 1 });
  await expect(header(page)).not.toHaveCSS("background-color", transparentColor);
  await openMovingPage(page, "/services#transporters");
  await expect(header(page)).not.toHaveCSS("background-color", transparentColor);
});

for (const { name, width } of [
  { name: "Resources", width: 1280 },
  { name: "Menu", width: 390 },
]) {
  test.describe(`List '${name}' in the header`, () => {
    test.use({ hasTouch: true, viewport: { width, height: 800 } });
    const summary = (page: Page) => page.locator("header summary:visible", { hasText: name });
    const faq = (page: Page) => header(page).getByRole("link", { name: "FAQ" }).locator("visible=true");

    test(`The list '${name}' closes with Escape, when the focus leaves the list, and with a touch on its button or outside.`, async ({
      page,
    }) => {
      await openMovingPage(page, "/login");
      await summary(page).press("Enter");
      await expect(faq(page)).toBeVisible();
      await faq(page).focus();
      await page.keyboard.press("Escape");
      await expect(faq(page)).toHaveCount(0);
      await expect(summary(page)).toBeFocused();

      await summary(page).press("Enter");
      await faq(page).focus();
      await page.keyboard.press("Tab");
      await expect(faq(page)).toBeVisible();
      await page.getByLabel("Email").focus();
      await expect(faq(page)).toHaveCount(0);

      await summary(page).tap();
      await expect(faq(page)).toBeVisible();
      await summary(page).tap();
      await expect(faq(page)).toHaveCount(0);
      await summary(page).tap();
      await expect(faq(page)).toBeVisible();
      await page.touchscreen.tap(20, 700);
      await expect(faq(page)).toHaveCount(0);
    });
  });
}

test("The Resources list is open while it is hovered, and after a click until a click elsewhere.", async ({ page }) => {
  await page.setViewportSize({ width: 1280, height: 800 });
  await openMovingPage(page, "/login");
  const summary = page.locator("header summary", { hasText: "Resources" });
  const faq = header(page).getByRole("link", { name: "FAQ" });
  await summary.hover();
  await expect(faq).toBeVisible();
  await faq.hover();
  await expect(faq).toBeVisible();
  await page.keyboard.press("Escape");
  await expect(faq).toBeHidden();
  await page.mouse.move(600, 600);
  await summary.hover();
  await expect(faq).toBeVisible();
  await page.mouse.move(600, 600);
  await expect(faq).toBeHidden();
  await summary.click();
  await expect(faq).toBeVisible();
  await page.mouse.move(600, 600);
  await expect(faq).toBeVisible();
  await page.mouse.click(600, 700);
  await expect(faq).toBeHidden();
});

test.describe("Animated streaks", () => {
  test.use(withMotion);

  test("Fifty streaks appear after the page has loaded, behind text with a contrast of 7:1, but not in data-saving mode.", async ({
    page,
  }) => {
    const order: string[] = [];
    page.on("load", () => order.push("the page"));
    page.on("request", (request) => {
      if (/\/lazy-/.test(request.url())) order.push("the streaks");
    });
    await openMovingPage(page, "/");
    const streaks = page.locator(".streaks i");
    await expect(streaks).toHaveCount(50);
    expect([...new Set(order)]).toEqual(["the page", "the streaks"]);
    const properties = await page.evaluate(() => [
      ...new Set(
        document
          .getAnimations()
          .filter((animation) => (animation as CSSAnimation).animationName === "pass")
          .flatMap(({ effect }) => (effect as KeyframeEffect).getKeyframes())
          .flatMap((frame) => Object.keys(frame)),
      ),
    ]);
    expect(properties.sort()).toEqual(["composite", "computedOffset", "easing", "offset", "transform"]);
    // The streaks must not receive clicks, so another element must be above them at every point.
    const onTop = await page.evaluate(() =>
      Array.from({ length: 400 }, (_, index) =>
        document.elementFromPoint((index % 20) * (innerWidth / 20), Math.floor(index / 20) * (innerHeight / 20)),
      ).filter((element) => element?.closest(".streaks")),
    );
    expect(onTop).toHaveLength(0);
    await expect(page.locator(".streaks")).toHaveCSS("z-index", "-1");

    for (const theme of ["dark", "light"]) {
      if (theme === "light") await page.getByRole("button", { name: labels.useLightTheme }).click();
      await expect(page.locator("html")).toHaveClass(theme);
      const streak = page.locator(".streaks i").first();
      await expect(streak).toBeAttached();
      const contrasts = await streak.evaluate((streak) => {
        const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
        if (!canvas) throw new Error("no canvas");
        const tokens = getComputedStyle(document.documentElement);
        const paint = (colour: string, alpha = 1) => {
          canvas.globalAlpha = alpha;
          canvas.fillStyle = colour;
          canvas.fillRect(0, 0, 1, 1);
          return [...canvas.getImageData(0, 0, 1, 1).data.slice(0, 3)];
        };
        const light = (colour: number[]) => {
          const [red = 0, green = 0, blue = 0] = colour
            .map((value) => value / 255)
            .map((value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4));
          return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
        };
        const { backgroundImage, opacity } = getComputedStyle(streak);
        const brightest = backgroundImage.match(/(rgb|color|oklab)[^()]*\([^()]*\)(?=\)$)/)?.[0];
        if (!brightest) throw new Error(backgroundImage);
        paint(tokens.backgroundColor);
        const under = light(paint(brightest, Number(opacity)));
        return ["--color-ink", "--color-quiet"].map((token) => {
          const text = light(paint(tokens.getPropertyValue(token)));
          return (Math.max(text, under) + 0.05) / (Math.min(text, under) + 0.05);
        });
      });
      for (const contrast of contrasts) expect(contrast, theme).toBeGreaterThanOrEqual(7);
    }

    await page.emulateMedia({ media: "print" });
    await expect(page.locator(".streaks")).toBeHidden();
    await page.emulateMedia({ media: null });

    await page.addInitScript(enableSaveData);
    await openMovingPage(page, "/");
    // The streaks appear in a later idle period than the button for which openMovingPage waits.
    await page.evaluate(() => new Promise((resolve) => requestIdleCallback(() => setTimeout(resolve, 500))));
    await expect(page.locator(".streaks")).toHaveCount(0);
  });
});
