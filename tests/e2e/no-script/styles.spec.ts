import { expect, test } from "../../support/e2e-fixtures.ts";

test("A section opens with an animation, or without an animation for people who prefer reduced motion.", async ({
  page,
}) => {
  const duration = () =>
    page
      .locator("main details[open]")
      .evaluate((each) => getComputedStyle(each, "::details-content").getPropertyValue("transition-duration"));
  await page.goto("/services");
  expect(await duration()).toContain("0.2s");
  await page.emulateMedia({ reducedMotion: "reduce" });
  expect(await duration()).toBe("0s");
});

test("The drawing of the home page loads and has the correct size.", async ({ page }) => {
  const drawings = page.waitForResponse((response) => response.url().endsWith("/art/hero.svg"));
  await page.goto("/");
  expect((await drawings).status()).toBe(200);
  const box = await page.locator("use[href='/art/hero.svg#art']").boundingBox();
  expect(box?.width).toBeGreaterThan(600);
});

test("On a phone, a click opens the table of contents, and its links lead to sections.", async ({ page }) => {
  await page.setViewportSize({ width: 360, height: 640 });
  await page.goto("/terms");
  const section = page.getByRole("heading", { name: "14. Governing law" });
  const entry = page.getByRole("link", { name: "14. Governing law" });
  await expect(entry).toHaveCount(0);
  await page.getByText("On this page", { exact: true }).filter({ visible: true }).click();
  await entry.click();
  await expect(section).toBeInViewport();
});

test("On a narrow screen, each table row becomes a block with labels.", async ({ page }) => {
  await page.setViewportSize({ width: 320, height: 640 });
  await page.goto("/resources/blog/lcl-vs-fcl");
  const table = page.getByRole("table", { name: "Worked example: the volume at which LCL and FCL cost the same" });
  const header = table.getByRole("rowheader", { name: "25 CBM" });
  const cell = table.getByRole("cell", { name: "FCL saves 1,400" });
  await cell.scrollIntoViewIfNeeded();
  const [above, below] = [await header.boundingBox(), await cell.boundingBox()];
  expect(below?.y).toBeGreaterThan((above?.y ?? 0) + 40);
  expect(await cell.evaluate((element) => getComputedStyle(element, "::before").content)).toContain(
    "Cheaper option and saving (USD)",
  );
  await expect(table.getByRole("columnheader", { name: "Cheaper option and saving (USD)" })).toHaveCount(1);
  const wide = (frames: Element[]) => frames.filter((frame) => frame.scrollWidth > frame.clientWidth).length;
  for (const width of [320, 390, 767, 768, 1024, 1280]) {
    await page.setViewportSize({ width, height: 640 });
    expect(await page.locator(".table-frame").evaluateAll(wide), `tables at ${width} px`).toBe(0);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(width);
  }
  const [left, right] = [await header.boundingBox(), await cell.boundingBox()];
  expect(right?.y).toBe(left?.y);
});

test("On a narrow sheet of paper, tables remain tables.", async ({ page }) => {
  await page.setViewportSize({ width: 390, height: 640 });
  await page.goto("/resources/blog/importing-a-car-to-kenya");
  await page.emulateMedia({ media: "print" });
  const row = page.getByRole("row", { name: /^Total taxes/ });
  const tops = await row.locator("> *").evaluateAll((cells) => cells.map((cell) => cell.getBoundingClientRect().top));
  expect(new Set(tops).size).toBe(1);
  const header = await page.getByRole("columnheader", { name: "Calculation", exact: true }).boundingBox();
  expect(header?.height).toBeGreaterThan(10);
});
