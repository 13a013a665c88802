import { createAndOpenShipment, expect, heading, openHydrated, waitForHydration } from "../../support/e2e-fixtures.ts";
import { labels } from "../../support/labels.ts";
import {
  deleteWorkerCache,
  expectOfflineCopy,
  followAndCache,
  listAccountPaths,
  main,
  pollOptions,
  pollWithClock,
  readCachedPaths,
  readCachedText,
  test,
  visitAndCache,
  waitUntilCached,
  waitUntilSettled,
} from "../../support/offline-copies.ts";

test("Without a connection, a visited page is shown with the time of the visit, and reloads when the connection returns.", async ({
  page,
  connection,
  loggedInClient: _,
}) => {
  const id = await createAndOpenShipment(page, "Tea <b>$& coffee</b> to Goma");
  await waitUntilCached(page, `/portal/${id}`);
  await followAndCache(page, "My Shipments", "/portal");
  await followAndCache(page, "Services", "/services");

  await test.step("the forms of a shipment's offline copy are inert", async () => {
    connection.cut();
    await page.goto(`/portal/${id}`);
    await expectOfflineCopy(page);
    await expect(heading(page)).toHaveText("Tea <b>$& coffee</b> to Goma");
    const forms = page.locator("form");
    expect(await forms.count()).toBeGreaterThan(3);
    for (const form of await forms.all()) await expect(form).toHaveAttribute("inert");
    await expect(main(page).getByText("You can use this form when you are back online.").first()).toBeVisible();
    expect(await page.evaluate(() => document.scripts.length)).toBe(1);
    expect(await page.locator("main").evaluate((element) => getComputedStyle(element).maxWidth)).not.toBe("none");
  });

  await test.step("links lead to other offline copies, or to a list of the offline copies", async () => {
    await page.locator("header").getByRole("link", { name: "My Shipments" }).click();
    await expect(heading(page)).toHaveText("My Shipments");
    await expectOfflineCopy(page);
    await page.goto("/services");
    await expectOfflineCopy(page);
    await page.goto("/contact");
    await expect(heading(page)).toHaveText(labels.noConnection);
    await expect(main(page).getByRole("link", { name: labels.phoneNumber })).toBeVisible();
    await expect(main(page).getByRole("listitem")).toHaveText([
      "Our Logistics Expertise",
      "My Shipments",
      "Tea <b>$& coffee</b> to Goma",
    ]);
    await main(page).getByRole("link", { name: "Try again" }).click();
    await expect(heading(page)).toHaveText(labels.noConnection);
  });

  await test.step("the page reloads by itself when the site responds again", async () => {
    connection.restore();
    await pollWithClock(page, () => heading(page).textContent()).toBe("Contact");
    await waitForHydration(page);
  });

  await test.step("the page reloads when the browser is online again", async () => {
    connection.cut();
    await page.goto("/services");
    await expectOfflineCopy(page);
    connection.restore();
    await page.evaluate(() => dispatchEvent(new Event("online")));
    await expect(main(page).getByText(labels.noConnection)).toHaveCount(0);
  });
});

test("An offline copy from an earlier day shows its date, and is deleted after 30 days.", async ({
  page,
  connection,
}) => {
  await visitAndCache(page, "/about");
  await page.evaluate(async () => {
    const cache = await caches.open("offline1-open");
    const copy = await cache.match("/about");
    const html = (await copy?.text())?.replace(/<!--\d[^|]+\|/, "<!--2026-05-12T11:05:00.000Z|") ?? "";
    await cache.put("/about", new Response(html, { headers: copy?.headers }));
    const headers = { time: `${Date.now() - 31 * 24 * 3_600_000}`, name: "Long ago" };
    await cache.put("/services", new Response("Long ago", { headers }));
    await cache.put("/assets/old.css?offline", new Response("", { headers: { time: headers.time } }));
  });
  connection.cut();
  await page.goto("/about");
  await expect(main(page).locator("p").first()).toHaveText(
    /^No connection\. This copy of the page is from \d+ \w+ \d{4}, \d\d:\d\d\sEAT\.$/,
  );
  await page.goto("/services");
  await expect(heading(page)).toHaveText(labels.noConnection);
  await expect(page.getByText("Long ago")).toHaveCount(0);
  connection.restore();
  await page.evaluate(deleteWorkerCache);
  await page.goto("/careers");
  await expect
    .poll(async () => (await readCachedPaths(page))["offline1-open"], pollOptions)
    .not.toContain("/assets/old.css?offline");
  expect((await readCachedPaths(page))["offline1-open"]).toContain("/about");
});

