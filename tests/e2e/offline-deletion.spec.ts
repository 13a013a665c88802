import type { Page } from "@playwright/test";
import { Authenticator } from "../support/authenticator.ts";
import type { ConnectionProxy } from "../support/connection-proxy.ts";
import {
  type ClientCredentials,
  createAndOpenShipment,
  expect,
  heading,
  logInWithoutPage,
  openHydrated,
  toast,
} from "../support/e2e-fixtures.ts";
import { labels } from "../support/labels.ts";
import {
  followAndCache,
  followLink,
  listAccountPaths,
  main,
  pollOptions,
  pollWithClock,
  readCachedPaths,
  readCachedText,
  test,
  visitAndCache,
  waitUntilSettled,
} from "../support/offline-copies.ts";

test.describe("Deletion of offline copies", { tag: "@script" }, () => {
  /** Logs a client in and caches the portal and a public page. */
  async function logInAndCache(page: Page, client: ClientCredentials): Promise<void> {
    await logInWithoutPage(page, client);
    await visitAndCache(page, "/portal");
    await followAndCache(page, "About", "/about");
    // Waits for the account's copy, because the cache may already have a visitor's copy of the public page.
    await pollWithClock(page, () => listAccountPaths(page)).toEqual(expect.arrayContaining(["/portal", "/about"]));
  }

  /** Expects that the caches contain no offline copy of the account, and that none is shown without a connection. */
  async function expectNoCopies(page: Page, connection: ConnectionProxy): Promise<void> {
    await pollWithClock(page, () => listAccountPaths(page)).toEqual([]);
    await pollWithClock(page, async () => (await readCachedPaths(page))["offline1-open"]).toContain(
      "/worker.js?no-page",
    );
    await waitUntilSettled(page);
    expect(await listAccountPaths(page)).toEqual([]);
    connection.cut();
    await page.goto("/portal");
    await expect(heading(page)).toHaveText(labels.noConnection);
    await expect(main(page).getByRole("link", { name: "My Shipments" })).toHaveCount(0);
    // Leaves the page, because the page would reload itself after the connection is restored.
    await page.goto("about:blank");
    connection.restore();
  }

  test("Signing out in any tab deletes the account's offline copies", async ({ page, context, connection, client }) => {
    await test.step("in this tab", async () => {
      await logInAndCache(page, client);
      await page.getByRole("button", { name: "Sign out" }).click();
      await expect(page).toHaveURL(/\/login$/);
      await expectNoCopies(page, connection);
    });
    await test.step("in another tab", async () => {
      await logInAndCache(page, client);
      await openHydrated(page, "/portal");
      const secondTab = await context.newPage();
      await openHydrated(secondTab, "/portal");
      await secondTab.getByRole("button", { name: "Sign out" }).click();
      await expect(page).toHaveURL(/\/login$/);
      await expectNoCopies(page, connection);
    });
  });

  test("Signing out without a response or before hydration deletes the account's offline copies", async ({
    page,
    connection,
    client,
  }) => {
    await test.step("without a response", async () => {
      await logInAndCache(page, client);
      await followLink(page, "My Shipments");
      await expect(heading(page)).toHaveText("My Shipments");
      await waitUntilSettled(page);
      connection.cut();
      await page.getByRole("button", { name: "Sign out" }).click();
      await expect(toast(page, labels.connectionLost)).toBeVisible();
      await waitUntilSettled(page);
      expect(await listAccountPaths(page)).toEqual([]);
      connection.restore();
      await page.getByRole("button", { name: "Sign out" }).click();
      await expect(page).toHaveURL(/\/login$/);
    });
    await test.step("before hydration", async () => {
      await logInAndCache(page, client);
      await page.route("**/assets/*.js", (route) => route.abort());
      await page.goto("/portal");
      await page.getByRole("button", { name: "Sign out" }).click();
      await expect(page).toHaveURL(/\/login$/);
      await page.unrouteAll();
      await page.reload();
      await expectNoCopies(page, connection);
    });
  });

  test("A session that ended elsewhere or was lost deletes the account's offline copies", async ({
    page,
    context,
    connection,
    playwright,
    baseURL,
    client,
  }) => {
    await test.step("ended elsewhere", async () => {
      await logInAndCache(page, client);
      const elsewhere = await playwright.request.newContext({ baseURL });
      const { email, password } = client;
      for (const [path, form] of [
        ["/login", { email, password }],
        ["/portal/account", { intent: "sign-out-others" }],
      ] as const)
        expect((await elsewhere.post(path, { form, maxRedirects: 0 })).status()).toBe(303);
      await elsewhere.dispose();
      await page.goto("/portal");
      await expect(page).toHaveURL(/\/login/);
      await expectNoCopies(page, connection);
    });
    await test.step("lost", async () => {
      await logInAndCache(page, client);
      await context.clearCookies();
      await page.goto("/about");
      await expectNoCopies(page, connection);
    });
    await test.step("lost, before hydration", async () => {
      await logInAndCache(page, client);
      await context.clearCookies();
      await page.route("**/assets/*.js", (route) => route.abort());
      await page.goto("/portal");
      await expect(page).toHaveURL(/\/login/);
      await expect.poll(() => listAccountPaths(page), pollOptions).toEqual([]);
      await page.unrouteAll();
    });
  });

  test("Forms for password, sessions and 2FA delete the offline copies", async ({ page, newClient: newcomer }) => {
    await logInWithoutPage(page, newcomer);
    const clickAndExpectDeletion = async (name: string) => {
      expect(await listAccountPaths(page)).toContain("/portal");
      await page.getByRole("button", { name, exact: true }).click();
      await expect.poll(() => listAccountPaths(page), { ...pollOptions, message: name }).not.toContain("/portal");
    };
    await test.step("forms", async () => {
      for (const name of ["Change password", "Log out all other devices"]) {
        await visitAndCache(page, "/portal");
        await openHydrated(page, "/portal/account");
        await clickAndExpectDeletion(name);
      }
    });
    await test.step("a second factor", async () => {
      await visitAndCache(page, "/portal");
      await openHydrated(page, "/portal/2fa");
      await clickAndExpectDeletion("Set up 2FA");
      const link = page.getByRole("link", { name: labels.openAuthenticator });
      const authenticator = Authenticator.fromUri(await link.getAttribute("href"));
      await page.getByLabel("6-digit code").fill(await authenticator.freshCode());
      await page.getByRole("button", { name: labels.enable2fa }).click();
      await expect(toast(page, "2FA Enabled!")).toBeVisible();
      await visitAndCache(page, "/portal");
      await openHydrated(page, "/portal/2fa");
      await page.getByRole("link", { name: labels.removeLink }).click();
      await page.getByLabel("6-digit code").fill(await authenticator.freshCode());
      await clickAndExpectDeletion(labels.remove);
      await expect(toast(page, labels.authenticatorRemoved)).toBeVisible();
      expect(await listAccountPaths(page)).not.toContain("/portal");
    });
  });

  test("The login of another account deletes the first account's offline copies", async ({
    page,
    loggedInClient: _,
    newClient: newcomer,
    context,
  }) => {
    const listAccountCaches = () =>
      page.evaluate(async () => (await caches.keys()).filter((name) => name.includes("account")));
    const id = await createAndOpenShipment(page, "Tea of the first client");
    await pollWithClock(page, () => listAccountPaths(page)).toContain(`/portal/${id}`);
    const [firstCache] = await listAccountCaches();
    expect(firstCache).toBeDefined();
    await context.clearCookies();
    await logInWithoutPage(page, newcomer);
    await page.goto("/portal");
    await pollWithClock(page, listAccountCaches).not.toContain(firstCache);
    await pollWithClock(page, () => listAccountPaths(page)).toContain("/portal");
    expect(await readCachedText(page)).not.toContain("Tea of the first client");
    expect(await listAccountCaches()).toHaveLength(1);
  });
});

test("A page requested before signing out shows no offline copy afterwards", { tag: "@script" }, async ({
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
