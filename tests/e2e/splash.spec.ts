import type { Page } from "@playwright/test";
import { expect, heading, test } from "../support/e2e-fixtures.ts";
import { startHoldingProxy } from "../support/holding-proxy.ts";

const header = (page: Page) => page.locator("header").first();

test.describe("The splash", { tag: "@script" }, () => {
  const splash = (page: Page) => page.locator(".splash");
  const tagline = "Built on Trust, Driven by Speed.";

  test("The splash shows the tagline until the content arrives", async ({ page, baseURL }) => {
    const proxy = await startHoldingProxy(baseURL ?? "", '<main id="main"');
    await page.goto(proxy.url, { waitUntil: "commit" });
    await expect(splash(page)).toBeVisible();
    await expect(splash(page)).toHaveText(tagline);
    await expect(splash(page)).toHaveCSS("position", "fixed");
    await expect(splash(page)).toBeInViewport({ ratio: 1 });
    proxy.release();
    await expect(heading(page)).toBeVisible();
    await expect(splash(page)).toBeHidden();
    await proxy.close();
  });

  test("The splash never covers content that has already arrived", async ({ page, baseURL }) => {
    const proxy = await startHoldingProxy(baseURL ?? "", "</h1>");
    await page.goto(proxy.url, { waitUntil: "commit" });
    await expect(heading(page)).toBeVisible();
    await expect(splash(page)).toBeHidden();
    await proxy.close();
  });

  test("The splash disappears after 3 s without content", async ({ page, baseURL }) => {
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

  test("No splash is shown without script or with reduced motion", async ({ browser, baseURL }) => {
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
