import { expect, quoteDialog, quoteLink, test } from "../support/e2e-fixtures.ts";

test("An article is unchanged after the quote form has opened over the article and closed", { tag: "@script" }, async ({
  page,
}) => {
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
