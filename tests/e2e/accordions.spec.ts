import type { Page } from "@playwright/test";
import { expect, test } from "../support/e2e-fixtures.ts";

const card = (page: Page, title: string) => page.locator("main details").filter({ has: page.getByText(title) });
const summary = (page: Page, title: string) => card(page, title).locator("summary");
const openTitles = (page: Page) => page.locator("main details[open] > summary").locator("h2, h3");

test("A click or key opens a service and closes the other services. A second click or key closes the service.", async ({
  page,
}) => {
  await page.goto("/services");
  await expect(openTitles(page)).toHaveText(["Clearing & Forwarding"]);
  await expect(page.getByText("Why Choose Our Clearing & Forwarding Team?")).toBeVisible();

  await summary(page, "Removals & Relocations").click();
  await expect(openTitles(page)).toHaveText(["Removals & Relocations"]);
  await expect(page.getByText("We visit your home")).toBeVisible();
  await expect(page.getByText("Why Choose Our Clearing & Forwarding Team?")).toBeHidden();

  await summary(page, "Removals & Relocations").click();
  await expect(openTitles(page)).toHaveCount(0);
  await expect(page.getByText("We visit your home")).toBeHidden();

  // The Tab key must skip links in closed sections.
  await summary(page, "Sea & Air Freight").focus();
  await page.keyboard.press("Enter");
  await expect(openTitles(page)).toHaveText(["Sea & Air Freight"]);
  await page.keyboard.press("Tab");
  await expect(page.getByRole("link", { name: /^Ask for a quote ?: Sea & Air Freight$/ })).toBeFocused();
  await page.keyboard.press("Tab");
  await expect(summary(page, "Door-to-Door Delivery")).toBeFocused();
  await page.keyboard.press("Space");
  await expect(openTitles(page)).toHaveText(["Door-to-Door Delivery"]);
  await page.keyboard.press("Space");
  await expect(openTitles(page)).toHaveCount(0);
});

test("An open service fills a whole row, and the order of the services stays the same.", { tag: "@no-script" }, async ({
  page,
}) => {
  await page.setViewportSize({ width: 1280, height: 900 });
  await page.goto("/services");
  const titles = await page.locator("main summary h2").allTextContents();
  expect(titles).toHaveLength(11);
  const places = () =>
    page.locator("main details").evaluateAll((cards) =>
      cards.map((each) => {
        const { top, left, width } = each.getBoundingClientRect();
        return { top: Math.round(top), left: Math.round(left), width: Math.round(width), open: each.matches("[open]") };
      }),
    );
  const row = (await places())[0]?.width ?? 0;
  expect(row).toBeGreaterThan(1000);

  for (const title of [titles[1], titles[5], titles[10], null]) {
    if (title) await summary(page, title).click();
    else await summary(page, titles.at(-1) ?? "").click();
    await expect(openTitles(page)).toHaveText(title ? [title] : []);
    const cards = await places();
    expect(cards.filter(({ open }) => open).map(({ width }) => width)).toEqual(title ? [row] : []);
    const inOrder = cards.toSorted((a, b) => a.top - b.top || a.left - b.left);
    expect(cards, `order of services with ${title} open`).toEqual(inOrder);
    for (const top of new Set(cards.map((each) => each.top))) {
      const cardsInRow = cards.filter((each) => each.top === top);
      const filled = cardsInRow.reduce((sum, { width }) => sum + width, 12 * (cardsInRow.length - 1));
      expect(Math.abs(filled - row), `services in the row at ${top} px with ${title} open`).toBeLessThanOrEqual(1);
    }
  }
});

test("The query or the fragment of a URL opens a service. A fragment also scrolls to the service.", async ({
  page,
}) => {
  await page.goto("/services?service=consultancy");
  await expect(openTitles(page)).toHaveText(["Logistics Consultancy"]);
  await page.goto("/about");
  await page.goto("/services#transporters");
  await expect(openTitles(page)).toHaveText(["Inland Transportation"]);
  await expect(card(page, "Inland Transportation").getByText("What we need from you")).toBeInViewport();
});

test("The story shows all five scenes without script and one scene with script. On a phone, the scenes are a row for swiping.", async ({
  page,
  javaScriptEnabled,
}) => {
  await page.setViewportSize({ width: 1280, height: 1400 });
  await page.goto("/about");
  const shown = page.locator("figure").getByRole("img");
  await shown.first().scrollIntoViewIfNeeded();
  await expect(shown).toHaveCount(javaScriptEnabled ? 1 : 5);
  for (const scene of await shown.all()) await expect(scene).toBeInViewport({ ratio: 0.9 });

  await page.setViewportSize({ width: 390, height: 844 });
  const scenes = page.locator("figure svg");
  await expect(scenes).toHaveCount(5);
  await scenes.first().hover();
  await expect(scenes.last()).not.toBeInViewport();
  await page.mouse.wheel(3000, 0);
  await expect(scenes.last()).toBeInViewport({ ratio: 0.9 });
  await expect(scenes.first()).not.toBeInViewport();
});
