import type { Page } from "@playwright/test";
import {
  createAndOpenShipment,
  expect,
  fillLogin,
  heading,
  logInWithoutPage,
  newShipment,
  openHydrated,
  test,
  toast,
  waitForHydration,
} from "../../support/e2e-fixtures.ts";
import { labels } from "../../support/labels.ts";

/** Dispatches the event that a browser sends when a tab becomes visible again. */
const showTab = (page: Page) => page.evaluate(() => document.dispatchEvent(new Event("visibilitychange")));

const readSessionStorage = (page: Page) => page.evaluate(() => JSON.stringify(sessionStorage));

const nameField = (page: Page) => page.getByLabel(labels.shipmentName);
const signOutButton = (page: Page) => page.getByRole("button", { name: "Sign out" });

test("Signing out removes personal data from all tabs, and from the browser's memory and storage.", async ({
  page,
  context,
  client,
}) => {
  await logInWithoutPage(page, client);
  const id = await newShipment(page, "Tea to Juba");
  const secondTab = await context.newPage();
  await openHydrated(secondTab, "/portal/new");
  await nameField(secondTab).fill("A secret cargo");
  expect(await readSessionStorage(secondTab)).toContain("A secret cargo");
  const thirdTab = await context.newPage();
  await openHydrated(thirdTab, `/portal/${id}`);
  for (const tab of [secondTab, thirdTab]) await tab.evaluate(() => Object.assign(window, { same: true }));
  await openHydrated(page, `/portal/${id}`);
  expect(await page.content()).toContain("Tea to Juba");

  await signOutButton(page).click();
  await expect(toast(page, labels.signedOut)).toBeVisible();
  expect(await page.content()).not.toContain("Tea to Juba");
  for (const tab of [secondTab, thirdTab]) {
    await expect(tab).toHaveURL(/\/login$/);
    await expect(tab.getByRole("heading", { level: 1 })).toHaveText("Client Login");
    expect(await tab.evaluate(() => "same" in window)).toBe(false);
    expect(await tab.content()).not.toContain("Tea to Juba");
  }
  expect(await readSessionStorage(secondTab)).not.toContain("A secret cargo");
});

test("A tab that becomes visible detects that its session has ended in another tab or on another device.", async ({
  page,
  playwright,
  baseURL,
  client,
}) => {
  await logInWithoutPage(page, client);
  await page.clock.install();
  const id = await createAndOpenShipment(page, "Tea to Juba");
  await waitForHydration(page);
  await page.evaluate(() => Object.assign(window, { same: true }));
  const elsewhere = await playwright.request.newContext({ baseURL });
  await elsewhere.post("/login", { form: { email: client.email, password: client.password } });
  await elsewhere.post("/portal/account", { form: { intent: "sign-out-others" } });
  await elsewhere.dispose();
  await page.clock.fastForward(31_000);
  await showTab(page);
  await expect(page).toHaveURL(`/login?next=${encodeURIComponent(`/portal/${id}`)}`);
  await expect(heading(page)).toHaveText("Client Login");
  expect(await page.evaluate(() => "same" in window)).toBe(false);
});

test("A visible tab checks its session at most every 30 s, and the check does not change typed text.", async ({
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
  const sessionResponse = page.waitForResponse("**/portal/session");
  await showTab(page);
  await showTab(page);
  expect((await sessionResponse).status()).toBe(204);
  await page.clock.fastForward(20_000);
  await showTab(page);
  expect(requests).toEqual(["/portal/session"]);
  await expect(nameField(page)).toHaveValue("Half a na");
  await page.clock.fastForward(11_000);
  await showTab(page);
  await expect.poll(() => requests).toEqual(["/portal/session", "/portal/session"]);

  await test.step("a failed check of the session leaves the page unchanged", async () => {
    await page.route("**/portal/session", (route) => route.fulfill({ status: 503, body: "" }));
    await page.evaluate(() => Object.assign(window, { same: true }));
    for (const _attempt of [3, 4]) {
      await page.clock.fastForward(31_000);
      // Waits for the response to this check, because the response to the previous check may arrive late.
      const failure = page.waitForResponse((response) => response.status() === 503);
      await showTab(page);
      await failure;
    }
    expect(new Set(requests), "requests other than the session check").toEqual(new Set(["/portal/session"]));
    expect(await page.evaluate(() => "same" in window)).toBe(true);
    await expect(nameField(page)).toHaveValue("Half a na");
  });
});

test("A page from the back/forward cache is hidden until the site has confirmed its session.", async ({
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
  // A restored page reloads its data with a script that loads when the page is idle. The first events may come too
  // early.
  await expect(async () => {
    const currentData = page.waitForResponse(`**/portal/${id}.data*`, { timeout: 3000 });
    expect(await restore()).toBe(false);
    await currentData;
  }).toPass();
  await expect(heading(page)).toBeVisible();
  await context.clearCookies({ name: "session" });
  expect(await restore()).toBe(false);
  await expect(page).toHaveURL(`/login?next=${encodeURIComponent(`/portal/${id}`)}`);
});

test("If a client's session ends while the client fills in a form, the form has the typed text after the next login.", async ({
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
  await expect(heading(page)).toHaveText("Tiles, Mombasa to Goma");
  await page.goto("/portal/new");
  await expect(nameField(page)).toHaveValue("");
});

test("Cancelling a form or signing out deletes the form's draft.", async ({ page, client }) => {
  await logInWithoutPage(page, client);
  await openHydrated(page, "/portal/new");
  await nameField(page).fill("Not after all");
  await page.getByRole("link", { name: labels.cancel }).click();
  await expect(page).toHaveURL(/\/portal$/);
  await openHydrated(page, "/portal/new");
  await expect(nameField(page)).toHaveValue("");

  await nameField(page).fill("Not for this computer");
  await openHydrated(page, "/portal");
  expect(await readSessionStorage(page)).toContain("Not for this computer");
  await signOutButton(page).click();
  await expect(page).toHaveURL(/\/login$/);
  expect(await readSessionStorage(page)).not.toContain("Not for this computer");
});

test("After another client logs in, neither the page nor the tab's storage contains a draft of the first client.", async ({
  page,
  context,
  client,
  secondClient,
}) => {
  await logInWithoutPage(page, client);
  await openHydrated(page, "/portal/new");
  await nameField(page).fill("A secret cargo");
  await context.clearCookies({ name: "session" });
  await page.getByRole("button", { name: "Create Shipment" }).click();
  await expect(page).toHaveURL("/login?next=%2Fportal%2Fnew");
  expect(await readSessionStorage(page)).toContain("A secret cargo");
  await fillLogin(page, secondClient);
  await expect(page).toHaveURL(/\/portal\/new$/);
  await expect(nameField(page)).toHaveValue("");
  expect(await readSessionStorage(page)).not.toContain("A secret cargo");
});
