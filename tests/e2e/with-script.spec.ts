import AxeBuilder from "@axe-core/playwright";
import type { Page } from "@playwright/test";
import { createShipment, expect, scriptReady, test } from "../support/fixtures.ts";
import { catchViolations } from "../support/page-watch.ts";
import { doors, publicPages } from "../support/pages.ts";

test("the password can be shown and hidden", async ({ page }) => {
  await page.goto("/login");
  await page.getByLabel("Password", { exact: true }).fill("dhow");
  await page.getByRole("button", { name: "Show password" }).click();
  await expect(page.getByLabel("Password", { exact: true })).toHaveAttribute("type", "text");
  await page.getByRole("button", { name: "Hide password" }).click();
  await expect(page.getByLabel("Password", { exact: true })).toHaveAttribute("type", "password");
});

for (const path of ["/services", "/resources/faq"]) {
  test(`on ${path} what is opened stays where it was pressed, though what was open above it closes`, async ({
    page,
  }) => {
    await page.setViewportSize({ width: 390, height: 700 });
    await page.goto(path);
    await scriptReady(page);
    const summaries = page.locator("main summary");
    const top = (at: number) =>
      summaries.nth(at).evaluate((summary) => Math.round(summary.getBoundingClientRect().top));
    for (const at of [3, 4, 1]) {
      await summaries.nth(at).evaluate((summary) => scrollBy(0, summary.getBoundingClientRect().top - 300));
      const before = await top(at);
      await summaries.nth(at).press("Enter");
      await expect(page.locator("main details[open]")).toHaveCount(1);
      await expect(page.locator("main details").nth(at)).toHaveAttribute("open");
      await expect.poll(async () => Math.abs((await top(at)) - before)).toBeLessThanOrEqual(1);
      // Once it has grown.
      await page
        .locator("main details")
        .nth(at)
        .evaluate((fold) => Promise.all(fold.getAnimations({ subtree: true }).map(({ finished }) => finished)));
      expect(Math.abs((await top(at)) - before)).toBeLessThanOrEqual(1);
    }
  });
}

const signOut = (page: Page) => page.context().clearCookies({ name: "session" });

/** The last of them is no page. */
const visited = ["/?quote", ...publicPages];

const pages = {
  "of the first public pages": visited.slice(0, 8),
  "of the other public pages": visited.slice(8),
  "of the portal and its doors": ["/portal", "/portal/new", "/portal/2fa", "/portal/:id", ...doors],
};

for (const theme of ["dark", "light"] as const) {
  for (const [which, paths] of Object.entries(pages)) {
    test(`none ${which} breaks a rule of WCAG 2.2 AA that a machine can check, ${theme}`, async ({
      page,
      signedIn,
    }) => {
      test.slow();
      expect(signedIn.email).toContain("@");
      if (theme === "light") await page.getByRole("button", { name: "Use the light theme" }).click();
      await expect(page.locator("html")).toHaveClass(theme);
      const id = await createShipment(page, "Tea");
      const found: string[] = [];
      for (const path of paths) {
        if (path === "/login") await signOut(page);
        await page.goto(path.replace(":id", id));
        // The last of what script adds to every page.
        await expect(page.locator("button", { hasText: "Pause all motion" })).toBeVisible({ timeout: 15_000 });
        const axe = new AxeBuilder({ page });
        // The other theme has other colours and nothing else.
        if (theme === "light") axe.withRules(["color-contrast"]);
        else axe.withTags(["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]);
        const { violations } = await axe.analyze();
        for (const { id, nodes } of violations) found.push(...nodes.map((node) => `${path}: ${id}: ${node.html}`));
      }
      expect(found).toEqual([]);
    });
  }
}

test("text at twice its size fits the narrowest phones and the widest pages", async ({ page }) => {
  await page.setViewportSize({ width: 640, height: 800 });
  for (const path of [...visited, ...doors]) {
    await page.goto(path);
    // 200% text on a window of 640 px; a stylesheet of a person's own does the same.
    await page.locator("html").evaluate((html) => {
      html.style.fontSize = "200%";
    });
    const width = await page.locator("html").evaluate((html) => html.scrollWidth);
    expect(width, path).toBeLessThanOrEqual(640);
  }
});

/** The script that a page has fetched, compressed, in bytes. */
async function scriptBytes(page: Page): Promise<number> {
  return page.evaluate(() => {
    const files = performance.getEntriesByType("resource") as PerformanceResourceTiming[];
    const sizes = new Map(files.filter(({ name }) => name.endsWith(".js")).map((file) => [file.name, file]));
    return [...sizes.values()].reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0);
  });
}

test("every page comes alive with 135 KB of script, without a word on the console or refused content", async ({
  page,
  signedIn,
}) => {
  expect(signedIn.email).toContain("@");
  const words: string[] = [];
  page.on("console", (message) => words.push(`${message.type()}: ${message.text()} at ${message.location().url}`));
  await catchViolations(page);
  const id = await createShipment(page, "Tea");
  const portal = ["/portal", "/portal/new", "/portal/2fa", `/portal/${id}`, `/portal/${id}?quote`];
  for (const path of [...visited.slice(0, -1), "/resources/quote", ...portal, ...doors]) {
    if (path === "/login") await signOut(page);
    await page.goto(path);
    await scriptReady(page);
    expect(await page.evaluate(() => window.violations), path).toEqual([]);
    expect(words, path).toEqual([]);
    await expect(page.locator("button", { hasText: "Pause all motion" })).toBeVisible();
    const bytes = await scriptBytes(page);
    expect(bytes, path).toBeGreaterThan(80_000);
    expect(bytes, path).toBeLessThanOrEqual(135_000);
  }
});
