import type { Page } from "@playwright/test";
import { expect, test } from "../support/fixtures.ts";

const card = (page: Page, title: string) => page.locator("main details").filter({ has: page.getByText(title) });
const summary = (page: Page, title: string) => card(page, title).locator("summary");
const opened = (page: Page) => page.locator("main details[open] > summary").locator("h2, h3");

test("a service opens by a click, closes the one that was open, and closes by a second click", async ({ page }) => {
  await page.goto("/services");
  await expect(opened(page)).toHaveText(["Clearing & Forwarding"]);
  await expect(page.getByText("Why Choose Our Clearing & Forwarding Team?")).toBeVisible();

  await summary(page, "Removals & Relocations").click();
  await expect(opened(page)).toHaveText(["Removals & Relocations"]);
  await expect(page.getByText("We visit or view your home by video")).toBeVisible();
  await expect(page.getByText("Why Choose Our Clearing & Forwarding Team?")).toBeHidden();

  await summary(page, "Removals & Relocations").click();
  await expect(opened(page)).toHaveCount(0);
  await expect(page.getByText("We visit or view your home by video")).toBeHidden();
});

test("services open and close from the keyboard, and what is closed is not on the way", async ({ page }) => {
  await page.goto("/services");
  await summary(page, "Sea & Air Freight").focus();
  await page.keyboard.press("Enter");
  await expect(opened(page)).toHaveText(["Sea & Air Freight"]);
  await page.keyboard.press("Tab");
  await expect(summary(page, "Door-to-Door Delivery")).toBeFocused();
  await page.keyboard.press("Space");
  await expect(opened(page)).toHaveText(["Door-to-Door Delivery"]);
  await page.keyboard.press("Space");
  await expect(opened(page)).toHaveCount(0);
});

