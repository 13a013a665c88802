import type { Page } from "@playwright/test";
import { createAndOpenShipment, expect, heading, test } from "../../support/e2e-fixtures.ts";
import { labels } from "../../support/labels.ts";

async function countPrintedPages(page: Page): Promise<number> {
  const pdf = await page.pdf({ format: "A4" });
  return pdf.toString("latin1").match(/\/Type \/Page\b/g)?.length ?? 0;
}

test("The printed page of a shipment has at most two sheets and contains its stages and documents.", async ({
  page,
  loggedInClient: _,
}) => {
  await createAndOpenShipment(page, "Solar panels for Kisumu");
  expect(await countPrintedPages(page)).toBeLessThanOrEqual(2);
  await page.emulateMedia({ media: "print" });
  await expect(heading(page)).toBeVisible();
  for (const text of ["Stage 1/10", "Bill of Lading"]) {
    await expect(page.locator("main").getByText(text).first()).toBeVisible();
  }
});

test("A printed page contains the text of every answer and every service, even of closed ones.", async ({ page }) => {
  await page.emulateMedia({ media: "print" });
  for (const path of ["/resources/faq", "/services"]) {
    await page.goto(path);
    const closed = page.locator("main details:not([open])");
    expect(await closed.count()).toBeGreaterThan(3);
    const heights = await closed.evaluateAll((all) =>
      all.map((each) => [...each.children].filter((part) => part.checkVisibility()).length),
    );
    for (const parts of heights) expect(parts, path).toBeGreaterThan(1);
  }
});

test("A printed page contains the company's phone number only once.", async ({ page }) => {
  await page.emulateMedia({ media: "print" });
  for (const path of ["/resources/cost", "/contact"]) {
    await page.goto(path);
    const phones = page.getByRole("link", { name: labels.phoneNumber, exact: true }).filter({ visible: true });
    await expect(phones, path).toHaveCount(1);
  }
});
