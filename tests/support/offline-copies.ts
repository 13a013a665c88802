import type { Page } from "@playwright/test";
import { test as base } from "./connection-test.ts";
import { expect, waitForHydration } from "./e2e-fixtures.ts";

/**
 * A Playwright test that allows service workers. The test controls the page's clock, but not the service worker's
 * clock.
 */
export const test = base.extend({
  serviceWorkers: "allow",
  expectedErrors: /net::ERR_|status of 50\d/,
  context: async ({ context }, use) => {
    // Restores `performance`, which the installed clock has replaced, because tests read the resource entries of the
    // page.
    await context.addInitScript(() => Object.assign(window, { loaded: performance }));
    await context.clock.install();
    await context.addInitScript(() =>
      Object.defineProperty(window, "performance", { value: (window as unknown as { loaded: Performance }).loaded }),
    );
    await use(context);
  },
});

const offlineBannerPattern = /^No connection\. This copy of the page is from \d\d:\d\d\sEAT\.$/;
export const main = (page: Page) => page.locator("main");
export const expectOfflineCopy = (page: Page) =>
  expect(main(page).locator("p").first()).toHaveText(offlineBannerPattern);

/**
 * Returns the cached paths by cache name, without the account's part of the name. The result omits empty caches,
 * because opening a cache during its deletion creates an empty cache.
 */
export function readCachedPaths(page: Page): Promise<Record<string, string[]>> {
  return page.evaluate(async () => {
    const paths: Record<string, string[]> = {};
    for (const name of await caches.keys()) {
      const requests = await (await caches.open(name)).keys();
      if (requests.length > 0)
        paths[name.replace(/(?<=account)-.*/, "")] = requests
          .map(({ url }) => url.slice(location.origin.length))
          .sort();
    }
    return paths;
  });
}

export const listAccountPaths = async (page: Page) => (await readCachedPaths(page))["offline1-account"] ?? [];
/**
 * Makes the service worker check, when the next page opens, whether the site still has worker.js. Normally, this check
 * runs once a day.
 */
export const deleteWorkerCache = () => caches.delete("offline1-worker");

export const pollOptions = { timeout: 15_000, intervals: [50, 100, 200] };

/** Polls a value and advances the page's clock quickly, because the browser caches a page only after a delay. */
export const pollWithClock = <Value>(page: Page, value: () => Promise<Value>, message?: string) =>
  expect.poll(
    async () => {
      await page.clock.fastForward(3000);
      return value();
    },
    { ...pollOptions, message },
  );

export const waitUntilCached = (page: Page, path: string) =>
  pollWithClock(page, async () => Object.values(await readCachedPaths(page)).flat(), `${path} is cached`).toContain(
    path,
  );

export async function visitAndCache(page: Page, path: string): Promise<void> {
  await page.goto(path);
  await waitUntilCached(page, path);
}

/** Waits until the browser has cached the page and its files. */
export async function waitUntilSettled(page: Page): Promise<void> {
  await waitForHydration(page);
  const isLoaded = () => performance.getEntriesByType("resource").some(({ name }) => name.includes("/offline-"));
  await expect.poll(() => page.evaluate(isLoaded), pollOptions).toBe(true);
  for (const wait of [100, 400]) {
    await page.clock.fastForward(5000);
    await page.waitForTimeout(wait);
  }
}

export const followLink = (page: Page, name: string) =>
  page.locator("header").getByRole("link", { name, exact: true }).click();

/** Follows a link in the header. Waits until the new page is cached and the service worker controls the page. */
export async function followAndCache(page: Page, name: string, path: string): Promise<void> {
  await followLink(page, name);
  await expect(page).toHaveURL(path);
  await waitUntilCached(page, path);
  await expect.poll(() => page.evaluate(() => navigator.serviceWorker.controller !== null), pollOptions).toBe(true);
}

export function readCachedText(page: Page): Promise<string> {
  return page.evaluate(async () => {
    const texts: string[] = [];
    for (const name of await caches.keys()) {
      const cache = await caches.open(name);
      for (const copy of await cache.matchAll()) texts.push(...[...copy.headers].flat(), await copy.text());
      for (const { url } of await cache.keys()) texts.push(url);
    }
    return texts.join();
  });
}
