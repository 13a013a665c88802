import type { Page } from "@playwright/test";
import { expect, heading, openHydrated, toast } from "../../support/e2e-fixtures.ts";
import { labels } from "../../support/labels.ts";
import {
  deleteWorkerCache,
  expectOfflineCopy,
  followLink,
  main,
  pollOptions,
  pollWithClock,
  readCachedPaths,
  test,
  visitAndCache,
  waitUntilSettled,
} from "../../support/offline-copies.ts";

const countWorkers = (page: Page) =>
  page.evaluate(async () => (await navigator.serviceWorker.getRegistrations()).filter(({ active }) => active).length);

async function expectNoCopies(page: Page): Promise<void> {
  await waitUntilSettled(page);
  expect(await readCachedPaths(page)).toEqual({});
  expect(await countWorkers(page)).toBe(0);
}

test("A browser on a shared computer stores no offline copies and unregisters the service worker.", async ({
  page,
  connection,
  client,
}) => {
  await visitAndCache(page, "/about");
  await openHydrated(page, "/login");
  await page.getByLabel("Email").fill(client.email);
  await page.getByLabel("Password", { exact: true }).fill(client.password);
  await page.getByLabel("This is a shared device").check();
  connection.cut();
  await page.getByRole("button", { name: labels.logIn, exact: true }).click();
  await expect(page.getByRole("region", { name: labels.errorSummary })).toContainText(labels.typedTextStays);
  connection.restore();
  await page.getByRole("button", { name: labels.logIn, exact: true }).click();
  await expect(page).toHaveURL(/\/portal$/);
  await expectNoCopies(page);
  await page.goto("/portal/account");
  await expect(
    page.getByText("You logged in on a shared device, so your browser stores no offline copies."),
  ).toBeVisible();
});

test("The text-only version stores no offline copies and unregisters the service worker.", async ({
  page,
  connection,
}) => {
  await visitAndCache(page, "/about");
  await page.getByRole("button", { name: "Text-only version" }).click();
  await expect(page.getByRole("button", { name: "Full version" })).toBeVisible();
  await expect.poll(() => readCachedPaths(page), pollOptions).toEqual({});
  await expect.poll(() => countWorkers(page), pollOptions).toBe(0);
  connection.requests.length = 0;
  await page.goto("/services");
  expect(await page.evaluate(() => document.querySelectorAll("script[src]").length)).toBe(0);
  expect(connection.requests.filter((request) => request.includes("worker"))).toEqual([]);
  expect(await countWorkers(page)).toBe(0);
});

test("The browser stores no offline copies of the desk.", async ({ page, loggedInLead: _ }) => {
  await page.goto("/desk");
  await expectNoCopies(page);
});

test("A client can turn offline copies off and on for a device on the account page.", async ({
  page,
  loggedInClient: _,
}) => {
  await visitAndCache(page, "/portal");
  await main(page).getByRole("link", { name: "Account", exact: true }).click();
  const choice = page.getByRole("checkbox", { name: "Let me read public pages" });
  await choice.uncheck();
  await page.getByRole("button", { name: "Save offline settings" }).click();
  await expect(toast(page, "Offline settings saved")).toBeVisible();
  await expect(choice).not.toBeChecked();
  await pollWithClock(page, () => readCachedPaths(page)).toEqual({});
  await page.goto("/about");
  await expectNoCopies(page);
  await openHydrated(page, "/portal/account");
  await choice.check();
  await page.getByRole("button", { name: "Save offline settings" }).click();
  await expect(toast(page, "Offline settings saved")).toBeVisible();
  await visitAndCache(page, "/portal");
});

/**
 * Functions that block or remove the Cache API or service workers, as some browsers do over HTTP or in private mode.
 */
const restrictions = {
  "if the Cache API is missing": () => Reflect.deleteProperty(window, "caches"),
  "if its access throws": () =>
    Object.defineProperty(window, "caches", {
      get: () => {
        throw new DOMException("The operation is insecure.", "SecurityError");
      },
    }),
  "if the Cache API rejects each call": () => {
    const reject = () => Promise.reject(new DOMException("The operation is insecure.", "SecurityError"));
    Object.assign(CacheStorage.prototype, { open: reject, keys: reject, match: reject, delete: reject, has: reject });
  },
  "if workers are missing": () => Reflect.deleteProperty(Navigator.prototype, "serviceWorker"),
};
test("Links work without a service worker if the browser has no Cache API or no service workers.", async ({
  page,
  connection,
  loggedInClient: _,
}) => {
  for (const [restriction, restrict] of Object.entries(restrictions)) {
    await test.step(restriction, async () => {
      const script = await page.addInitScript(restrict);
      await page.goto("/portal");
      await waitUntilSettled(page);
      expect(connection.requests.filter((request) => request.includes("/worker.js"))).toEqual([]);
      connection.cut();
      await followLink(page, "Services");
      await expect(toast(page, labels.continuesByItself)).toBeVisible();
      connection.restore();
      await pollWithClock(page, () => heading(page).textContent()).toBe("Our Logistics Expertise");
      await script.dispose();
    });
  }
});

test("A browser with full storage still shows the existing offline copies.", async ({ page, connection }) => {
  await visitAndCache(page, "/about");
  await page.addInitScript(() => {
    Cache.prototype.put = () => Promise.reject(new DOMException("Quota exceeded.", "QuotaExceededError"));
  });
  await page.goto("/about");
  await waitUntilSettled(page);
  await followLink(page, "Services");
  await expect(heading(page)).toHaveText("Our Logistics Expertise");
  await waitUntilSettled(page);
  expect((await readCachedPaths(page))["offline1-open"]).toEqual(
    expect.arrayContaining(["/about", "/worker.js?no-page"]),
  );
  connection.cut();
  await page.goto("/about");
  await expectOfflineCopy(page);
});

test("A new service worker replaces the old worker immediately and deletes caches of other formats.", async ({
  page,
  connection,
}) => {
  connection.replaceResponse("/worker.js", (body) => ({ status: 200, body }));
  await visitAndCache(page, "/about");
  connection.replaceResponse("/worker.js", (body) => ({
    status: 200,
    body: body.replaceAll('"offline1-', '"offline2-'),
  }));
  // The browser looks for a new service worker only when it opens a page.
  await page.goto("/services");
  await pollWithClock(page, async () => (await readCachedPaths(page))["offline1-open"] ?? []).not.toContain("/about");
  expect(await countWorkers(page)).toBe(1);
});

test("If the site no longer has a service worker, the browser's worker unregisters itself and deletes all offline copies.", async ({
  page,
  connection,
}) => {
  for (const status of [404, 410]) {
    await test.step(`${status}`, async () => {
      connection.replaceResponse("/worker.js", (body) => ({ status: 200, body }));
      await visitAndCache(page, "/about");
      connection.replaceResponse("/worker.js", () => ({ status, body: "" }));
      await page.evaluate(deleteWorkerCache);
      await page.goto("/careers");
      await expect.poll(() => countWorkers(page), pollOptions).toBe(0);
      expect(await readCachedPaths(page)).toEqual({});
    });
  }
});
