import { expect, heading, quoteDialog, quoteLink, test } from "../support/e2e-fixtures.ts";

test("A visitor filters the blog by category, reads an article and goes back", async ({ page }) => {
  await page.goto("/resources/blog");
  await expect(page.getByRole("article")).toHaveCount(20);
  await page.getByLabel("Category").selectOption("Customs");
  await page.getByRole("button", { name: "Show" }).click();
  await expect(page).toHaveURL(/\?category=Customs$/);
  await expect(page.getByRole("article")).toHaveCount(2);
  await expect(page.getByLabel("Category")).toHaveValue("Customs");

  await page.getByRole("link", { name: "Read More about HS codes" }).click();
  await expect(page).toHaveURL(/\/resources\/blog\/hs-codes-explained$/);
  await expect(heading(page)).toContainText("HS codes: how to find the right one");
  await expect(page.getByRole("heading", { name: "The rules of classification" })).toBeVisible();

  await page.getByRole("link", { name: "Back to All Articles" }).first().click();
  await expect(page).toHaveURL(/\/resources\/blog$/);
  await expect(page.getByRole("article")).toHaveCount(20);
  await expect(page.getByLabel("Category")).toHaveValue("All");
  await page.goBack();
  await expect(page.getByRole("heading", { name: "The rules of classification" })).toBeVisible();
});

test("An article is unchanged after the quote opened over it and closed", { tag: "@script" }, async ({ page }) => {
  await page.goto("/resources/blog/importing-a-car-to-kenya");
  const body = page.locator(".prose");
  const before = await body.textContent();
  expect(before?.length).toBeGreaterThan(5000);
  await quoteLink(page).click();
  await expect(quoteDialog(page)).toBeVisible();
  await page.getByRole("link", { name: "Close", exact: true }).click();
  await expect(page.getByRole("dialog")).toHaveCount(0);
  expect(await body.textContent()).toBe(before);
});
