import type { Page } from "@playwright/test";
import { expect, heading, mainLink, test } from "../support/e2e-fixtures.ts";

const disclosure = (page: Page, name: string) => page.locator("header summary", { hasText: name });

test("On a phone, a visitor can open the menu and follow a link. The menu is closed on the next page.", async ({
  page,
}) => {
  await page.setViewportSize({ width: 390, height: 800 });
  await page.goto("/");
  const names = ["Home", "Services", "About", "FAQ", "Feeds Update", "Blog", "Client Login"];
  for (const name of names) await expect(mainLink(page, name), name).toHaveCount(0);
  await disclosure(page, "Menu").click();
  for (const name of names) await expect(mainLink(page, name), name).toBeInViewport();
  await disclosure(page, "Menu").click();
  await expect(mainLink(page, "Services")).toHaveCount(0);

  await disclosure(page, "Menu").click();
  await mainLink(page, "Services").click();
  await expect(page).toHaveURL(/\/services$/);
  await expect(heading(page)).toBeVisible();
  await expect(mainLink(page, "Services")).toHaveCount(0);
  await disclosure(page, "Menu").click();
  await mainLink(page, "FAQ").click();
  await expect(heading(page)).toHaveText("Frequently Asked Questions");
  await expect(mainLink(page, "FAQ")).toHaveCount(0);
});

test("On a wide screen, a key or click opens the Resources list, and its links open pages.", async ({ page }) => {
  await page.setViewportSize({ width: 1280, height: 800 });
  await page.goto("/");
  const resources = disclosure(page, "Resources");
  await expect(mainLink(page, "FAQ")).toHaveCount(0);

  await test.step("the Tab key reaches Resources after the skip link and the pages Home, Services and About", async () => {
    const passed = [];
    for (let presses = 0; presses < 12; presses += 1) {
      await page.keyboard.press("Tab");
      const name = ((await page.locator(":focus").textContent()) ?? "").trim();
      passed.push(name);
      if (name === "Resources") break;
    }
    expect(passed[0]).toBe("Skip to the content");
    expect(passed.slice(-4)).toEqual(["Home", "Services", "About", "Resources"]);
    await expect(resources).toBeFocused();
  });

  await test.step("Enter opens the Resources list, and Space closes the list", async () => {
    await page.keyboard.press("Enter");
    for (const name of ["FAQ", "Feeds Update", "Blog"]) await expect(mainLink(page, name)).toBeInViewport();
    await page.keyboard.press("Space");
    await expect(mainLink(page, "FAQ")).toHaveCount(0);
  });

  await test.step("the Tab key then reaches the links of the Resources list", async () => {
    await page.keyboard.press("Enter");
    await page.keyboard.press("Tab");
    await expect(mainLink(page, "FAQ")).toBeFocused();
    await page.keyboard.press("Tab");
    await page.keyboard.press("Tab");
    await expect(mainLink(page, "Blog")).toBeFocused();
    await page.keyboard.press("Enter");
    await expect(page).toHaveURL(/\/resources\/blog$/);
    await expect(mainLink(page, "FAQ")).toHaveCount(0);
  });

  await test.step("a click also opens the Resources list", async () => {
    await resources.click();
    await mainLink(page, "FAQ").click();
    await expect(heading(page)).toHaveText("Frequently Asked Questions");
    await expect(mainLink(page, "FAQ")).toHaveCount(0);
  });
});
