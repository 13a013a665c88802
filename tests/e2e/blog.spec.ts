import { expect, test, toast } from "../support/e2e-fixtures.ts";

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
