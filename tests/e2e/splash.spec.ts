import type { Page } from "@playwright/test";
import { expect, test } from "../support/e2e-fixtures.ts";
import { startHoldingProxy } from "../support/holding-proxy.ts";

const header = (page: Page) => page.locator("header").first();

test.describe("the splash", () => {
  const splash = (page: Page) => page.locator(".splash");
  const tagline = "Built on Trust, Driven by Speed.";

  test("stands with the tagline while the page is on its way, and goes when content is there", async ({
    page,
    baseURL,
  }) => {
    const proxy = await startHoldingProxy(baseURL ?? "", '<main id="main"');
    await page.goto(proxy.url, { waitUntil: "commit" });
    await expect(splash(page)).toBeVisible();
    await expect(splash(page)).toHaveText(tagline);
    await expect(splash(page)).toHaveCSS("position", "fixed");
    await expect(splash(page)).toBeInViewport({ ratio: 1 });
    proxy.release();
    await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
    await expect(splash(page)).toBeHidden();
    await proxy.close();
  });

  test("is never over content that is there already, however long the rest takes", async ({ page, baseURL }) => {
    const proxy = await startHoldingProxy(baseURL ?? "", "</h1>");
    await page.goto(proxy.url, { waitUntil: "commit" });
    await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
    await expect(splash(page)).toBeHidden();
    await proxy.close();
  });

  test("goes after 3000 ms whatever comes", async ({ page, baseURL }) => {
    const proxy = await startHoldingProxy(baseURL ?? "", '<main id="main"');
    await page.goto(proxy.url, { waitUntil: "commit" });
    await expect(splash(page)).toHaveCSS("position", "fixed");
    await expect(splash(page)).toBeVisible();
    const at = (time: number) =>
      splash(page).evaluate((splash, time) => {
        const [animation] = splash.getAnimations();
        if (!animation) throw new Error("nothing ends the splash");
        animation.pause();
        animation.currentTime = time;
      }, time);
    await at(2999);
    await expect(splash(page)).toBeVisible();
    await at(3000);
    await expect(splash(page)).toBeHidden();
    await expect(header(page)).toBeVisible();
    await proxy.close();
  });

  test("is absent where script is off and where less motion is asked for", async ({ browser, baseURL }) => {
    for (const options of [{ javaScriptEnabled: false }, { reducedMotion: "reduce" as const }]) {
      const proxy = await startHoldingProxy(baseURL ?? "", '<main id="main"');
      const page = await browser.newPage(options);
      await page.goto(proxy.url, { waitUntil: "commit" });
      await expect(header(page)).toBeVisible();
      await expect(splash(page)).toBeHidden();
      await proxy.close();
      await page.close();
    }
  });
});
