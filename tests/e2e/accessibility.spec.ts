import type { Page } from "@playwright/test";
import { createShipment, expect, scriptReady, test } from "../support/fixtures.ts";
import { doors, publicPages } from "../support/pages.ts";

/** Returns a function that sets the browser's default font size, 16 px unless changed. */
async function letters(page: Page): Promise<(size: number) => Promise<void>> {
  const session = await page.context().newCDPSession(page);
  return async (standard) => {
    await session.send("Page.setFontSizes", { fontSizes: { standard } });
  };
}

/** Whether the page is wider than the window, and parts of the bar that overlap or lie outside the window. */
const spilt = (page: Page) =>
  page.evaluate(() => {
    const found: string[] = [];
    const width = document.documentElement.scrollWidth;
    if (width > innerWidth) found.push(`${width} px wide`);
    const bar = document.querySelector("header");
    const parts = [...(bar?.querySelectorAll("a, summary, button") ?? [])]
      .filter((part) => part.checkVisibility())
      .map((part) => ({ name: part.textContent?.trim(), box: part.getBoundingClientRect() }));
    for (const { name, box } of parts) {
      if (box.left < 0 || box.right > innerWidth) found.push(`${name} is outside`);
      for (const other of parts) {
        if (other.box === box) continue;
        const across = Math.min(box.right, other.box.right) - Math.max(box.left, other.box.left);
        const down = Math.min(box.bottom, other.box.bottom) - Math.max(box.top, other.box.top);
        if (across > 1 && down > 1) found.push(`${name} lies over ${other.name}`);
      }
    }
    return found;
  });

