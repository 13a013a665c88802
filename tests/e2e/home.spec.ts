import { expect, quoteLink, test, waitForHydration } from "../support/e2e-fixtures.ts";
import { labels } from "../support/labels.ts";

test("At a URL of the quote form, the focus stays in the form. After closing the form, a visitor can use the whole page.", async ({
  page,
  javaScriptEnabled,
}) => {
  await page.goto("/?quote");
  if (javaScriptEnabled) await waitForHydration(page);
  const stops = new Set<string>();
  for (let step = 0; step < 12; step += 1) {
    await page.keyboard.press("Tab");
    stops.add(
      await page.evaluate(() => {
        const { activeElement: at, body } = document;
        if (!at || at === body) return "the browser";
        return at.closest("dialog, .toasts") ? "the form" : (at.textContent ?? "");
      }),
    );
  }
  expect(stops).toContain("the form");
  expect([...stops].filter((stop) => !["the form", "the browser"].includes(stop))).toEqual([]);

  const requests: string[] = [];
  page.on("request", (request) => {
    if (["document", "fetch"].includes(request.resourceType())) requests.push(request.url());
  });
  await page.getByRole("dialog").getByRole("link", { name: "Close" }).click();
  await expect(page.getByRole("heading", { name: "What clients say" })).toBeVisible();
  await expect(page.getByRole("dialog")).toHaveCount(0);
  expect(requests, "with script the page is already loaded").toHaveLength(javaScriptEnabled ? 0 : 1);
  await quoteLink(page).focus();
  await expect(quoteLink(page)).toBeFocused();
});

test("A visitor can scroll to the last industry with the keyboard.", { tag: "@no-script" }, async ({ page }) => {
  await page.goto("/");
  const row = page.getByRole("region", { name: labels.industries });
  const last = row.getByRole("button").last();
  await expect(last).not.toBeInViewport();
  await row.focus();
  await expect(async () => {
    await page.keyboard.press("ArrowRight");
    await expect(last).toBeInViewport({ timeout: 50 });
  }).toPass({ intervals: [50] });
});
