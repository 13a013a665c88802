import type { Page } from "@playwright/test";
import {
  type ClientCredentials,
  createAndOpenShipment,
  expect,
  logInWithoutPage,
  newShipment,
  test,
  toast,
  waitForHydration,
} from "../support/e2e-fixtures.ts";

/** Gives e-mail and password to the login that is open. */
async function fillLogin(page: Page, client: Pick<ClientCredentials, "email" | "password">): Promise<void> {
  await page.getByLabel("Email").fill(client.email);
  await page.getByLabel("Password", { exact: true }).fill(client.password);
  await page.getByRole("button", { name: "Log in", exact: true }).click();
}

/** Tells a page that its tab is visible again. */
const showTab = (page: Page) => page.evaluate(() => document.dispatchEvent(new Event("visibilitychange")));

/** What a page keeps in its tab. */
const readSessionStorage = (page: Page) => page.evaluate(() => JSON.stringify(sessionStorage));

/** Opens a page and waits for its script. */
async function openHydrated(page: Page, address: string): Promise<void> {
  await page.goto(address);
  await waitForHydration(page);
}

const nameField = (page: Page) => page.getByLabel("Name of the shipment");
const signOutButton = (page: Page) => page.getByRole("button", { name: "Sign out" });

test("signing out empties this tab and the others: on screen, in memory, and in what they kept", async ({
  page,
  context,
  client,
}) => {
  await logInWithoutPage(page, client);
  const id = await newShipment(page, "Tea to Juba");
  const other = await context.newPage();
  await openHydrated(other, "/portal/new");
  await nameField(other).fill("A secret cargo");
  expect(await readSessionStorage(other)).toContain("A secret cargo");
  const third = await context.newPage();
  await openHydrated(third, `/portal/${id}`);
  for (const tab of [other, third]) await tab.evaluate(() => Object.assign(window, { same: true }));
  await openHydrated(page, `/portal/${id}`);
  expect(await page.content()).toContain("Tea to Juba");

  await signOutButton(page).click();
  await expect(toast(page, "You are signed out")).toBeVisible();
  expect(await page.content()).not.toContain("Tea to Juba");
  for (const tab of [other, third]) {
    await expect(tab).toHaveURL(/\/login$/);
    await expect(tab.getByRole("heading", { level: 1 })).toHaveText("Client Login");
    expect(await tab.evaluate(() => "same" in window)).toBe(false);
    expect(await tab.content()).not.toContain("Tea to Juba");
  }
  expect(await readSessionStorage(other)).not.toContain("A secret cargo");
});

test("a tab that signs out without a word is found out when the others come into sight", async ({
  page,
  context,
  client,
}) => {
  await logInWithoutPage(page, client);
  await page.clock.install();
  const id = await createAndOpenShipment(page, "Tea to Juba");
  await waitForHydration(page);
  await page.evaluate(() => Object.assign(window, { same: true }));
  await context.request.post("/portal/sign-out", { form: {} });
  await page.clock.fastForward(31_000);
  await showTab(page);
  await expect(page).toHaveURL(`/login?next=${encodeURIComponent(`/portal/${id}`)}`);
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Client Login");
  expect(await page.evaluate(() => "same" in window)).toBe(false);
});

test("coming into sight asks once, not again within 30 s, and leaves what is typed alone, answered or not", async ({
  page,
  client,
}) => {
  await logInWithoutPage(page, client);
  await page.clock.install();
  await openHydrated(page, "/portal/new");
  await page.waitForLoadState("networkidle");
  const requests: string[] = [];
  page.on("request", (request) => requests.push(new URL(request.url()).pathname));
  await nameField(page).fill("Half a na");
  await showTab(page);
  await page.clock.fastForward(20_000);
  await showTab(page);
  await page.waitForTimeout(200);
  expect(requests).toEqual([]);
  await page.clock.fastForward(11_000);
  const answered = page.waitForResponse("**/portal/session");
  await showTab(page);
  await showTab(page);
  expect((await answered).status()).toBe(204);
  await page.clock.fastForward(20_000);
  await showTab(page);
  expect(requests).toEqual(["/portal/session"]);
  await expect(nameField(page)).toHaveValue("Half a na");
  await page.clock.fastForward(11_000);
  await showTab(page);
  await expect.poll(() => requests).toEqual(["/portal/session", "/portal/session"]);

  await test.step("without an answer the page stays as it is", async () => {
    await page.route("**/portal/session", (route) => route.fulfill({ status: 503, body: "" }));
    await page.evaluate(() => Object.assign(window, { same: true }));
    for (const _ask of [3, 4]) {
      await page.clock.fastForward(31_000);
      // The answer before this one may still be on its way.
      const refused = page.waitForResponse((answer) => answer.status() === 503);
      await showTab(page);
      await refused;
    }
    expect(new Set(requests), "no new document, which would hold the draft too").toEqual(new Set(["/portal/session"]));
    expect(await page.evaluate(() => "same" in window)).toBe(true);
    await expect(nameField(page)).toHaveValue("Half a na");
  });
});