test.describe("without script", () => {
  test.use({ javaScriptEnabled: false });

  test("the bar is one line on a tablet of any width, signed in too, and fits with letters twice as large", async ({
    page,
    signedIn,
  }) => {
    expect(signedIn.email).toContain("@");
    const setLetters = await letters(page);
    const found: string[] = [];
    for (const path of ["/portal", "/contact"]) {
      if (path === "/contact") await page.context().clearCookies();
      await page.goto(path);
      for (const width of [640, 720, 768, 800, 848, 900, 1024]) {
        await page.setViewportSize({ width, height: 700 });
        for (const size of [16, 24, 32]) {
          await setLetters(size);
          const where = `${path}, ${size} px letters at ${width} px`;
          found.push(...(await spilt(page)).map((what) => `${where}: ${what}`));
          if (size > 16) continue;
          const height = await page.locator("header").evaluate((bar) => bar.getBoundingClientRect().height);
          if (height > 72) found.push(`${where}: the bar is ${height} px high`);
        }
      }
    }
    expect(found).toEqual([]);
  });

  /** Opens a page on a narrow and a wide phone, each with letters of 24 and 32 px. Returns what does not fit. */
  async function onPhones(page: Page, setLetters: (size: number) => Promise<void>, path: string): Promise<string[]> {
    const found: string[] = [];
    await page.goto(path);
    for (const width of [320, 390]) {
      await page.setViewportSize({ width, height: 844 });
      for (const size of [24, 32]) {
        await setLetters(size);
        found.push(...(await spilt(page)).map((what) => `${path}, ${size} px letters at ${width} px: ${what}`));
      }
    }
    return found;
  }

  const visited = [...publicPages, "/?quote", ...doors, "/resources/forgot-password"];
  for (const some of [visited.slice(0, 6), visited.slice(6, 12), visited.slice(12)]) {
    test(`from ${some[0]} to ${some.at(-1)} no page with large letters has to be scrolled sideways on a phone`, async ({
      page,
    }) => {
      const setLetters = await letters(page);
      const found: string[] = [];
      for (const path of some) found.push(...(await onPhones(page, setLetters, path)));
      expect(found).toEqual([]);
    });
  }

  test("nor has the portal, whose menu stays in the window", async ({ page, signedIn }) => {
    expect(signedIn.email).toContain("@");
    const shipment = await createShipment(page, "Containerized refrigerated pharmaceuticals");
    const setLetters = await letters(page);
    const found: string[] = [];
    for (const path of ["/portal", "/portal/new", "/portal/2fa", `/portal/${shipment}`])
      found.push(...(await onPhones(page, setLetters, path)));
    expect(found).toEqual([]);
  });

  test("in somebody's own few colours every letter, edge and drawing has one of them", async ({ page, signedIn }) => {
    expect(signedIn.email).toContain("@");
    await page.emulateMedia({ forcedColors: "active" });
    const shipment = await createShipment(page, "Tea");
    const found: string[] = [];
    for (const path of [`/portal/${shipment}`, "/portal", "/portal/2fa", "/", "/about", "/contact"]) {
      await page.goto(path);
      const own = await page.evaluate(() => {
        const names = ["Canvas", "CanvasText", "LinkText", "VisitedText", "ButtonText", "ButtonFace", "ButtonBorder"];
        names.push("Field", "FieldText", "GrayText", "Highlight", "HighlightText");
        const probe = document.body.appendChild(document.createElement("i"));
        const colours = new Set(
          names.map((name) => {
            probe.style.color = name;
            return getComputedStyle(probe).color;
          }),
        );
        probe.remove();
        const others = new Set<string>();
        for (const each of document.querySelectorAll("body, body *")) {
          if (!each.checkVisibility()) continue;
          const style = getComputedStyle(each);
          const used = [style.color];
          if (style.borderTopWidth !== "0px") used.push(style.borderTopColor);
          if (each.closest("svg")) used.push(style.fill, style.stroke);
          for (const colour of used) {
            if (/^rgb\(/.test(colour) && !colours.has(colour)) others.add(`${colour}: ${each.outerHTML.slice(0, 80)}`);
          }
        }
        return [...others];
      });
      found.push(...own.map((what) => `${path}: ${what}`));
    }
    expect(found).toEqual([]);
  });
});

/** Features that the site's script needs; each function removes one, as in a browser that lacks it. */
const missing = {
  "a newer language": () => Reflect.deleteProperty(Array.prototype, "toSorted"),
  dialogs: () => Reflect.deleteProperty(window, "HTMLDialogElement"),
  "the selector of what is modal": () => {
    CSS.supports = () => false;
  },
};

for (const [what, takeAway] of Object.entries(missing)) {
  test(`a browser without ${what} keeps the plain pages, and the login and the quote work on them`, async ({
    page,
    client,
  }) => {
    await page.addInitScript(takeAway);
    const asked: string[] = [];
    page.on("request", (request) => request.url().includes(".data") && asked.push(request.url()));
    await page.goto("/login", { waitUntil: "networkidle" });
    // The site waits for an idle moment no longer than this either: on a busy machine none comes.
    await page.evaluate(() => new Promise((idle) => requestIdleCallback(idle, { timeout: 2000 })));
    await expect(page.getByRole("region", { name: "Notifications (F8)" })).toHaveCount(0);
    await page.getByLabel("Email").fill(client.email);
    await page.getByLabel("Password", { exact: true }).fill(client.password);
    await page.getByRole("button", { name: "Log in", exact: true }).click();
    await expect(page).toHaveURL(/\/portal$/);
    await expect(page.getByRole("heading", { level: 1 })).toHaveText("My Shipments");
    await page.goto("/about?quote");
    await page.getByRole("link", { name: "Close", exact: true }).click();
    await expect(page).toHaveURL(/\/about$/);
    await expect(page.getByRole("dialog")).toHaveCount(0);
    expect(asked).toEqual([]);
  });
}

test("the page behind stays where it is when its footer opens the quote", async ({ page }) => {
  await page.goto("/about");
  await scriptReady(page);
  const opener = page.getByRole("contentinfo").getByRole("link", { name: "Get a Quote" });
  await opener.scrollIntoViewIfNeeded();
  const place = await page.evaluate(() => scrollY);
  expect(place).toBeGreaterThan(200);
  await opener.click();
  await expect(page.getByRole("dialog", { name: "Get a Quote" }).getByLabel("Full Name")).toBeFocused();
  expect(await page.evaluate(() => scrollY)).toBe(place);
});

test("what script brings to the story fits a phone with the largest letters", async ({ page }) => {
  await page.setViewportSize({ width: 390, height: 800 });
  await page.goto("/about");
  await page.locator("html").evaluate((html) => {
    html.style.fontSize = "32px";
  });
  await expect(page.getByRole("button", { name: "Next scene" })).toBeVisible();
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
});
