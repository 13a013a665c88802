import type { Page } from "@playwright/test";
import { expect, openHydrated, test, waitForHydration } from "../support/e2e-fixtures.ts";
import { labels } from "../support/labels.ts";

const amountCell = (page: Page, line: string) =>
  page
    .getByRole("row")
    .filter({ has: page.getByRole("rowheader", { name: new RegExp(`^${line}`) }) })
    .getByRole("cell")
    .last();

/** Fills in the cost calculator for a car, except the price. */
async function fillCarForm(page: Page): Promise<void> {
  const thisYear = new Date().getFullYear();
  await page.getByLabel("What do you import?").selectOption("A car");
  await page.getByLabel("First registration").fill(`${thisYear - 3}-05`);
  await page.getByLabel("Excise duty on the car").selectOption("25%");
  await page.getByLabel("Freight to Kenya").fill("1,200");
  await page.getByLabel("Insurance").fill("120.50");
  await page.getByLabel("Exchange rate").fill("129.5");
}

test("A visitor calculates the import cost of a car and asks for a quote.", async ({ page, javaScriptEnabled }) => {
  await page.goto("/");
  await page.getByRole("main").getByRole("link", { name: "What will your import cost?" }).click();
  await expect(page.getByRole("heading", { level: 1, name: "What will your import cost?" })).toBeVisible();
  await expect(page.getByLabel("First registration")).toBeHidden();
  if (javaScriptEnabled) await waitForHydration(page);

  await fillCarForm(page);
  await page.getByLabel("Price of the goods").fill("eight thousand");
  await page.getByRole("button", { name: "Calculate" }).click();
  await expect(page).toHaveTitle(/^Error: /);
  await expect(page.getByLabel("Price of the goods")).toHaveValue("eight thousand");
  await page.getByRole("link", { name: "Enter the price in digits, such as 12,500.50." }).click();
  await expect(page.getByLabel("Price of the goods")).toBeFocused();

  await page.getByLabel("Price of the goods").fill("8,000");
  await page.getByRole("button", { name: "Calculate" }).click();
  await expect(page).toHaveURL(/\/resources\/cost\?what=car&.*value=8%2C000.*#sum$/);
  await expect(page).not.toHaveTitle(/^Error: /);
  await expect(amountCell(page, "CIF")).toHaveText("1,207,005");
  await expect(amountCell(page, "Total taxes")).toHaveText("1,210,022");
  await expect(amountCell(page, "Goods, freight, insurance and taxes")).toHaveText("2,417,027");
  await expect(page.getByRole("heading", { name: "Check before you pay" })).toBeInViewport();
  if (javaScriptEnabled) await expect(page.getByRole("region", { name: "The estimate" })).toBeFocused();

  await page.getByRole("link", { name: "Get a quote for this import" }).click();
  await expect(page.getByLabel("Service")).toHaveValue("Imports");
  await expect(page.getByLabel("Message")).toHaveValue(/Price: USD 8,000[\s\S]*taxes KES 1,210,022/);

  await page.goBack();
  await expect(amountCell(page, "Total taxes")).toHaveText("1,210,022");
  await expect(page.getByLabel("Price of the goods")).toHaveValue("8,000");
});

test("With script, each keystroke updates the cost estimate, and an incomplete form shows no total.", {
  tag: "@script",
}, async ({ page }) => {
  await openHydrated(page, "/resources/cost");
  await fillCarForm(page);
  await expect(amountCell(page, "Total taxes")).toHaveText("–");
  await page.getByLabel("Price of the goods").pressSequentially("8,000");
  await expect(amountCell(page, "Total taxes")).toHaveText("1,210,022");
  await page.getByLabel("Excise duty on the car").selectOption("35%");
  await expect(amountCell(page, "Excise duty")).toHaveText("570,310");
  await page.getByLabel("First registration").fill("2012-05");
  await expect(page.getByText("(KEBS) rejects this car")).toBeVisible();
  await expect(page.getByRole("link", { name: "Get a quote for this import" })).toBeHidden();
  await page.getByLabel("Currency").selectOption("KES");
  await expect(page.getByLabel("Exchange rate")).toBeHidden();
  await expect(amountCell(page, "CIF")).toHaveText("9,321");
  await page.getByLabel("Insurance").fill("x");
  await expect(amountCell(page, "Total taxes")).toHaveText("–");
  await expect(page).toHaveURL(/\/resources\/cost$/);

  // A change of the theme must not change typed values.
  await page.getByLabel("Insurance").fill("0.50");
  await expect(amountCell(page, "CIF")).toHaveText("9,201");
  await page.getByRole("button", { name: labels.useLightTheme }).click();
  await expect(page.locator("html")).toHaveClass("light");
  await expect(amountCell(page, "CIF")).toHaveText("9,201");
});

test("The browser's Back and Forward buttons show each cost estimate with its own form values.", {
  tag: "@script",
}, async ({ page }) => {
  const estimatePath = (value: string) =>
    `/resources/cost?what=air&currency=KES&value=${value}&freight=0&insurance=0&duty=10`;
  await openHydrated(page, estimatePath("1000"));
  await page.getByLabel("Price of the goods").fill("2000");
  await page.getByRole("button", { name: "Calculate" }).click();
  await expect(page).toHaveURL(/value=2000/);
  await expect(amountCell(page, "CIF")).toHaveText("2,000");
  await page.goBack();
  await expect(amountCell(page, "CIF")).toHaveText("1,000");
  await expect(page.getByLabel("Price of the goods")).toHaveValue("1000");
  await page.goForward();
  await expect(amountCell(page, "CIF")).toHaveText("2,000");
  await expect(page.getByLabel("Price of the goods")).toHaveValue("2000");
});
