import type { Page } from "@playwright/test";
import { expect, logInWithoutPage, test } from "../support/e2e-fixtures.ts";
import { labels } from "../support/labels.ts";
import { enableSaveData, openMovingPage, withMotion } from "../support/motion.ts";

const header = (page: Page) => page.locator("header").first();

test.beforeEach(() => test.slow());

const transparentColor = "rgba(0, 0, 0, 0)";

test.describe("The header", { tag: "@script" }, () => {
  test("The header is always visible, and is solid only after scrolling more than 50 px", async ({ page }) => {
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
  });

  test("The header is solid on a page that opens at a later section", async ({ page }) => {
    await openMovingPage(page, "/services#transporters");
    await expect(header(page)).not.toHaveCSS("background-color", transparentColor);
  });
});

for (const { name, width } of [
  { name: "Resources", width: 1280 },
  { name: "Menu", width: 390 },
]) {
  test.describe(`'${name}' in the header`, { tag: "@script" }, () => {
    test.use({ viewport: { width, height: 800 } });
    const summary = (page: Page) => page.locator("header summary:visible", { hasText: name });
    const faq = (page: Page) => header(page).getByRole("link", { name: "FAQ" }).locator("visible=true");

    test(`'${name}' closes on Escape and when the focus leaves it`, async ({ page }) => {
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
    });

    test(`A touch opens and closes '${name}', and a touch outside closes it`, async ({ browser }) => {
      const page = await browser.newPage({ hasTouch: true, viewport: { width, height: 800 } });
      await openMovingPage(page, "/login");
      await summary(page).tap();
      await expect(faq(page)).toBeVisible();
      await summary(page).tap();
      await expect(faq(page)).toHaveCount(0);
      await summary(page).tap();
      await expect(faq(page)).toBeVisible();
      await page.touchscreen.tap(20, 700);
      await expect(faq(page)).toHaveCount(0);
      await page.close();
    });
  });
}

test("The Resources list opens while hovered, and after a click stays open until a click elsewhere", {
  tag: "@script",
}, async ({ page }) => {
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

test.describe("The streaks", { tag: "@script" }, () => {
  test.use(withMotion);

  test("Fifty streaks load after the page, behind text with a contrast of 7:1", async ({ page }) => {
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
    // No streak receives clicks, because another element is above the streak at every point.
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
  });

  test("A device that saves data draws no streaks", async ({ page }) => {
    await page.addInitScript(enableSaveData);
    await openMovingPage(page, "/");
    await expect(page.locator(".streaks")).toHaveCount(0);
  });
});

test.describe("The header without script", { tag: "@no-script" }, () => {
  test("Without script the header is solid, all content is visible and no motion button is shown", async ({ page }) => {
    await page.goto("/");
    await expect(header(page)).not.toHaveCSS("background-color", transparentColor);
    for (const client of await page.locator("#testimonials li").all()) {
      await client.scrollIntoViewIfNeeded();
      await expect(client).toBeInViewport({ ratio: 1 });
    }
    await page.goto("/about");
    const partners = page.getByRole("region", { name: labels.partners }).getByRole("listitem");
    await expect(partners).toHaveCount(13);
    for (const partner of await partners.all()) await expect(partner).toBeVisible();
    await expect(page.getByRole("button", { name: /pause|next|previous|scene/i })).toHaveCount(0);
  });
});

test("The footer is at most 500 px high on a phone and has one row in the portal", { tag: "@no-script" }, async ({
  page,
  client,
}) => {
  const footer = page.getByRole("contentinfo");
  const height = async () => (await footer.boundingBox())?.height ?? 0;
  await page.setViewportSize({ width: 390, height: 844 });
  await page.goto("/services");
  expect(await height()).toBeLessThanOrEqual(500);
  await logInWithoutPage(page, client);
  await page.setViewportSize({ width: 1440, height: 900 });
  await page.goto("/portal");
  expect(await height()).toBeLessThanOrEqual(60);
});

test("'Chat with us' is visible at every width and covers no content", { tag: "@no-script" }, async ({ page }) => {
  await page.goto("/services");
  const chat = page.getByRole("link", { name: "Chat with us" });
  for (const width of [320, 390, 768, 1279, 1280, 1440]) {
    await page.setViewportSize({ width, height: 800 });
    await expect(chat).toHaveCount(1);
    await page.evaluate(() => scrollTo(0, 900));
    await expect(chat, `at ${width} px`).toBeInViewport({ ratio: 1 });
    const inBar = await chat.evaluate((link) => link.closest("header") !== null);
    expect(inBar).toBe(width < 1280);
    if (inBar) continue;
    const box = await chat.boundingBox();
    const edge = await page.evaluate(() =>
      Math.max(
        ...[...document.querySelectorAll("main *, header a, header button, footer p")].map((part) =>
          part.checkVisibility() && !part.closest("svg") ? part.getBoundingClientRect().right : 0,
        ),
      ),
    );
    expect(box?.x, `at ${width} px`).toBeGreaterThanOrEqual(edge);
  }
});