test("whichever service is open takes the full row, and the cards keep their order without a hole", async ({
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

  for (const title of [...titles.slice(1), null]) {
    if (title) await summary(page, title).click();
    else await summary(page, titles.at(-1) ?? "").click();
    await expect(opened(page)).toHaveText(title ? [title] : []);
    const cards = await places();
    expect(cards.filter(({ open }) => open).map(({ width }) => width)).toEqual(title ? [row] : []);
    const inOrder = cards.toSorted((one, other) => one.top - other.top || one.left - other.left);
    expect(cards, `order with ${title} open`).toEqual(inOrder);
    for (const top of new Set(cards.map((each) => each.top))) {
      const beside = cards.filter((each) => each.top === top);
      const filled = beside.reduce((sum, { width }) => sum + width, 12 * (beside.length - 1));
      expect(Math.abs(filled - row), `row at ${top} with ${title} open`).toBeLessThanOrEqual(1);
    }
  }
});

test("an address opens its service: by query, and by fragment with the card in view", async ({ page }) => {
  await page.goto("/services?service=consultancy");
  await expect(opened(page)).toHaveText(["Logistics Consultancy"]);
  await page.goto("/about");
  await page.goto("/services#transporters");
  await expect(opened(page)).toHaveText(["Inland Transportation"]);
  await expect(card(page, "Inland Transportation").getByText("What you hand over")).toBeInViewport();
});

test("what opens grows only for people who have not asked for less motion", async ({ page }) => {
  const duration = () =>
    page
      .locator("main details[open]")
      .evaluate((each) => getComputedStyle(each, "::details-content").getPropertyValue("transition-duration"));
  for (const path of ["/services", "/resources/faq"]) {
    await page.emulateMedia({ reducedMotion: "no-preference" });
    await page.goto(path);
    expect(await duration()).toContain("0.2s");
    await page.emulateMedia({ reducedMotion: "reduce" });
    expect(await duration()).toBe("0s");
  }
});

test("one answer is open on the whole page, and a click on its question closes it", async ({ page }) => {
  await page.goto("/resources/faq");
  await expect(opened(page)).toHaveText(["Which documents do you need to clear an import?"]);
  await expect(page.getByText("Four for every shipment")).toBeVisible();

  await summary(page, "Can I bring a used car into Kenya?").click();
  await expect(opened(page)).toHaveText(["Can I bring a used car into Kenya?"]);
  await expect(page.getByText("less than 8 years old")).toBeVisible();
  await expect(page.getByText("Four for every shipment")).toBeHidden();

  await summary(page, "Can I bring a used car into Kenya?").click();
  await expect(opened(page)).toHaveCount(0);
});

test("questions open and close from the keyboard, one at a time", async ({ page }) => {
  await page.goto("/resources/faq");
  await summary(page, "Which documents do you need to clear an import?").focus();
  await page.keyboard.press("Enter");
  await expect(opened(page)).toHaveCount(0);
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await expect(opened(page)).toHaveText(["Which duties and taxes will I pay?"]);
  for (let presses = 0; presses < 2; presses += 1) await page.keyboard.press("Tab");
  await page.keyboard.press("Space");
  await expect(opened(page)).toHaveText(["Should I book LCL or FCL?"]);
});

for (const { from, link } of [
  { from: "/services", link: "Request Consultation" },
  { from: "/resources/faq", link: "Contact Our Experts" },
]) {
  test(`'${link}' leads from ${from} to the contact page`, async ({ page }) => {
    await page.goto(from);
    await page.getByRole("link", { name: link }).click();
    await expect(page).toHaveURL(/\/contact$/);
  });
}

test("a feed opens in a new tab, which learns neither the page nor its window", async ({ page, context }) => {
  const referers: (string | undefined)[] = [];
  await context.route(/^https:/, (route) => {
    referers.push(route.request().headers().referer);
    return route.fulfill({ contentType: "text/html", body: "<title>News</title>" });
  });
  await page.goto("/resources/feeds");
  const links = page.getByRole("link", { name: /^Visit News Center/ });
  await expect(links).toHaveCount(6);
  for (const link of await links.all()) {
    await expect(link).toHaveAttribute("target", "_blank");
    await expect(link).toHaveAttribute("rel", "noreferrer");
    const popup = page.waitForEvent("popup");
    await link.click();
    const tab = await popup;
    await expect(tab).toHaveTitle("News");
    expect(await tab.evaluate(() => window.opener)).toBeNull();
    await tab.close();
  }
  expect(referers).toEqual(Array(6).fill(undefined));
  await expect(page).toHaveURL(/\/resources\/feeds$/);
});

test("the five scenes of the story are a row to swipe on a phone", async ({ page }) => {
  await page.setViewportSize({ width: 390, height: 844 });
  await page.goto("/about");
  const scenes = page.locator("figure svg");
  await expect(scenes).toHaveCount(5);
  await scenes.first().hover();
  await expect(scenes.last()).not.toBeInViewport();
  await page.mouse.wheel(3000, 0);
  await expect(scenes.last()).toBeInViewport({ ratio: 0.9 });
  await expect(scenes.first()).not.toBeInViewport();
});

test("on a wide screen the five scenes are all in view, or the first of them with script", async ({
  page,
  javaScriptEnabled,
}) => {
  await page.setViewportSize({ width: 1280, height: 1400 });
  await page.goto("/about");
  const scenes = page.locator("figure").getByRole("img");
  await scenes.first().scrollIntoViewIfNeeded();
  await expect(scenes).toHaveCount(javaScriptEnabled ? 1 : 5);
  for (const scene of await scenes.all()) await expect(scene).toBeInViewport({ ratio: 0.9 });
});

const inTheMenu = [
  { name: "Services", path: "/services", h1: "Our Logistics Expertise" },
  { name: "About", path: "/about", h1: "Pioneering Global Logistics for 30+ Years" },
  { name: "FAQ", path: "/resources/faq", h1: "Frequently Asked Questions" },
  { name: "Feeds Update", path: "/resources/feeds", h1: "Feeds Update" },
];

test("on a phone the menu leads to every page and folds after each", async ({ page }) => {
  await page.setViewportSize({ width: 390, height: 844 });
  await page.goto("/login");
  const menu = page.locator("header summary", { hasText: "Menu" });
  const link = (name: string) => page.locator("header").getByRole("link", { name, exact: true });
  for (const { name, path, h1 } of inTheMenu) {
    await expect(link(name)).toBeHidden();
    await menu.click();
    await link(name).click();
    await expect(page).toHaveURL(new RegExp(`${path}$`));
    await expect(page.getByRole("heading", { level: 1 })).toHaveText(h1);
  }
});

test("on a wide screen the Resources list opens by click or key, without hovering", async ({ page }) => {
  await page.setViewportSize({ width: 1280, height: 900 });
  await page.goto("/login");
  const resources = page.locator("header summary", { hasText: "Resources" });
  const link = (name: string) => page.locator("header").getByRole("link", { name, exact: true });

  await expect(link("FAQ")).toBeHidden();
  await resources.click();
  await link("FAQ").click();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Frequently Asked Questions");

  await expect(link("Feeds Update")).toBeHidden();
  await resources.focus();
  await page.keyboard.press("Enter");
  await page.keyboard.press("Tab");
  await expect(link("FAQ")).toBeFocused();
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Feeds Update");
});

test("nothing has to be scrolled sideways on the narrowest phone, and a thumb finds every target", async ({ page }) => {
  for (const width of [320, 390]) {
    await page.setViewportSize({ width, height: 700 });
    for (const { path } of inTheMenu) {
      await page.goto(path);
      const content = await page.locator("html").evaluate((html) => html.scrollWidth);
      expect(content, `${path} at ${width}`).toBeLessThanOrEqual(width);
      for (const target of await page.locator("main a, main summary, main button").all()) {
        const box = await target.boundingBox();
        expect(box?.height, `${await target.textContent()} on ${path}`).toBeGreaterThanOrEqual(44);
        expect(box?.width, `${await target.textContent()} on ${path}`).toBeGreaterThanOrEqual(44);
      }
    }
  }
});
