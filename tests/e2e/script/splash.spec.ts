import type { Page } from "@playwright/test";
import { expect, heading, test } from "../../support/e2e-fixtures.ts";
import { startHoldingProxy } from "../../support/holding-proxy.ts";

const header = (page: Page) => page.locator("header").first();

const splash = (page: Page) => page.locator(".splash");

test("The splash screen shows the tagline until the content arrives, for at most 3 s.", async ({ page, baseURL }) => {
  const proxy = await startHoldingProxy(baseURL ?? "", '<main id="main"');
  await page.goto(proxy.url, { waitUntil: "commit" });
  await expect(splash(page)).toHaveCSS("position", "fixed");
  await expect(splash(page)).toHaveText("Built on Trust, Driven by Speed.");
  await expect(splash(page)).toBeInViewport({ ratio: 1 });
  const setTime = (time: number) =>
    splash(page).evaluate((splash, time) => {
      const [animation] = splash.getAnimations();
      if (!animation) throw new Error("nothing ends the splash");
      animation.pause();
      animation.currentTime = time;
    }, time);
  await setTime(3000);
  await expect(splash(page)).toBeHidden();
  await expect(header(page)).toBeVisible();
  await setTime(2999);
  await expect(splash(page)).toBeVisible();
  proxy.release();
  await expect(heading(page)).toBeVisible();
  await expect(splash(page)).toBeHidden();
  await proxy.close();
});

test("The splash screen never covers content that has already arrived.", async ({ page, baseURL }) => {
  const proxy = await startHoldingProxy(baseURL ?? "", "</h1>");
  await page.goto(proxy.url, { waitUntil: "commit" });
  await expect(heading(page)).toBeVisible();
  await expect(splash(page)).toBeHidden();
  await proxy.close();
});

test("No splash screen is shown without script or with reduced motion.", async ({ browser, baseURL }) => {
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
