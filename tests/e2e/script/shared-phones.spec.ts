import type { BrowserContext, Page } from "@playwright/test";
import {
  createAndOpenShipment,
  expect,
  fillLogin,
  heading,
  logInWithoutPage,
  mainLink,
  openHydrated,
  test as siteTest,
} from "../../support/e2e-fixtures.ts";
import { labels } from "../../support/labels.ts";
import {
  expectOfflineCopy,
  listAccountPaths,
  main,
  pollOptions,
  pollWithClock,
  readCachedText,
  test,
  visitAndCache,
  waitUntilSettled,
} from "../../support/offline-copies.ts";
import { createPdfPayload, fileField, uploadButton } from "../../support/upload-page.ts";

/**
 * Simulates a browser without the cookieStore API. Its pages detect another account only at the next focus, link click,
 * form or upload.
 */
const removeCookieEvents = (context: BrowserContext) =>
  context.addInitScript(() => Reflect.deleteProperty(window, "cookieStore"));

const blockScripts = (page: Page) => page.route("**/assets/*.js", (route) => route.abort());

test("After a client signs out on a page without script, the account's other open pages show the login page.", async ({
  page,
  context,
  client,
  secondClient,
}) => {
  await logInWithoutPage(page, client);
  const id = await createAndOpenShipment(page, "Tea of the first client");
  await pollWithClock(page, () => listAccountPaths(page)).toContain(`/portal/${id}`);
  const printPage = await context.newPage();
  await printPage.goto(`/portal/${id}/print`);
  await expect(printPage.getByText("Tea of the first client").first()).toBeVisible();
  const secondTab = await context.newPage();
  await blockScripts(secondTab);
  await secondTab.goto("/portal");
  await secondTab.getByRole("button", { name: "Sign out" }).click();
  await expect(secondTab.getByText(labels.signedOut)).toBeVisible();
  for (const tab of [page, printPage]) {
    await expect(tab).toHaveURL(/\/login$/, { timeout: 15_000 });
    await expect(heading(tab)).toHaveText("Client Login");
  }
  await fillLogin(secondTab, secondClient);
  await expect(heading(secondTab)).toHaveText("My Shipments");
  await secondTab.unrouteAll();
  await visitAndCache(secondTab, "/portal");
  expect(await readCachedText(secondTab)).not.toContain("Tea of the first client");
});

test("After another person logs in, an open page of the first person stores no offline copy and sends no file.", async ({
  page,
  context,
  connection,
  client,
  secondClient,
}) => {
  await removeCookieEvents(context);
  await logInWithoutPage(page, client);
  const id = await createAndOpenShipment(page, "Tea of the first client");
  await pollWithClock(page, () => listAccountPaths(page)).toContain(`/portal/${id}`);
  const shipmentTab = await context.newPage();
  await openHydrated(shipmentTab, `/portal/${id}`);
  await fileField(shipmentTab, "Bill of Lading").setInputFiles(createPdfPayload("bl.pdf", 2_000_000));
  await logInWithoutPage(page, secondClient);
  const nextTab = await context.newPage();
  await visitAndCache(nextTab, "/portal");

  await test.step("a link within the page", async () => {
    for (const tab of [page, shipmentTab]) {
      await tab.evaluate(() => location.assign("#documents"));
      await waitUntilSettled(tab);
    }
    expect(await listAccountPaths(nextTab)).toContain("/portal");
    expect(await readCachedText(nextTab)).not.toContain("Tea of the first client");
  });
  await test.step("a file", async () => {
    connection.requests.length = 0;
    const dialogs: string[] = [];
    shipmentTab.on("dialog", (dialog) => {
      dialogs.push(dialog.type());
      void dialog.accept();
    });
    await uploadButton(shipmentTab, "Bill of Lading").click();
    await expect(shipmentTab).toHaveURL(/\/portal$/);
    expect(dialogs).toEqual([]);
    expect(connection.requests.filter((request) => request.includes("/documents"))).toEqual([]);
  });
  await test.step("a link to another page", async () => {
    await page.evaluate(() => Object.assign(window, { isSame: true }));
    await mainLink(page, "My Shipments").click();
    await expect(page).toHaveURL(/\/portal$/);
    await expect(heading(page)).toHaveText("My Shipments");
    expect(await page.evaluate(() => "isSame" in window)).toBe(false);
  });
  await test.step("without a connection", async () => {
    await visitAndCache(nextTab, "/portal");
    connection.cut();
    await nextTab.goto(`/portal/${id}`);
    await expect(heading(nextTab)).toHaveText(labels.noConnection);
    await nextTab.goto("/portal");
    await expectOfflineCopy(nextTab);
  });
});

test("The browser does not show or list another account's offline copy, and deletes the copy.", async ({
  page,
  connection,
  client,
}) => {
  await visitAndCache(page, "/about");
  await logInWithoutPage(page, client);
  const storeForeignCopy = () =>
    page.evaluate(async () => {
      const cache = await caches.open("offline1-account-another");
      const headers = { "Content-Type": "text/html", time: `${Date.now()}`, name: "Tea of the first client" };
      await cache.put("/portal", new Response("<html><head></head>Tea of the first client</html>", { headers }));
    });
  const listForeignCaches = () =>
    page.evaluate(async () => (await caches.keys()).filter((name) => name.endsWith("another")));
  for (const path of ["/portal", "/contact"]) {
    await storeForeignCopy();
    connection.cut();
    await page.goto(path).catch(() => null);
    await expect(heading(page)).toHaveText(labels.noConnection);
    await expect(page.getByText("Tea of the first client")).toHaveCount(0);
    expect(await listForeignCaches()).toEqual([]);
    await page.goto("about:blank");
    connection.restore();
    await page.goto("/about");
  }
  await storeForeignCopy();
  await page.goto("/portal");
  await expect.poll(listForeignCaches, pollOptions).toEqual([]);
});

siteTest(
  "A page restored from the back/forward cache is replaced if another person has logged in",
  async ({ page, context, client, secondClient }) => {
    await removeCookieEvents(context);
    await logInWithoutPage(page, client);
    await createAndOpenShipment(page, "Tea of the first client");
    await openHydrated(page, page.url());
    await logInWithoutPage(page, secondClient);
    const isVisible = await page.evaluate(() => {
      dispatchEvent(new PageTransitionEvent("pageshow", { persisted: true }));
      return document.body.checkVisibility();
    });
    expect(isVisible).toBe(false);
    await expect(page).toHaveURL(/\/portal$/);
  },
);

siteTest(
  "A page of the account closes when its window gets the focus after another person has logged in",
  async ({ page, context, client, secondClient }) => {
    await removeCookieEvents(context);
    await logInWithoutPage(page, client);
    await openHydrated(page, "/portal/new");
    await page.getByLabel(labels.shipmentName).fill("A secret cargo");
    await logInWithoutPage(page, secondClient);
    await page.evaluate(() => dispatchEvent(new Event("focus")));
    await expect(main(page)).toBeHidden();
    // The hidden page waits three seconds before it loads the next page.
    await expect(page).toHaveURL(/\/portal$/, { timeout: 15_000 });
    expect(await page.evaluate(() => JSON.stringify(sessionStorage))).not.toContain("A secret cargo");
  },
);
