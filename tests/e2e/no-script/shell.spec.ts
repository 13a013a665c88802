import { expect, logInWithoutPage, test } from "../../support/e2e-fixtures.ts";
import { labels } from "../../support/labels.ts";

test("Without script, the header is opaque, all content is visible, and no button for pausing motion is shown.", async ({
  page,
}) => {
  await page.goto("/");
  await expect(page.locator("header").first()).not.toHaveCSS("background-color", "rgba(0, 0, 0, 0)");
  for (const client of await page.locator("#testimonials li").all()) {
    await client.scrollIntoViewIfNeeded();
    await expect(client).toBeInViewport({ ratio: 1 });
  }
  await page.goto("/about");
  const partners = page.getByRole("region", { name: labels.partners }).getByRole("listitem");
  await expect(partners).toHaveCount(13);
  for (const partner of await partners.all()) await expect(partner).toBeVisible();
  await expect(page.getByRole("button", { name: /pause|next|previous|scene/i })).toHaveCount(0);
});

test("The footer is at most 500 px high on a phone, and has one row in the portal.", async ({ page, client }) => {
  const footer = page.getByRole("contentinfo");
  const height = async () => (await footer.boundingBox())?.height ?? 0;
  await page.setViewportSize({ width: 390, height: 844 });
  await page.goto("/services");
  expect(await height()).toBeLessThanOrEqual(500);
  await logInWithoutPage(page, client);
  await page.setViewportSize({ width: 1440, height: 900 });
  await page.goto("/portal");
  expect(await height()).toBeLessThanOrEqual(60);
});

test("The link 'Chat with us' is visible at every window width and covers no content.", async ({ page }) => {
  await page.goto("/services");
  const chat = page.getByRole("link", { name: "Chat with us" });
  for (const width of [320, 390, 768, 1279, 1280, 1440]) {
    await page.setViewportSize({ width, height: 800 });
    await expect(chat).toHaveCount(1);
    await page.evaluate(() => scrollTo(0, 900));
    await expect(chat, `at ${width} px`).toBeInViewport({ ratio: 1 });
    const inBar = await chat.evaluate((link) => link.closest("header") !== null);
    expect(inBar).toBe(width < 1280);
    if (inBar) continue;
    const box = await chat.boundingBox();
    const edge = await page.evaluate(() =>
      Math.max(
        ...[...document.querySelectorAll("main *, header a, header button, footer p")].map((part) =>
          part.checkVisibility() && !part.closest("svg") ? part.getBoundingClientRect().right : 0,
        ),
      ),
    );
    expect(box?.x, `at ${width} px`).toBeGreaterThanOrEqual(edge);
  }
});
