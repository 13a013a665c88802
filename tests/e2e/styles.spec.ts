/** What the browser does by itself with the HTML and the style sheets, which script leaves alone: once, without script. */
import type { Page } from "@playwright/test";
import { expect, test } from "../support/e2e-fixtures.ts";

test("what opens grows only for people who have not asked for less motion", async ({ page }) => {
  const duration = () =>
    page
      .locator("main details[open]")
      .evaluate((each) => getComputedStyle(each, "::details-content").getPropertyValue("transition-duration"));
  for (const path of ["/services", "/resources/faq"]) {
    await page.emulateMedia({ reducedMotion: "no-preference" });
    await page.goto(path);
    expect(await duration()).toContain("0.2s");
    await page.emulateMedia({ reducedMotion: "reduce" });
    expect(await duration()).toBe("0s");
  }
});

test("a feed opens in a new tab, which learns neither the page nor its window", async ({ page, context }) => {
  const referers: (string | undefined)[] = [];
  await context.route(/^https:/, (route) => {
    referers.push(route.request().headers().referer);
    return route.fulfill({ contentType: "text/html", body: "<title>News</title>" });
  });
  await page.goto("/resources/feeds");
  const links = page.getByRole("link", { name: /^Visit News Center/ });
  await expect(links).toHaveCount(6);
  for (const link of await links.all()) {
    await expect(link).toHaveAttribute("target", "_blank");
    await expect(link).toHaveAttribute("rel", "noreferrer");
  }
  const popup = page.waitForEvent("popup");
  await links.last().click();
  const tab = await popup;
  await expect(tab).toHaveTitle("News");
  expect(await tab.evaluate(() => window.opener)).toBeNull();
  expect(referers).toEqual([undefined]);
  await expect(page).toHaveURL(/\/resources\/feeds$/);
});

test("the drawings are there, and the way from the search terms to the contact page", async ({ page }) => {
  const drawings = page.waitForResponse((response) => response.url().endsWith("/art/hero.svg"));
  await page.goto("/");
  expect((await drawings).status()).toBe(200);
  const box = await page.locator("use[href='/art/hero.svg#art']").boundingBox();
  expect(box?.width).toBeGreaterThan(600);
  await page.getByRole("link", { name: "Ask about your cargo" }).click();
  await expect(page).toHaveURL(/\/contact$/);
});

test("on a phone the contents are folded, open with a press and lead to the section", async ({ page }) => {
  await page.setViewportSize({ width: 360, height: 640 });
  await page.goto("/terms");
  const section = page.getByRole("heading", { name: "14. Governing law" });
  const entry = page.getByRole("link", { name: "14. Governing law" });
  await expect(entry).toHaveCount(0);
  await page.getByText("On this page").filter({ visible: true }).click();
  await entry.click();
  await expect(section).toBeInViewport();
});

test("on a narrow screen the rows of a table are blocks of labels and values, and nothing scrolls sideways", async ({
  page,
}) => {
  await page.setViewportSize({ width: 320, height: 640 });
  await page.goto("/resources/blog/lcl-vs-fcl");
  const table = page.getByRole("table", { name: "Worked example: find the break-even" });
  const head = table.getByRole("rowheader", { name: "25 CBM" });
  const cell = table.getByRole("cell", { name: "FCL, 1,400" });
  await cell.scrollIntoViewIfNeeded();
  const [above, below] = [await head.boundingBox(), await cell.boundingBox()];
  expect(below?.y).toBeGreaterThan((above?.y ?? 0) + 40);
  expect(await cell.evaluate((one) => getComputedStyle(one, "::before").content)).toContain("Cheaper by (USD)");
  await expect(table.getByRole("columnheader", { name: "Cheaper by (USD)" })).toHaveCount(1);
  const wide = (frames: Element[]) => frames.filter((frame) => frame.scrollWidth > frame.clientWidth).length;
  for (const width of [320, 390, 767, 768, 1024, 1280]) {
    await page.setViewportSize({ width, height: 640 });
    expect(await page.locator(".table-frame").evaluateAll(wide), `tables at ${width}`).toBe(0);
    expect(await getPageWidth(page)).toBe(width);
  }
  const [left, right] = [await head.boundingBox(), await cell.boundingBox()];
  expect(right?.y).toBe(left?.y);
});

test("on paper a table is a table, however narrow the sheet", async ({ page }) => {
  await page.setViewportSize({ width: 390, height: 640 });
  await page.goto("/resources/blog/importing-a-car-to-kenya");
  await page.emulateMedia({ media: "print" });
  const row = page.getByRole("row", { name: /^Total taxes/ });
  const tops = await row.locator("> *").evaluateAll((cells) => cells.map((cell) => cell.getBoundingClientRect().top));
  expect(new Set(tops).size).toBe(1);
  const head = await page.getByRole("columnheader", { name: "How it is worked out" }).boundingBox();
  expect(head?.height).toBeGreaterThan(10);
});

/** How wide the page wants to be, in CSS pixels. */
function getPageWidth(page: Page): Promise<number> {
  return page.evaluate(() => document.documentElement.scrollWidth);
}
