import { rmSync, utimesSync } from "node:fs";
import { expect, openHydrated, test, toast } from "../../support/e2e-fixtures.ts";
import { createPdfPayload, writeToDisk } from "../../support/upload-page.ts";

test("A visitor can show and hide the typed password.", async ({ page }) => {
  await page.goto("/login");
  await page.getByLabel("Password", { exact: true }).fill("dhow");
  await page.getByRole("button", { name: "Show password" }).click();
  await expect(page.getByLabel("Password", { exact: true })).toHaveAttribute("type", "text");
  await page.getByRole("button", { name: "Hide password" }).click();
  await expect(page.getByLabel("Password", { exact: true })).toHaveAttribute("type", "password");
});

test("The careers form retains the chosen file after an error and after a skip link, and is empty after a success.", async ({
  page,
}) => {
  await openHydrated(page, "/careers");
  const [name, file] = [page.locator("#careers-name"), page.locator("#careers-cv")];
  const expectEntries = async (typedName: string, fileNames: string[]) => {
    await expect(name).toHaveValue(typedName);
    const listNames = (input: HTMLInputElement | SVGElement) =>
      [...((input as HTMLInputElement).files ?? [])].map(({ name }) => name);
    expect(await file.evaluate(listNames)).toEqual(fileNames);
  };
  await name.fill("Zawadi");
  await file.setInputFiles(createPdfPayload("cv.pdf", 1000));
  await page.locator('a[href="#main"]').press("Enter");
  await expect(page).toHaveURL(/#main$/);
  await expectEntries("Zawadi", ["cv.pdf"]);
  const submit = page.getByRole("button", { name: "Check application" });
  await submit.click();
  await expect(page.getByText("Enter your email.").first()).toBeVisible();
  await expectEntries("Zawadi", ["cv.pdf"]);
  await page.locator("#careers-email").fill("zawadi@example.com");
  await submit.click();
  await expect(toast(page, "Thank you for your interest")).toBeVisible();
  await expectEntries("", []);
});

test("A clicked section does not move when a section above the clicked section closes.", async ({ page }) => {
  await page.setViewportSize({ width: 390, height: 700 });
  for (const path of ["/services", "/resources/faq"]) {
    await test.step(path, async () => {
      await openHydrated(page, path);
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
        // The section's position must be the same after the animation.
        await page
          .locator("main details")
          .nth(at)
          .evaluate((fold) => Promise.all(fold.getAnimations({ subtree: true }).map(({ finished }) => finished)));
        expect(Math.abs((await top(at)) - before)).toBeLessThanOrEqual(1);
      }
    });
  }
});

test("The site map and the feed are valid XML for a browser.", async ({ page }) => {
  await page.goto("/legal");
  for (const [address, name, count] of [
    ["/sitemap.xml", "loc", 19],
    ["/resources/blog/rss.xml", "item", 5],
  ] as const) {
    const text = await (await page.request.get(address)).text();
    const result = await page.evaluate(
      ([xml, element]) => {
        const parsed = new DOMParser().parseFromString(xml, "application/xml");
        return parsed.querySelector("parsererror")?.textContent ?? parsed.querySelectorAll(element).length;
      },
      [text, name] as const,
    );
    expect(result, address).toBe(count);
  }
});

test("The careers form shows an error if the chosen file is changed or deleted on the device, and still has the typed text.", async ({
  page,
}) => {
  const changes = [(file: string) => utimesSync(file, 1, 1), (file: string) => rmSync(file)];
  for (const change of changes) {
    await openHydrated(page, "/careers");
    await page.locator("#careers-name").fill("Zawadi");
    const file = writeToDisk(createPdfPayload("cv.pdf", 1000));
    await page.locator("#careers-cv").setInputFiles(file);
    const submit = page.getByRole("button", { name: "Check application" });
    await submit.click();
    await expect(page.getByText("Enter your email.").first()).toBeVisible();
    change(file);
    await submit.click();
    const error = page.locator("#careers-cv-error");
    await expect(error).toHaveText("This file has changed on your device. Choose the file again.");
    await expect(page.locator("main section a", { hasText: "This file has changed" })).toHaveAttribute(
      "href",
      "#careers-cv",
    );
    await expect(page.locator("#careers-name")).toHaveValue("Zawadi");
  }
});

test("With too many cookies, a click on a link fully loads the next page, so that the server's error page can explain the cookies.", async ({
  page,
  context,
}) => {
  await openHydrated(page, "/services");
  const { hostname: domain } = new URL(page.url());
  const cookies = Array.from({ length: 6 }, (_, index) => ({ name: `big${index}`, value: "x".repeat(3900) }));
  await context.addCookies(cookies.map((cookie) => ({ ...cookie, domain, path: "/" })));
  const fullLoad = page.waitForResponse((response) => response.url().endsWith("/contact") && response.status() === 431);
  await page.locator("header a[href='/contact']").last().click();
  await fullLoad;
});
