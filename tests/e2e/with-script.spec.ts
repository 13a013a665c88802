import { expect, test, waitForHydration } from "../support/e2e-fixtures.ts";

test("the password can be shown and hidden", async ({ page }) => {
  await page.goto("/login");
  await page.getByLabel("Password", { exact: true }).fill("dhow");
  await page.getByRole("button", { name: "Show password" }).click();
  await expect(page.getByLabel("Password", { exact: true })).toHaveAttribute("type", "text");
  await page.getByRole("button", { name: "Hide password" }).click();
  await expect(page.getByLabel("Password", { exact: true })).toHaveAttribute("type", "password");
});

test("what is opened stays where it was pressed, though what was open above it closes", async ({ page }) => {
  await page.setViewportSize({ width: 390, height: 700 });
  for (const path of ["/services", "/resources/faq"]) {
    await test.step(path, async () => {
      await page.goto(path);
      await waitForHydration(page);
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
        // And after its opening animation.
        await page
          .locator("main details")
          .nth(at)
          .evaluate((fold) => Promise.all(fold.getAnimations({ subtree: true }).map(({ finished }) => finished)));
        expect(Math.abs((await top(at)) - before)).toBeLessThanOrEqual(1);
      }
    });
  }
});

test("a browser reads the site map and the feed as XML", async ({ page }) => {
  await page.goto("/legal");
  for (const [address, name, count] of [
    ["/sitemap.xml", "loc", 19],
    ["/resources/blog/rss.xml", "item", 5],
  ] as const) {
    const text = await (await page.request.get(address)).text();
    const found = await page.evaluate(
      ([xml, element]) => {
        const parsed = new DOMParser().parseFromString(xml, "application/xml");
        return parsed.querySelector("parsererror")?.textContent ?? parsed.querySelectorAll(element).length;
      },
      [text, name] as const,
    );
    expect(found, address).toBe(count);
  }
});

test("a theme stays for who goes on before the site has kept it", async ({ page }) => {
  await page.goto("/");
  await waitForHydration(page);
  let keep = () => {};
  const kept = new Promise<void>((resolve) => {
    keep = resolve;
  });
  await page.route("**/actions/theme.data", async (route) => {
    await kept;
    await route.continue();
  });
  await page.getByRole("button", { name: "Use the light theme" }).click();
  await page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "Services", exact: true }).click();
  await expect(page).toHaveTitle(/^Our Services/);
  const answered = page.waitForResponse("**/actions/theme.data");
  const pageAfterIt = page.waitForResponse("**/services.data*");
  keep();
  await answered;
  await pageAfterIt;
  await expect(page.locator("html")).toHaveClass("light");
  await page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "About", exact: true }).click();
  await expect(page).toHaveTitle(/^Pioneering/);
  await expect(page.locator("html")).toHaveClass("light");
});