test("a page restored from the browser's memory is hidden until its session is known to live", async ({
  page,
  context,
  client,
}) => {
  await logInWithoutPage(page, client);
  const id = await createAndOpenShipment(page, "Tea to Juba");
  await waitForHydration(page);
  const restore = () =>
    page.evaluate(() => {
      dispatchEvent(new PageTransitionEvent("pageshow", { persisted: true }));
      return document.body.checkVisibility();
    });
  const now = page.waitForResponse(`**/portal/${id}.data*`);
  expect(await restore()).toBe(false);
  await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
  // It may have moved meanwhile.
  await now;
  await context.clearCookies({ name: "session" });
  expect(await restore()).toBe(false);
  await expect(page).toHaveURL(`/login?next=${encodeURIComponent(`/portal/${id}`)}`);
});

test("a session that ends while a form is filled leads back to the form with what was typed", async ({
  page,
  context,
  client,
}) => {
  await logInWithoutPage(page, client);
  await page.goto("/portal/new");
  await nameField(page).fill("Tiles, Mombasa to Goma");
  await context.clearCookies({ name: "session" });
  await page.getByRole("button", { name: "Create Shipment" }).click();
  await expect(page).toHaveURL("/login?next=%2Fportal%2Fnew");
  await fillLogin(page, client);
  await expect(page).toHaveURL(/\/portal\/new$/);
  await expect(nameField(page)).toHaveValue("Tiles, Mombasa to Goma");
  await page.getByRole("button", { name: "Create Shipment" }).click();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Tiles, Mombasa to Goma");
  await page.goto("/portal/new");
  await expect(nameField(page)).toHaveValue("");
});

test("a draft goes when its form is cancelled, and when the person signs out", async ({ page, client }) => {
  await logInWithoutPage(page, client);
  await openHydrated(page, "/portal/new");
  await nameField(page).fill("Not after all");
  await page.getByRole("link", { name: "Cancel" }).click();
  await expect(page).toHaveURL(/\/portal$/);
  await openHydrated(page, "/portal/new");
  await expect(nameField(page)).toHaveValue("");

  await nameField(page).fill("Not for this computer");
  await openHydrated(page, "/portal");
  expect(await readSessionStorage(page)).toContain("Not for this computer");
  await signOutButton(page).click();
  await expect(page).toHaveURL(/\/login$/);
  expect(await readSessionStorage(page)).not.toContain("Not for this computer");
  await logInWithoutPage(page, client);
  await openHydrated(page, "/portal/new");
  await expect(nameField(page)).toHaveValue("");
});

test("another person who signs in here does not see the draft, on the page or in the browser", async ({
  page,
  context,
  client,
  newClient: newcomer,
}) => {
  await logInWithoutPage(page, client);
  await openHydrated(page, "/portal/new");
  await nameField(page).fill("A secret cargo");
  await context.clearCookies({ name: "session" });
  await page.getByRole("button", { name: "Create Shipment" }).click();
  await expect(page).toHaveURL("/login?next=%2Fportal%2Fnew");
  expect(await readSessionStorage(page)).toContain("A secret cargo");
  await fillLogin(page, newcomer);
  await expect(page).toHaveURL(/\/portal\/new$/);
  await expect(nameField(page)).toHaveValue("");
  expect(await readSessionStorage(page)).not.toContain("A secret cargo");
});
