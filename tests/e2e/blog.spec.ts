import type { Page } from "@playwright/test";
import { expect, test, toast } from "../support/fixtures.ts";

test("filter the blog by category, read an article, go back", async ({ page }) => {
  await page.goto("/resources/blog");
  await expect(page.getByRole("article")).toHaveCount(20);
  await page.getByLabel("Category").selectOption("Customs");
  await page.getByRole("button", { name: "Show" }).click();
  await expect(page).toHaveURL(/\?category=Customs$/);
  await expect(page.getByRole("article")).toHaveCount(2);
  await expect(page.getByLabel("Category")).toHaveValue("Customs");

  await page.getByRole("link", { name: "Read More about HS codes" }).click();
  await expect(page).toHaveURL(/\/resources\/blog\/hs-codes-explained$/);
  await expect(page.getByRole("heading", { level: 1 })).toContainText("HS codes: how to find the right one");
  await expect(page.getByText("8 October 2025")).toBeVisible();
  await expect(page.getByRole("heading", { name: "The rules of classification" })).toBeVisible();
  await expect(page.getByRole("cell", { name: "1,010,000" })).toBeVisible();

  await page.getByRole("link", { name: "Back to All Articles" }).first().click();
  await expect(page).toHaveURL(/\/resources\/blog$/);
  await expect(page.getByRole("article")).toHaveCount(20);
  await expect(page.getByLabel("Category")).toHaveValue("All");
  await page.goBack();
  await expect(page.getByRole("heading", { name: "The rules of classification" })).toBeVisible();
});

test("a category can be left again, may have no article or one still being written, and an unknown article leads to the list", async ({
  page,
}) => {
  await test.step("choose All again after a category", async () => {
    await page.goto("/resources/blog?category=Risk+Management");
    await expect(page.getByRole("article")).toHaveCount(1);
    await expect(page.getByLabel("Category")).toHaveValue("Risk Management");
    await page.getByLabel("Category").selectOption("All");
    await page.getByRole("button", { name: "Show" }).click();
    await expect(page.getByRole("article")).toHaveCount(20);
  });

  await test.step("a category nobody writes about says so", async () => {
    await page.goto("/resources/blog?category=Gardening");
    await expect(page.getByRole("heading", { name: "No Articles Found" })).toBeVisible();
    await expect(page.getByText("Please try a different category.")).toBeVisible();
  });

  await test.step("an unknown article leads to the list without a word", async () => {
    await page.goto("/resources/blog/no-such-article");
    await expect(page).toHaveURL(/\/resources\/blog$/);
    await expect(page.getByRole("heading", { level: 1 })).toHaveText("Blog");
    await expect(toast(page)).toHaveCount(0);
  });

  await test.step("an article that is not written yet says so, and where to ask meanwhile", async () => {
    await page.getByLabel("Category").selectOption("Removals");
    await page.getByRole("button", { name: "Show" }).click();
    await expect(page.getByRole("article")).toHaveCount(1);
    await expect(page.getByText("Being written")).toBeVisible();
    await page.getByRole("link", { name: "Read More" }).click();
    await expect(page.getByText("Full content for Moving household goods to Kenya.")).toBeVisible();
    await page.getByRole("link", { name: "ask us" }).click();
    await expect(page).toHaveURL(/\/contact$/);
  });
});

test("an article stays as it is while the quote form is opened over it and closed", async ({ page }) => {
  await page.goto("/resources/blog/importing-a-car-to-kenya");
  const body = page.locator(".prose");
  const before = await body.textContent();
  expect(before?.length).toBeGreaterThan(5000);
  await page.getByRole("contentinfo").getByRole("link", { name: "Get a Quote" }).click();
  await expect(page.getByRole("dialog", { name: "Get a Quote" })).toBeVisible();
  await page.getByRole("link", { name: "Close", exact: true }).click();
  await expect(page.getByRole("dialog")).toHaveCount(0);
  expect(await body.textContent()).toBe(before);
});

test("from the terms to the privacy policy, and to a section of it", async ({ page }) => {
  await page.goto("/terms");
  await expect(page.getByText("Effective 22 October 2025")).toBeVisible();
  await page.getByRole("main").getByRole("link", { name: "privacy policy" }).click();
  await expect(page).toHaveURL(/\/privacy$/);
  await expect(page.getByText("Last updated 22 October 2025")).toBeVisible();
  await page.getByRole("navigation", { name: "On this page" }).getByRole("link", { name: "13. Children" }).click();
  await expect(page).toHaveURL(/#children$/);
  await expect(page.getByRole("heading", { name: "13. Children" })).toBeInViewport();
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
    expect(await widthOf(page)).toBe(width);
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
function widthOf(page: Page): Promise<number> {
  return page.evaluate(() => document.documentElement.scrollWidth);
}
