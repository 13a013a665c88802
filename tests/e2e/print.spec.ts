import type { Page } from "@playwright/test";
import { createShipment, expect, test } from "../support/fixtures.ts";
import { doors, publicPages } from "../support/pages.ts";

// Printed pages are the HTML as sent: script adds nothing to them.
test.use({ javaScriptEnabled: false });

/** How many sheets of A4 a page takes. */
async function sheets(page: Page): Promise<number> {
  const pdf = await page.pdf({ format: "A4" });
  return pdf.toString("latin1").match(/\/Type \/Page\b/g)?.length ?? 0;
}

/** Elements that are printed although they are controls or no content of the page. */
const needless = (page: Page) =>
  page.evaluate(() =>
    [
      ...document.querySelectorAll(
        "header nav, header details, header a[href*=quote], button, summary .sr-only, footer, input[type=file], .fixed",
      ),
    ]
      .filter((each) => each.checkVisibility() && !each.closest("li button"))
      .map((each) => each.outerHTML.slice(0, 100)),
  );

/** Text that is not black, or not on white. */
const pale = (page: Page) =>
  page.evaluate(() => {
    const found = new Set<string>();
    const clear = "rgba(0, 0, 0, 0)";
    for (const each of document.querySelectorAll("html, main, main *")) {
      const { color, backgroundColor } = getComputedStyle(each);
      const says = [...each.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.textContent?.trim());
      if (says && color !== "rgb(0, 0, 0)") found.add(`${color}: ${each.textContent?.slice(0, 40)}`);
      if (says && ![clear, "rgb(255, 255, 255)"].includes(backgroundColor))
        found.add(`on ${backgroundColor}: ${each.tagName}`);
    }
    return [...found];
  });

test("a shipment is printed on two sheets at most: its stages and documents, and nothing to press", async ({
  page,
  signedIn,
}) => {
  expect(signedIn.email).toContain("@");
  await createShipment(page, "Solar panels for Kisumu");
  expect(await sheets(page)).toBeLessThanOrEqual(2);
  await page.emulateMedia({ media: "print" });
  expect(await needless(page)).toEqual([]);
  await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
  for (const words of ["Stage 1/10", "Bill of Lading"]) {
    await expect(page.locator("main").getByText(words).first()).toBeVisible();
  }
});

/** Opens each page in print media, in the dark and the light theme by turns. Returns what is wrong. */
async function onPaper(page: Page, paths: readonly string[]): Promise<string[]> {
  const found: string[] = [];
  await page.emulateMedia({ media: "print" });
  for (const [index, path] of paths.entries()) {
    await page.goto(path);
    await page.locator("html").evaluate((html, isLight) => html.classList.toggle("light", isLight), index % 2 === 1);
    found.push(...[...(await pale(page)), ...(await needless(page))].map((what) => `${path}: ${what}`));
  }
  return found;
}

test("every page for everybody is printed black on white, without what floats over it", async ({ page }) => {
  expect(await onPaper(page, [...publicPages, ...doors])).toEqual([]);
});

test("so is every page of the portal", async ({ page, signedIn }) => {
  expect(signedIn.email).toContain("@");
  const shipment = await createShipment(page, "Tea");
  expect(await onPaper(page, ["/portal", `/portal/${shipment}`, "/portal/new", "/portal/2fa"])).toEqual([]);
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
