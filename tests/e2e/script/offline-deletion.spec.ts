import type { Page } from "@playwright/test";
import type { ConnectionProxy } from "../../support/connection-proxy.ts";
import {
  type ClientCredentials,
  expect,
  heading,
  logInWithoutPage,
  openHydrated,
  toast,
} from "../../support/e2e-fixtures.ts";
import { labels } from "../../support/labels.ts";
import {
  followAndCache,
  listAccountPaths,
  main,
  pollOptions,
  pollWithClock,
  readCachedPaths,
  test,
  visitAndCache,
  waitUntilSettled,
} from "../../support/offline-copies.ts";

async function logInAndCache(page: Page, client: ClientCredentials): Promise<void> {
  await logInWithoutPage(page, client);
  await visitAndCache(page, "/portal");
}

const expectDeletion = (page: Page) => expect.poll(() => listAccountPaths(page), pollOptions).toEqual([]);

/** Checks that the caches contain no offline copy of the account, and that no copy is shown without a connection. */
async function expectNoCopies(page: Page, connection: ConnectionProxy): Promise<void> {
  await pollWithClock(page, () => listAccountPaths(page)).toEqual([]);
  await pollWithClock(page, async () => (await readCachedPaths(page))["offline1-open"]).toContain("/worker.js?no-page");
  await waitUntilSettled(page);
  expect(await listAccountPaths(page)).toEqual([]);
  connection.cut();
  await page.goto("/portal");
  await expect(heading(page)).toHaveText(labels.noConnection);
  await expect(main(page).getByRole("link", { name: "My Shipments" })).toHaveCount(0);
  // Opens an empty page, because the portal page would reload itself after the connection returns.
  await page.goto("about:blank");
  connection.restore();
}

test("Signing out deletes the account's offline copies, even without a response or before hydration.", async ({
  page,
  context,
  connection,
  client,
}) => {
  await test.step("in another tab", async () => {
    await logInAndCache(page, client);
    await followAndCache(page, "About", "/about");
    // Waits for the copies that belong to the account. The cache may already contain a visitor's copy of the public
    // page.
    await pollWithClock(page, () => listAccountPaths(page)).toEqual(expect.arrayContaining(["/portal", "/about"]));
    await openHydrated(page, "/portal");
    const secondTab = await context.newPage();
    await openHydrated(secondTab, "/portal");
    await secondTab.getByRole("button", { name: "Sign out" }).click();
    await expect(page).toHaveURL(/\/login$/);
    await expectNoCopies(page, connection);
    await secondTab.close();
  });
  await test.step("without a response", async () => {
    await logInAndCache(page, client);
    await waitUntilSettled(page);
    connection.cut();
    await page.getByRole("button", { name: "Sign out" }).click();
    await expect(toast(page, labels.connectionLost)).toBeVisible();
    await waitUntilSettled(page);
    expect(await listAccountPaths(page)).toEqual([]);
    connection.restore();
  });
  await test.step("before hydration", async () => {
    await logInAndCache(page, client);
    await page.route("**/assets/*.js", (route) => route.abort());
    await page.goto("/portal");
    await page.getByRole("button", { name: "Sign out" }).click();
    await expect(page).toHaveURL(/\/login$/);
    await expectDeletion(page);
  });
});

test("The account's offline copies are deleted after its session has ended elsewhere or its cookie is missing.", async ({
  page,
  context,
  connection,
  playwright,
  baseURL,
  client,
}) => {
  await test.step("session ended elsewhere", async () => {
    await logInAndCache(page, client);
    const elsewhere = await playwright.request.newContext({ baseURL });
    await elsewhere.post("/login", { form: { email: client.email, password: client.password } });
    await elsewhere.post("/portal/account", { form: { intent: "sign-out-others" } });
    await elsewhere.dispose();
    await page.goto("/portal");
    await expect(page).toHaveURL(/\/login/);
    await expectNoCopies(page, connection);
  });
  await test.step("session cookie missing", async () => {
    await logInAndCache(page, client);
    await context.clearCookies();
    await page.goto("/about");
    await pollWithClock(page, () => listAccountPaths(page)).toEqual([]);
  });
  await test.step("session cookie missing before hydration", async () => {
    await logInAndCache(page, client);
    await context.clearCookies();
    await page.route("**/assets/*.js", (route) => route.abort());
    await page.goto("/portal");
    await expect(page).toHaveURL(/\/login/);
    await expectDeletion(page);
  });
});

test("Sending the form that sets up 2FA deletes the account's offline copies.", async ({ page, loggedInClient: _ }) => {
  await visitAndCache(page, "/portal");
  await openHydrated(page, "/portal/2fa");
  expect(await listAccountPaths(page)).toContain("/portal");
  await page.getByRole("button", { name: labels.setUp2fa, exact: true }).click();
  await expect.poll(() => listAccountPaths(page), pollOptions).not.toContain("/portal");
});

test("A page that is requested before signing out and gets no response does not show an offline copy after signing out.", async ({
  page,
  context,
  connection,
  client,
}) => {
  await visitAndCache(page, "/about");
  await logInWithoutPage(page, client);
  await visitAndCache(page, "/portal");
  const secondTab = await context.newPage();
  await openHydrated(secondTab, "/portal");
  await secondTab.route(/sign-out/, (route) => route.abort());
  connection.stall();
  const stalledVisit = page.goto("/portal");
  await expect.poll(() => connection.requests.at(-1), pollOptions).toBe("GET /portal");
  await secondTab.getByRole("button", { name: "Sign out" }).click();
  await expect.poll(() => listAccountPaths(secondTab), pollOptions).toEqual([]);
  await stalledVisit;
  await expect(heading(page)).toHaveText(labels.noConnection);
  await expect(main(page).getByRole("link", { name: "My Shipments" })).toHaveCount(0);
});