test("An offline copy is shown after 5 s without a response, until the response arrives.", async ({
  page,
  connection,
}) => {
  await visitAndCache(page, "/about");
  connection.stall();
  const slowVisit = page.goto("/about");
  await page.waitForTimeout(1000);
  connection.restore();
  await slowVisit;
  await waitForHydration(page);
  await expect(main(page).getByText(labels.noConnection)).toHaveCount(0);

  connection.stall();
  await page.goto("/about");
  await expectOfflineCopy(page);
  connection.restore();
  await expect(main(page).getByText(labels.noConnection)).toHaveCount(0);
  await waitForHydration(page);
});

test("Offline copies need one request for the service worker per day, refresh their files daily, and store at most 60 files.", async ({
  page,
  connection,
}) => {
  await visitAndCache(page, "/about");
  await test.step("requests of the first visit", () => {
    const files = connection.requests.filter((request) => /\/(assets|art)\//.test(request));
    expect(new Set(files).size).toBe(files.length);
    expect(connection.requests.filter((request) => request === "GET /about")).toHaveLength(1);
    expect(connection.requests.filter((request) => request === "GET /worker.js")).toHaveLength(1);
    const workerRequest = connection.requests.indexOf("GET /worker.js");
    const lastFileOfPage = connection.requests.findLastIndex((request) => request.includes("/assets/"));
    expect(workerRequest).toBeGreaterThan(lastFileOfPage);
  });

  const files = (await readCachedPaths(page))["offline1-open"]?.filter((path) => path.endsWith("?offline")) ?? [];
  expect(files.filter((file) => file.includes(".css"))).not.toEqual([]);
  await page.evaluate(async (files) => {
    const cache = await caches.open("offline1-open");
    await cache.delete("/about");
    const headers = { "Content-Type": "text/css", time: `${Date.now() - 25 * 3_600_000}` };
    for (const file of files) await cache.put(file, new Response("from yesterday", { headers }));
  }, files);
  connection.requests.length = 0;
  await visitAndCache(page, "/about");
  expect(await readCachedText(page)).not.toContain("from yesterday");
  expect(connection.requests).toEqual(["GET /about"]);

  // The page has one drawing more than the cache can store, and the stylesheets of the page are the oldest files.
  const drawing = files.find((file) => file.startsWith("/art/")) ?? "";
  const fillerCount = 61 - files.length;
  await page.evaluate(
    async ([drawing, fillerCount]) => {
      const cache = await caches.open("offline1-open");
      for (const path of ["/about", drawing]) await cache.delete(path);
      const headers = { time: `${Date.now()}` };
      for (let number = 1; number <= fillerCount; number += 1)
        await cache.put(`/art/${number}.svg?offline`, new Response("", { headers }));
    },
    [drawing, fillerCount] as const,
  );
  await visitAndCache(page, "/about");
  const stored = (await readCachedPaths(page))["offline1-open"]?.filter((path) => path.endsWith("?offline")) ?? [];
  expect(stored).toHaveLength(60);
  expect(stored).toEqual(expect.arrayContaining([...files, `/art/${fillerCount}.svg?offline`]));
  expect(stored).not.toContain("/art/1.svg?offline");
});

test("Offline copies contain no typed text and no toast, and the browser stores no pages of forms or with secrets.", async ({
  page,
  loggedInClient: _,
}) => {
  const id = await createAndOpenShipment(page, "Maize");
  await waitUntilCached(page, `/portal/${id}`);
  const allowed = /^\/(portal(\?q=maize|\/[0-9a-f-]{36})?|about|contact|worker\.js\?no-page|.*\?offline)?$/;
  const expectNoSecret = async () => {
    expect((await listAccountPaths(page)).filter((path) => !allowed.test(path))).toEqual([]);
    expect(await readCachedText(page)).not.toMatch(/typed secret|data-toast="|otpauth|<script|\/s\/[\w-]{20}/);
  };
  await page.getByRole("link", { name: labels.share }).click();
  await page.getByRole("button", { name: labels.makeLink }).click();
  await expect(page.getByLabel(labels.linkUntil)).toHaveValue(/\/s\//);
  await page.goto("/portal/2fa");
  await waitUntilSettled(page);
  expect(await listAccountPaths(page)).toContain(`/portal/${id}`);
  await expectNoSecret();
  await page.getByRole("button", { name: labels.setUp2fa }).click();
  await expect(page.getByRole("img", { name: "QR code" })).toBeVisible();
  await expect.poll(() => listAccountPaths(page), pollOptions).not.toContain(`/portal/${id}`);
  await waitUntilSettled(page);
  // After the offline copies are deleted, the browser stores copies again only after it has opened a page of the
  // account.
  await visitAndCache(page, "/portal");
  await followAndCache(page, "Contact", "/contact");
  await page.getByLabel("Message").fill("typed secret");
  await page.getByLabel("Subject").fill("typed secret");
  // A change of the URL makes the browser store the page again, this time with typed text in the HTML.
  await page.evaluate(async () => {
    for (const name of await caches.keys()) await (await caches.open(name)).delete("/contact");
    location.hash = "main";
    for (const _ of [1, 2]) await new Promise(requestAnimationFrame);
    document.querySelector("main textarea")?.append("typed secret");
    document.querySelector("main input[type=email]")?.setAttribute("value", "typed secret");
  });
  await pollWithClock(page, async () => Object.values(await readCachedPaths(page)).flat()).toContain("/contact");
  await followAndCache(page, "About", "/about");
  await openHydrated(page, "/portal?q=maize");
  await page.getByLabel(labels.findShipment).fill("typed secret");
  await pollWithClock(page, () => listAccountPaths(page)).toContain("/portal?q=maize");
  await expectNoSecret();
});

test("The last twenty visited portal pages have offline copies, and downloads bypass the service worker.", async ({
  page,
  context,
  baseURL,
  loggedInClient: _,
}) => {
  await visitAndCache(page, "/portal");
  await page.evaluate(async () => {
    const [name = ""] = (await caches.keys()).filter((cacheName) => cacheName.includes("account"));
    const cache = await caches.open(name);
    for (let number = 1; number <= 21; number += 1) {
      const headers = { time: `${Date.now()}`, name: "x" };
      await cache.put(`/portal?page=${number}`, new Response("x", { headers }));
    }
  });
  const expectLastTwenty = async (newest: string[]) => {
    const numbers = Array.from({ length: 20 - newest.length }, (_, back) => `/portal?page=${21 - back}`);
    const portalPaths = async () => (await listAccountPaths(page)).filter((path) => path.startsWith("/portal"));
    await expect.poll(portalPaths, pollOptions).toEqual([...numbers, ...newest].sort());
  };
  const secondTab = await context.newPage();
  await Promise.all([visitAndCache(page, "/portal?q=tea"), visitAndCache(secondTab, "/portal?q=coffee")]);
  await expectLastTwenty(["/portal?q=tea", "/portal?q=coffee"]);
  const responses: string[] = [];
  page.on("response", (response) =>
    responses.push(`${new URL(response.url()).pathname} ${response.fromServiceWorker()}`),
  );
  await visitAndCache(page, "/portal");
  await expectLastTwenty(["/portal?q=tea", "/portal?q=coffee", "/portal"]);

  await test.step("a download", async () => {
    const download = page.waitForEvent("download");
    await page.evaluate((address) => location.assign(address), `${baseURL}/portal/shipments.csv`);
    expect((await download).suggestedFilename()).toContain(".csv");
    expect(responses).toContain("/portal true");
    expect(responses).not.toContain("/portal/shipments.csv true");
  });
});
