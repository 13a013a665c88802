import { createAndOpenShipment, expect, test, waitForHydration } from "../support/e2e-fixtures.ts";
import { emulateFontSize, findOverflow } from "../support/page-layout.ts";

test.describe("without script", () => {
  test.use({ javaScriptEnabled: false });

  test("the bar is one line on a tablet of any width, signed in too, and fits with letters twice as large", async ({
    page,
    loggedInClient: signedIn,
  }) => {
    expect(signedIn.email).toContain("@");
    const { set: setLetters } = await emulateFontSize(page);
    const found: string[] = [];
    for (const path of ["/portal", "/contact"]) {
      if (path === "/contact") await page.context().clearCookies();
      await page.goto(path);
      for (const width of [640, 720, 768, 800, 848, 900, 1024]) {
        await page.setViewportSize({ width, height: 700 });
        for (const size of [16, 24, 32]) {
          await setLetters(size);
          const where = `${path}, ${size} px letters at ${width} px`;
          found.push(...(await findOverflow(page)).map((what) => `${where}: ${what}`));
          if (size > 16) continue;
          const height = await page.locator("header").evaluate((bar) => bar.getBoundingClientRect().height);
          if (height > 72) found.push(`${where}: the bar is ${height} px high`);
        }
      }
    }
    expect(found).toEqual([]);
  });

  test("in somebody's own few colours every letter, edge and drawing has one of them", async ({
    page,
    loggedInClient: signedIn,
  }) => {
    expect(signedIn.email).toContain("@");
    await page.emulateMedia({ forcedColors: "active" });
    const shipment = await createAndOpenShipment(page, "Tea");
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
const missingFeatures = {
  "a newer language": () => Reflect.deleteProperty(Array.prototype, "toSorted"),
  dialogs: () => Reflect.deleteProperty(window, "HTMLDialogElement"),
  "the selector of what is modal": () => {
    CSS.supports = () => false;
  },
};

for (const [what, takeAway] of Object.entries(missingFeatures)) {
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
  await waitForHydration(page);
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
