import { createAndOpenShipment, expect, fillLogin, heading, test } from "../support/e2e-fixtures.ts";
import { labels } from "../support/labels.ts";
import { emulateFontSize, findOverflow } from "../support/page-layout.ts";

test("The header has one row at every tablet width and fits with letters of twice the size", {
  tag: "@no-script",
}, async ({ page, loggedInClient: _ }) => {
  const { set: setFontSize } = await emulateFontSize(page);
  const problems: string[] = [];
  for (const path of ["/portal", "/contact"]) {
    if (path === "/contact") await page.context().clearCookies();
    await page.goto(path);
    for (const width of [640, 720, 768, 800, 848, 900, 1024]) {
      await page.setViewportSize({ width, height: 700 });
      for (const size of [16, 24, 32]) {
        await setFontSize(size);
        const where = `${path}, ${size} px font at ${width} px`;
        problems.push(...(await findOverflow(page)).map((what) => `${where}: ${what}`));
        if (size > 16) continue;
        const height = await page.locator("header").evaluate((bar) => bar.getBoundingClientRect().height);
        if (height > 72) problems.push(`${where}: the header is ${height} px high`);
      }
    }
  }
  expect(problems).toEqual([]);
});

test("In forced colours, text, borders and drawings have only system colours", { tag: "@no-script" }, async ({
  page,
  loggedInClient: _,
}) => {
  await page.emulateMedia({ forcedColors: "active" });
  const shipment = await createAndOpenShipment(page, "Tea");
  const problems: string[] = [];
  for (const path of [`/portal/${shipment}`, "/portal", "/portal/2fa", "/", "/about", "/contact"]) {
    await page.goto(path);
    const foreignColours = await page.evaluate(() => {
      const names = ["Canvas", "CanvasText", "LinkText", "VisitedText", "ButtonText", "ButtonFace", "ButtonBorder"];
      names.push("Field", "FieldText", "GrayText", "Highlight", "HighlightText");
      const probe = document.body.appendChild(document.createElement("i"));
      const readColour = (name: string) => {
        probe.style.color = name;
        return getComputedStyle(probe).color;
      };
      const colours = new Set(names.map(readColour));
      // Only Canvas and CanvasText have enough contrast in Firefox's contrast control, which does not replace
      // Highlight.
      const buttonColours = [readColour("Canvas"), readColour("CanvasText")].join(" on ");
      probe.remove();
      const foreign = new Set<string>();
      for (const each of document.querySelectorAll("body, body *")) {
        if (!each.checkVisibility()) continue;
        const style = getComputedStyle(each);
        const used = [style.color];
        const pair = [style.color, style.backgroundColor].join(" on ");
        if (each.matches(".bg-action:not(:empty)") && pair !== buttonColours)
          foreign.add(`${pair}: ${each.outerHTML.slice(0, 80)}`);
        if (style.borderTopWidth !== "0px") used.push(style.borderTopColor);
        if (each.closest("svg")) used.push(style.fill, style.stroke);
        for (const colour of used) {
          if (/^rgb\(/.test(colour) && !colours.has(colour)) foreign.add(`${colour}: ${each.outerHTML.slice(0, 80)}`);
        }
      }
      return [...foreign];
    });
    problems.push(...foreignColours.map((what) => `${path}: ${what}`));
  }
  expect(problems).toEqual([]);
});

/** Functions that remove a feature which the site's script needs, as in an old browser. */
const missingFeatures = {
  "a newer language": () => Reflect.deleteProperty(Array.prototype, "toSorted"),
  dialogs: () => Reflect.deleteProperty(window, "HTMLDialogElement"),
  "the modal selector": () => {
    CSS.supports = () => false;
  },
};

for (const [feature, remove] of Object.entries(missingFeatures)) {
  test(`A browser without ${feature} gets the plain pages, on which login and quote work`, { tag: "@script" }, async ({
    page,
    client,
  }) => {
    await page.addInitScript(remove);
    const dataRequests: string[] = [];
    page.on("request", (request) => request.url().includes(".data") && dataRequests.push(request.url()));
    await page.goto("/login", { waitUntil: "networkidle" });
    // The site starts its script when the browser is idle, or after two seconds.
    await page.evaluate(() => new Promise((idle) => requestIdleCallback(idle, { timeout: 2000 })));
    await expect(page.getByRole("region", { name: labels.notifications })).toHaveCount(0);
    await fillLogin(page, client);
    await expect(page).toHaveURL(/\/portal$/);
    await expect(heading(page)).toHaveText("My Shipments");
    await page.goto("/about?quote");
    await page.getByRole("link", { name: "Close", exact: true }).click();
    await expect(page).toHaveURL(/\/about$/);
    await expect(page.getByRole("dialog")).toHaveCount(0);
    expect(dataRequests).toEqual([]);
  });
}

test("The story and the login with letters of twice the size fit a phone and a computer", { tag: "@script" }, async ({
  page,
}) => {
  const tooWide: string[] = [];
  for (const path of ["/about", "/login", "/signup"]) {
    await page.goto(path);
    await page.locator("html").evaluate((html) => {
      html.style.fontSize = "32px";
    });
    if (path === "/about") await expect(page.getByRole("button", { name: labels.nextScene })).toBeVisible();
    for (const width of [390, 768, 1024, 1280]) {
      await page.setViewportSize({ width, height: 800 });
      const pageWidth = await page.evaluate(() => document.documentElement.scrollWidth);
      if (pageWidth > width) tooWide.push(`${path} at ${width}: ${pageWidth}`);
    }
  }
  expect(tooWide).toEqual([]);
});
