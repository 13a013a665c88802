import { expect, heading, prepareButton, toast } from "../../support/e2e-fixtures.ts";
import { labels } from "../../support/labels.ts";
import {
  expectOfflineCopy,
  followAndCache,
  followLink,
  main,
  pollWithClock,
  test,
  visitAndCache,
  waitUntilSettled,
} from "../../support/offline-copies.ts";

test("A clicked link without a response shows the page's offline copy until the site responds.", async ({
  page,
  connection,
}) => {
  await visitAndCache(page, "/services");
  await followAndCache(page, "About", "/about");
  await test.step("over a cut connection", async () => {
    connection.cut();
    await followLink(page, "Services");
    await expectOfflineCopy(page);
    await expect(heading(page)).toHaveText("Our Logistics Expertise");
    connection.restore();
    await pollWithClock(page, () => main(page).getByText(labels.noConnection).count()).toBe(0);
  });
  await test.step("after 5 s without a response, and not before", async () => {
    await waitUntilSettled(page);
    connection.stall();
    await followLink(page, "About");
    await page.clock.runFor(4500);
    await expect(page).toHaveURL(/\/services$/);
    await page.clock.runFor(1000);
    await expectOfflineCopy(page);
    await expect(page).toHaveURL(/\/about$/);
    connection.restore();
  });
});

test("If a page arrives before the browser has found its offline copy, the browser shows the page.", async ({
  page,
  connection,
}) => {
  await visitAndCache(page, "/services");
  await followAndCache(page, "About", "/about");
  await page.evaluate(() => {
    const { match } = CacheStorage.prototype;
    CacheStorage.prototype.match = async function (...request) {
      const copy = await match.apply(this, request);
      await new Promise((resolve) => addEventListener("found", resolve, { once: true }));
      return copy;
    };
    Object.assign(window, { isSame: true });
  });
  connection.stall();
  await followLink(page, "Services");
  await page.clock.runFor(5500);
  connection.restore();
  await expect(heading(page)).toHaveText("Our Logistics Expertise");
  await page.evaluate(() => dispatchEvent(new Event("found")));
  await waitUntilSettled(page);
  expect(await page.evaluate(() => "isSame" in window)).toBe(true);
  await expect(main(page).getByText(labels.noConnection)).toHaveCount(0);
});

test("A link to a page without an offline copy shows a toast, and the page opens when the connection returns.", async ({
  page,
  connection,
}) => {
  await visitAndCache(page, "/about");
  await waitUntilSettled(page);
  const waitingToast = toast(page, "Slow connection");
  const waitWithoutResponse = async () => {
    connection.stall();
    await followLink(page, "Services");
    await page.clock.runFor(4500);
    await expect(waitingToast).toHaveCount(0);
    await page.clock.runFor(1000);
    await expect(waitingToast).toContainText("The next page is still loading.");
    await page.clock.runFor(20_000);
    await expect(waitingToast).toBeVisible();
    await expect(page).toHaveURL(/\/about$/);
  };
  await test.step("the visitor chooses to stay", async () => {
    await waitWithoutResponse();
    await waitingToast.getByRole("link", { name: "Stay on this page" }).click();
    await expect(waitingToast).toHaveCount(0);
    connection.restore();
    await waitUntilSettled(page);
    await expect(page).toHaveURL(/\/about$/);
  });
  await test.step("the page arrives late", async () => {
    await waitWithoutResponse();
    connection.restore();
    await expect(heading(page)).toHaveText("Our Logistics Expertise");
    await expect(waitingToast).toHaveCount(0);
  });
  await test.step("the connection is lost and returns", async () => {
    connection.cut();
    await followLink(page, "Contact");
    await expect(toast(page, labels.continuesByItself)).toBeVisible();
    await expect(page).toHaveURL(/\/services$/);
    connection.requests.length = 0;
    await pollWithClock(
      page,
      async () => connection.requests.filter((request) => request === "GET /healthz").length,
    ).toBeGreaterThan(1);
    await expect(page).toHaveURL(/\/services$/);
    connection.restore();
    await pollWithClock(page, async () => new URL(page.url()).pathname).toBe("/contact");
  });
});

test("Typing cancels a waiting navigation, and a form that was lost with the connection is not sent again.", async ({
  page,
  connection,
}) => {
  const subject = page.getByLabel("Subject");
  await visitAndCache(page, "/about");
  await followAndCache(page, "Contact", "/contact");
  await test.step("a lost link", async () => {
    connection.cut();
    await followLink(page, "Services");
    await expect(toast(page, labels.continuesByItself)).toBeVisible();
    await subject.fill("Tea");
    connection.restore();
    await waitUntilSettled(page);
    await expect(page).toHaveURL(/\/contact$/);
  });
  await test.step("a stalled link", async () => {
    connection.stall();
    await followLink(page, "Services");
    await page.clock.runFor(5500);
    await expect(toast(page, "Slow connection")).toBeVisible();
    await subject.fill("Coffee");
    await expect(toast(page, "Slow connection")).toHaveCount(0);
    connection.restore();
    await waitUntilSettled(page);
    await expect(page).toHaveURL(/\/contact$/);
    await expect(subject).toHaveValue("Coffee");
  });
  await test.step("a stalled link to a cached page", async () => {
    connection.stall();
    await followLink(page, "About");
    await page.clock.runFor(2000);
    await subject.fill("Coffee");
    await page.clock.runFor(5500);
    connection.restore();
    await waitUntilSettled(page);
    await expect(page).toHaveURL(/\/contact$/);
    await expect(subject).toHaveValue("Coffee");
  });
  await test.step("a form whose request gets no response and is lost", async () => {
    connection.stall();
    await page.getByLabel("Full Name").fill("Achieng Otieno");
    await page.getByLabel("Email", { exact: true }).fill("achieng@client.example");
    await page.getByLabel("Message").fill("Coffee to Kigali");
    await prepareButton(page).click();
    await page.clock.runFor(5500);
    const waitingToast = toast(page, "Slow connection");
    await expect(waitingToast).toContainText("Our server has not responded yet. Please wait.");
    await expect(waitingToast.getByRole("link")).toHaveCount(0);
    connection.cut();
    await expect(page.getByRole("region", { name: labels.errorSummary })).toContainText(labels.typedTextStays);
    connection.requests.length = 0;
    connection.restore();
    await waitUntilSettled(page);
    await page.clock.fastForward(30_000);
    await expect(subject).toHaveValue("Coffee");
    expect(connection.requests.filter((request) => request.startsWith("POST"))).toEqual([]);
  });
});
