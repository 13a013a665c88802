import type { Page } from "@playwright/test";
import { createAndOpenShipment, expect, test } from "../support/e2e-fixtures.ts";
import { findPrintedControls } from "../support/page-layout.ts";

// Printed pages are the HTML as sent: script adds nothing to them.
test.use({ javaScriptEnabled: false });

/** How many sheets of A4 a page takes. */
async function countPrintedPages(page: Page): Promise<number> {
  const pdf = await page.pdf({ format: "A4" });
  return pdf.toString("latin1").match(/\/Type \/Page\b/g)?.length ?? 0;
}

test("a shipment is printed on two sheets at most: its stages and documents, and nothing to press", async ({
  page,
  loggedInClient: signedIn,
}) => {
  expect(signedIn.email).toContain("@");
  await createAndOpenShipment(page, "Solar panels for Kisumu");
  expect(await countPrintedPages(page)).toBeLessThanOrEqual(2);
  await page.emulateMedia({ media: "print" });
  expect(await findPrintedControls(page)).toEqual([]);
  await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
  for (const words of ["Stage 1/10", "Bill of Lading"]) {
    await expect(page.locator("main").getByText(words).first()).toBeVisible();
  }
});

test("on paper every answer and every service is open", async ({ page }) => {
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

test("what somebody takes away on paper ends with whom to call, once", async ({ page }) => {
  await page.emulateMedia({ media: "print" });
  for (const path of ["/resources/cost", "/contact"]) {
    await page.goto(path);
    const phones = page.getByRole("link", { name: "+254 700 000 001", exact: true }).filter({ visible: true });
    await expect(phones, path).toHaveCount(1);
  }
});
