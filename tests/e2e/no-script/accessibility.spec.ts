import { createAndOpenShipment, expect, test } from "../../support/e2e-fixtures.ts";
import { findOverflow } from "../../support/page-layout.ts";

test("At every tablet width, the header has one row, and fits the window with letters of twice the size.", async ({
  page,
  loggedInClient: _,
}) => {
  const browser = await page.context().newCDPSession(page);
  const problems: string[] = [];
  for (const path of ["/portal", "/contact"]) {
    if (path === "/contact") await page.context().clearCookies();
    await page.goto(path);
    for (const width of [640, 720, 768, 800, 848, 900, 1024]) {
      await page.setViewportSize({ width, height: 700 });
      for (const size of [16, 32]) {
        await browser.send("Page.setFontSizes", { fontSizes: { standard: size } });
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

test("In forced-colours mode, text, borders and drawings have only system colours.", async ({
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
      // Firefox's contrast settings do not replace Highlight, so buttons must use Canvas and CanvasText for enough
      // contrast.
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
