import type { Page } from "@playwright/test";
import { Authenticator } from "../support/authenticator.ts";
import { type ConnectionProxy, startConnectionProxy } from "../support/connection-proxy.ts";
import {
  test as base,
  type ClientCredentials,
  createAndOpenShipment,
  expect,
  logInWithoutPage,
  toast,
  waitForHydration,
} from "../support/e2e-fixtures.ts";

// Pages have a clock that tests move forward; the service worker has the machine's.
const test = base.extend<{ way: ConnectionProxy }>({
  serviceWorkers: "allow",
  expectedErrors: /net::ERR_|status of 50\d/,
  way: async ({ baseURL }, use) => {
    const way = await startConnectionProxy(baseURL ?? "");
    await use(way);
    await way.close();
  },
  proxy: ({ way }, use) => use({ server: way.url, bypass: "<-loopback>" }),
  context: async ({ context }, use) => {
    // The clock knows of no file that was loaded: that stays as it is.
    await context.addInitScript(() => Object.assign(window, { loaded: performance }));
    await context.clock.install();
    await context.addInitScript(() =>
      Object.defineProperty(window, "performance", { value: (window as unknown as { loaded: Performance }).loaded }),
    );
    await use(context);
  },
});

const offlineBannerPattern = /^No connection\. This page is from \d\d:\d\d\sEAT\.$/;
const main = (page: Page) => page.locator("main");
const h1 = (page: Page) => page.getByRole("heading", { level: 1 });
const expectOfflineCopy = (page: Page) => expect(main(page).locator("p").first()).toHaveText(offlineBannerPattern);

/**
 * The addresses in the caches of this browser, by the name of the cache without the mark of the account. Not the empty ones: to
 * look into a cache that is being deleted makes it again.
 */
function readCachedPaths(page: Page): Promise<Record<string, string[]>> {
  return page.evaluate(async () => {
    const kept: Record<string, string[]> = {};
    for (const name of await caches.keys()) {
      const requests = await (await caches.open(name)).keys();
      if (requests.length > 0)
        kept[name.replace(/(?<=account)-.*/, "")] = requests.map(({ url }) => url.slice(location.origin.length)).sort();
    }
    return kept;
  });
}

const listAccountPaths = async (page: Page) => (await readCachedPaths(page))["kept1-account"] ?? [];
const countWorkers = (page: Page) =>
  page.evaluate(async () => (await navigator.serviceWorker.getRegistrations()).filter(({ active }) => active).length);

/** The worker has not looked for a day whether it is still wanted. */
const deleteWorkerCache = () => caches.delete("kept1-worker");

const pollOptions = { timeout: 15_000, intervals: [50, 100, 200] };

/** Waits for something while the clock of the page runs fast: pages are kept after a while, and ask now and again. */
const pollWithClock = <Value>(page: Page, value: () => Promise<Value>, message?: string) =>
  expect.poll(
    async () => {
      await page.clock.fastForward(3000);
      return value();
    },
    { ...pollOptions, message },
  );

/** Waits until a page is kept. */
const waitUntilCached = (page: Page, path: string) =>
  pollWithClock(page, async () => Object.values(await readCachedPaths(page)).flat(), `${path} is kept`).toContain(path);

/** Opens a page and waits until it is kept. */
async function visitAndCache(page: Page, path: string): Promise<void> {
  await page.goto(path);
  await waitUntilCached(page, path);
}

/** Long after a page has stood: what it keeps is kept by now. */
async function waitUntilSettled(page: Page): Promise<void> {
  await waitForHydration(page);
  const isLoaded = () => performance.getEntriesByType("resource").some(({ name }) => name.includes("/offline-"));
  await expect.poll(() => page.evaluate(isLoaded), pollOptions).toBe(true);
  for (const wait of [100, 400]) {
    await page.clock.fastForward(5000);
    await page.waitForTimeout(wait);
  }
}

/** Presses a link of the bar. */
const followLink = (page: Page, name: string) =>
  page.locator("header").getByRole("link", { name, exact: true }).click();

/** Goes by the bar to a page that is not kept yet, waits until it is, and until the worker answers for this document. */
async function followAndCache(page: Page, name: string, path: string): Promise<void> {
  await followLink(page, name);
  await expect(page).toHaveURL(path);
  await waitUntilCached(page, path);
  await expect.poll(() => page.evaluate(() => navigator.serviceWorker.controller !== null), pollOptions).toBe(true);
}

/** Everything that the caches of this browser have, as text. */
function readCachedText(page: Page): Promise<string> {
  return page.evaluate(async () => {
    const texts: string[] = [];
    for (const name of await caches.keys()) {
      const cache = await caches.open(name);
      for (const one of await cache.matchAll()) texts.push(...[...one.headers].flat(), await one.text());
      for (const { url } of await cache.keys()) texts.push(url);
    }
    return texts.join();
  });
}

test("A visited page is shown offline with its time, and reloads when the connection is back.", async ({
  page,
  way,
  loggedInClient: signedIn,
}) => {
  expect(signedIn.email).toContain("@");
  const id = await createAndOpenShipment(page, "Tea <b>$& coffee</b> to Goma");
  await waitUntilCached(page, `/portal/${id}`);
  await followAndCache(page, "My Shipments", "/portal");
  await followAndCache(page, "Services", "/services");

  await test.step("a shipment, its forms closed with the reason", async () => {
    way.cut();
    await page.goto(`/portal/${id}`);
    await expectOfflineCopy(page);
    await expect(h1(page)).toHaveText("Tea <b>$& coffee</b> to Goma");
    const forms = page.locator("form");
    expect(await forms.count()).toBeGreaterThan(3);
    for (const form of await forms.all()) await expect(form).toHaveAttribute("inert");
    await expect(main(page).getByText("Closed until there is a connection.").first()).toBeVisible();
    expect(await page.evaluate(() => document.scripts.length)).toBe(1);
    expect(await page.locator("main").evaluate((element) => getComputedStyle(element).maxWidth)).not.toBe("none");
  });

  await test.step("its links lead to other kept pages, and to a list of them where there is none", async () => {
    await page.locator("header").getByRole("link", { name: "My Shipments" }).click();
    await expect(h1(page)).toHaveText("My Shipments");
    await expectOfflineCopy(page);
    await page.goto("/services");
    await expectOfflineCopy(page);
    await page.goto("/contact");
    await expect(h1(page)).toHaveText("No connection");
    await expect(main(page).getByRole("link", { name: "+254 700 000 001" })).toBeVisible();
    await expect(main(page).getByRole("listitem")).toHaveText([
      "Our Logistics Expertise",
      "My Shipments",
      "Tea <b>$& coffee</b> to Goma",
    ]);
    await main(page).getByRole("link", { name: "Try again" }).click();
    await expect(h1(page)).toHaveText("No connection");
  });

  await test.step("once the site answers, the page comes by itself", async () => {
    way.mend();
    await pollWithClock(page, () => h1(page).textContent()).toBe("Contact");
    await waitForHydration(page);
  });

  await test.step("and when the browser says that there is a connection", async () => {
    way.cut();
    await page.goto("/services");
    await expectOfflineCopy(page);
    way.mend();
    await page.evaluate(() => dispatchEvent(new Event("online")));
    await expect(main(page).getByText("No connection")).toHaveCount(0);
  });
});

test("An offline copy shows its date if that is not today, and is deleted after 30 days.", async ({ page, way }) => {
  await visitAndCache(page, "/about");
  await page.evaluate(async () => {
    const cache = await caches.open("kept1-open");
    const copy = await cache.match("/about");
    const html = (await copy?.text())?.replace(/<!--\d[^|]+\|/, "<!--2026-05-12T11:05:00.000Z|") ?? "";
    await cache.put("/about", new Response(html, { headers: copy?.headers }));
    const headers = { time: `${Date.now() - 31 * 24 * 3_600_000}`, name: "Long ago" };
    await cache.put("/services", new Response("Long ago", { headers }));
    await cache.put("/assets/old.css?kept", new Response("", { headers: { time: headers.time } }));
  });
  way.cut();
  await page.goto("/about");
  await expect(main(page).locator("p").first()).toHaveText(
    /^No connection\. This page is from \d+ \w+ \d{4}, \d\d:\d\d\sEAT\.$/,
  );
  await page.goto("/services");
  await expect(h1(page)).toHaveText("No connection");
  await expect(page.getByText("Long ago")).toHaveCount(0);
  way.mend();
  await page.evaluate(deleteWorkerCache);
  await page.goto("/careers");
  await expect
    .poll(async () => (await readCachedPaths(page))["kept1-open"], pollOptions)
    .not.toContain("/assets/old.css?kept");
  expect((await readCachedPaths(page))["kept1-open"]).toContain("/about");
});

test("An offline copy is shown after 5 s without a response, until the response comes.", async ({ page, way }) => {
  await visitAndCache(page, "/about");
  way.fallSilent();
  const slow = page.goto("/about");
  await page.waitForTimeout(2000);
  way.mend();
  await slow;
  await waitForHydration(page);
  await expect(main(page).getByText("No connection")).toHaveCount(0);

  way.fallSilent();
  await page.goto("/about");
  await expectOfflineCopy(page);
  way.mend();
  await expect(main(page).getByText("No connection")).toHaveCount(0);
  await waitForHydration(page);
});

test("Offline copies cost no request except the worker, refresh their files daily and store at most sixty files.", async ({
  page,
  way,
}) => {
  await visitAndCache(page, "/about");
  await test.step("what is asked for", () => {
    const files = way.asked.filter((one) => /\/(assets|art)\//.test(one));
    expect(new Set(files).size).toBe(files.length);
    expect(way.asked.filter((one) => one === "GET /about")).toHaveLength(1);
    expect(way.asked.filter((one) => one === "GET /worker.js").length).toBeLessThanOrEqual(2);
    const first = way.asked.indexOf("GET /worker.js");
    const page1 = way.asked.findLastIndex((one) => one.includes("/assets/"));
    expect(first).toBeGreaterThan(page1);
  });

  const files = (await readCachedPaths(page))["kept1-open"]?.filter((one) => one.endsWith("?kept")) ?? [];
  expect(files.filter((one) => one.includes(".css"))).not.toEqual([]);
  await page.evaluate(async (files) => {
    const cache = await caches.open("kept1-open");
    await cache.delete("/about");
    const headers = { "Content-Type": "text/css", time: `${Date.now() - 25 * 3_600_000}` };
    for (const file of files) await cache.put(file, new Response("of yesterday", { headers }));
  }, files);
  way.asked.length = 0;
  await visitAndCache(page, "/about");
  expect(await readCachedText(page)).not.toContain("of yesterday");
  expect(way.asked.filter((one) => /\/(assets|art)\//.test(one))).toEqual([]);

  // The page brings one drawing more than there is room for; its styles are the oldest.
  const drawing = files.find((one) => one.startsWith("/art/")) ?? "";
  const others = 61 - files.length;
  await page.evaluate(
    async ([drawing, others]) => {
      const cache = await caches.open("kept1-open");
      for (const one of ["/about", drawing]) await cache.delete(one);
      const headers = { time: `${Date.now()}` };
      for (let number = 1; number <= others; number += 1)
        await cache.put(`/art/${number}.svg?kept`, new Response("", { headers }));
    },
    [drawing, others] as const,
  );
  await visitAndCache(page, "/about");
  const left = (await readCachedPaths(page))["kept1-open"]?.filter((one) => one.endsWith("?kept")) ?? [];
  expect(left).toHaveLength(60);
  expect(left).toEqual(expect.arrayContaining([...files, `/art/${others}.svg?kept`]));
  expect(left).not.toContain("/art/1.svg?kept");
});

test("Offline copies contain no typed text, no toast and no page of forms or secrets.", async ({
  page,
  newClient: newcomer,
}) => {
  await logInWithoutPage(page, newcomer);
  const id = await createAndOpenShipment(page, "Maize");
  await waitUntilCached(page, `/portal/${id}`);
  const allowed = /^\/(portal(\?q=maize|\/[0-9a-f-]{36})?|about|contact|worker\.js\?no-page|.*\?kept)?$/;
  const expectNoSecret = async () => {
    expect((await listAccountPaths(page)).filter((path) => !allowed.test(path))).toEqual([]);
    expect(await readCachedText(page)).not.toMatch(/a secret of mine|data-toast="|otpauth|<script|\/s\/[\w-]{20}/);
  };
  await page.getByRole("link", { name: "Share" }).click();
  await page.getByRole("button", { name: "Make a link" }).click();
  await expect(page.getByLabel(/^Link until/)).toHaveValue(/\/s\//);
  for (const path of ["/portal/account", "/portal/new", `/portal/${id}/change`, "/portal/2fa"]) {
    await page.goto(path);
    await waitUntilSettled(page);
  }
  // Setting up a second factor ends what was kept until then.
  expect(await listAccountPaths(page)).toContain(`/portal/${id}`);
  await expectNoSecret();
  await page.getByRole("button", { name: "Set up 2FA" }).click();
  await expect(page.getByRole("img", { name: "QR code" })).toBeVisible();
  await expect.poll(() => listAccountPaths(page), pollOptions).not.toContain(`/portal/${id}`);
  await waitUntilSettled(page);
  // Only a page that knows whose it is begins anew to keep pages, public ones too.
  await visitAndCache(page, "/portal");
  await followAndCache(page, "Contact", "/contact");
  await page.getByLabel("Message").fill("a secret of mine");
  await page.getByLabel("Subject").fill("a secret of mine");
  // As where the page comes back with what was typed before; it is kept again when its address changes.
  await page.evaluate(async () => {
    for (const name of await caches.keys()) await (await caches.open(name)).delete("/contact");
    location.hash = "main";
    for (const _ of [1, 2]) await new Promise(requestAnimationFrame);
    document.querySelector("main textarea")?.append("a secret of mine");
    document.querySelector("main input[type=email]")?.setAttribute("value", "a secret of mine");
  });
  await pollWithClock(page, async () => Object.values(await readCachedPaths(page)).flat()).toContain("/contact");
  await followAndCache(page, "About", "/about");
  await page.goto("/portal?q=maize");
  await waitForHydration(page);
  await page.getByLabel("Find a shipment").fill("a secret of mine");
  await pollWithClock(page, () => listAccountPaths(page)).toContain("/portal?q=maize");
  await expectNoSecret();
});

test("The last twenty portal pages have offline copies, and downloads bypass the worker.", async ({
  page,
  context,
  baseURL,
  loggedInClient: signedIn,
}) => {
  expect(signedIn.email).toContain("@");
  await visitAndCache(page, "/portal");
  await page.evaluate(async () => {
    const [name = ""] = (await caches.keys()).filter((one) => one.includes("account"));
    const cache = await caches.open(name);
    // As pages of the list that were seen before.
    for (let number = 1; number <= 21; number += 1) {
      const headers = { time: `${Date.now()}`, name: "x" };
      await cache.put(`/portal?page=${number}`, new Response("x", { headers }));
    }
  });
  // A page is kept first, then the oldest of one too many is deleted.
  const expectLastTwenty = async (others: string[]) => {
    const numbers = Array.from({ length: 20 - others.length }, (_, back) => `/portal?page=${21 - back}`);
    const kept = async () => (await listAccountPaths(page)).filter((path) => path.startsWith("/portal"));
    await expect.poll(kept, pollOptions).toEqual([...numbers, ...others].sort());
  };
  const other = await context.newPage();
  await Promise.all([visitAndCache(page, "/portal?q=tea"), visitAndCache(other, "/portal?q=coffee")]);
  await expectLastTwenty(["/portal?q=tea", "/portal?q=coffee"]);
  const answers: string[] = [];
  page.on("response", (answer) => answers.push(`${new URL(answer.url()).pathname} ${answer.fromServiceWorker()}`));
  await visitAndCache(page, "/portal");
  await expectLastTwenty(["/portal?q=tea", "/portal?q=coffee", "/portal"]);

  await test.step("a file", async () => {
    const download = page.waitForEvent("download");
    await page.evaluate((address) => location.assign(address), `${baseURL}/portal/shipments.csv`);
    expect((await download).suggestedFilename()).toContain(".csv");
    expect(answers).toContain("/portal true");
    expect(answers).not.toContain("/portal/shipments.csv true");
  });
});

test.describe("deletion of an account's offline copies", () => {
  /** Signs a client in, who sees the portal and a public page: both are kept. */
  async function enterAndKeep(page: Page, client: ClientCredentials): Promise<void> {
    await logInWithoutPage(page, client);
    await visitAndCache(page, "/portal");
    await followAndCache(page, "About", "/about");
    expect(await listAccountPaths(page)).toEqual(expect.arrayContaining(["/portal", "/about"]));
  }

  /** Nothing of the account is on the machine, and no page of it stands there without a connection. */
  async function expectNothing(page: Page, way: ConnectionProxy): Promise<void> {
    await pollWithClock(page, () => listAccountPaths(page)).toEqual([]);
    await pollWithClock(page, async () => (await readCachedPaths(page))["kept1-open"]).toContain("/worker.js?no-page");
    await waitUntilSettled(page);
    expect(await listAccountPaths(page)).toEqual([]);
    way.cut();
    await page.goto("/portal");
    await expect(h1(page)).toHaveText("No connection");
    await expect(main(page).getByRole("link", { name: "My Shipments" })).toHaveCount(0);
    // This page would show itself as soon as the line is there.
    await page.goto("about:blank");
    way.mend();
  }

  test("Signing out in any tab deletes the account's offline copies.", async ({ page, context, way, client }) => {
    await test.step("here", async () => {
      await enterAndKeep(page, client);
      await page.getByRole("button", { name: "Sign out" }).click();
      await expect(page).toHaveURL(/\/login$/);
      await expectNothing(page, way);
    });
    await test.step("in another tab", async () => {
      await enterAndKeep(page, client);
      await page.goto("/portal");
      await waitForHydration(page);
      const other = await context.newPage();
      await other.goto("/portal");
      await waitForHydration(other);
      await other.getByRole("button", { name: "Sign out" }).click();
      await expect(page).toHaveURL(/\/login$/);
      await expectNothing(page, way);
    });
  });

  test("Signing out without a response or before hydration deletes the account's offline copies.", async ({
    page,
    way,
    client,
  }) => {
    await test.step("without an answer", async () => {
      await enterAndKeep(page, client);
      await followLink(page, "My Shipments");
      await expect(h1(page)).toHaveText("My Shipments");
      await waitUntilSettled(page);
      way.cut();
      await page.getByRole("button", { name: "Sign out" }).click();
      await expect(toast(page, "No answer")).toBeVisible();
      await waitUntilSettled(page);
      expect(await listAccountPaths(page)).toEqual([]);
      way.mend();
      await page.getByRole("button", { name: "Sign out" }).click();
      await expect(page).toHaveURL(/\/login$/);
    });
    await test.step("before script has come", async () => {
      await enterAndKeep(page, client);
      await page.route("**/assets/*.js", (route) => route.abort());
      await page.goto("/portal");
      await page.getByRole("button", { name: "Sign out" }).click();
      await expect(page).toHaveURL(/\/login$/);
      await page.unrouteAll();
      await page.reload();
      await expectNothing(page, way);
    });
  });

  test("A session that ended elsewhere or was lost deletes the account's offline copies.", async ({
    page,
    context,
    way,
    playwright,
    baseURL,
    client,
  }) => {
    await test.step("ended elsewhere", async () => {
      await enterAndKeep(page, client);
      const there = await playwright.request.newContext({ baseURL });
      const { email, password } = client;
      for (const [path, form] of [
        ["/login", { email, password }],
        ["/portal/account", { intent: "sign-out-others" }],
      ] as const)
        expect((await there.post(path, { form, maxRedirects: 0 })).status()).toBe(303);
      await there.dispose();
      await page.goto("/portal");
      await expect(page).toHaveURL(/\/login/);
      await expectNothing(page, way);
    });
    await test.step("lost", async () => {
      await enterAndKeep(page, client);
      await context.clearCookies();
      await page.goto("/about");
      await expectNothing(page, way);
    });
  });

  test("Password, session and second-factor forms delete the account's offline copies.", async ({
    page,
    newClient: newcomer,
  }) => {
    await logInWithoutPage(page, newcomer);
    const press = async (name: string) => {
      expect(await listAccountPaths(page)).toContain("/portal");
      await page.getByRole("button", { name, exact: true }).click();
      await expect.poll(() => listAccountPaths(page), { ...pollOptions, message: name }).not.toContain("/portal");
    };
    await test.step("forms", async () => {
      for (const name of ["Change password", "Sign out everywhere else"]) {
        await visitAndCache(page, "/portal");
        await page.goto("/portal/account");
        await waitForHydration(page);
        await press(name);
      }
    });
    await test.step("a second factor", async () => {
      await visitAndCache(page, "/portal");
      await page.goto("/portal/2fa");
      await waitForHydration(page);
      await press("Set up 2FA");
      const link = page.getByRole("link", { name: "open it from here" });
      const authenticator = Authenticator.fromUri(await link.getAttribute("href"));
      await page.getByLabel("6-digit code").fill(await authenticator.freshCode());
      await page.getByRole("button", { name: "Enable 2FA" }).click();
      await expect(toast(page, "2FA Enabled!")).toBeVisible();
      await visitAndCache(page, "/portal");
      await page.goto("/portal/2fa");
      await waitForHydration(page);
      await page.getByRole("link", { name: /^Remove/ }).click();
      await page.getByLabel("6-digit code").fill(await authenticator.freshCode());
      await press("Remove");
      await expect(toast(page, "Authenticator removed")).toBeVisible();
      expect(await listAccountPaths(page)).not.toContain("/portal");
    });
  });

  test("The login of another account deletes the first account's offline copies.", async ({
    page,
    loggedInClient: signedIn,
    newClient: newcomer,
    context,
  }) => {
    expect(signedIn.email).not.toBe(newcomer.email);
    const marks = () => page.evaluate(async () => (await caches.keys()).filter((name) => name.includes("account")));
    const id = await createAndOpenShipment(page, "Only hers");
    await pollWithClock(page, () => listAccountPaths(page)).toContain(`/portal/${id}`);
    const [first] = await marks();
    expect(first).toBeDefined();
    await context.clearCookies();
    await logInWithoutPage(page, newcomer);
    await page.goto("/portal");
    await pollWithClock(page, marks).not.toContain(first);
    await pollWithClock(page, () => listAccountPaths(page)).toContain("/portal");
    expect(await readCachedText(page)).not.toContain("Only hers");
    expect(await marks()).toHaveLength(1);
  });
});

test("A page requested before signing out shows no offline copy afterwards.", async ({
  page,
  context,
  way,
  client,
}) => {
  await visitAndCache(page, "/about");
  await logInWithoutPage(page, client);
  await visitAndCache(page, "/portal");
  const other = await context.newPage();
  await other.goto("/portal");
  await waitForHydration(other);
  await other.route(/sign-out/, (route) => route.abort());
  way.fallSilent();
  const silent = page.goto("/portal");
  await expect.poll(() => way.asked.at(-1), pollOptions).toBe("GET /portal");
  await other.getByRole("button", { name: "Sign out" }).click();
  await expect.poll(() => listAccountPaths(other), pollOptions).toEqual([]);
  await silent;
  await expect(h1(page)).toHaveText("No connection");
  await expect(main(page).getByRole("link", { name: "My Shipments" })).toHaveCount(0);
});

test.describe("no offline copies and no worker", () => {
  async function expectNone(page: Page): Promise<void> {
    await waitUntilSettled(page);
    expect(await readCachedPaths(page)).toEqual({});
    expect(await countWorkers(page)).toBe(0);
  }

  test("A shared computer stores no offline copies and unregisters the worker.", async ({ page, way, client }) => {
    await visitAndCache(page, "/about");
    await page.goto("/login");
    await waitForHydration(page);
    await page.getByLabel("Email").fill(client.email);
    await page.getByLabel("Password", { exact: true }).fill(client.password);
    await page.getByLabel("This is a shared computer").check();
    way.cut();
    await page.getByRole("button", { name: "Log in", exact: true }).click();
    await expect(toast(page, "What you typed is still here: send it again")).toBeVisible();
    way.mend();
    await page.getByRole("button", { name: "Log in", exact: true }).click();
    await expect(page).toHaveURL(/\/portal$/);
    await expectNone(page);
    await page.goto("/portal/account");
    await expect(page.getByText("On a shared computer no pages are kept.")).toBeVisible();
  });

  test("The text-only version stores no offline copies and unregisters the worker.", async ({ page, way }) => {
    await visitAndCache(page, "/about");
    await page.getByRole("button", { name: "Lighter pages, text only" }).click();
    await expect(page.getByRole("button", { name: "Show pictures again" })).toBeVisible();
    await expect.poll(() => readCachedPaths(page), pollOptions).toEqual({});
    await expect.poll(() => countWorkers(page), pollOptions).toBe(0);
    way.asked.length = 0;
    await page.goto("/services");
    // No script is there to wait for.
    expect(await page.evaluate(() => document.querySelectorAll("script[src]").length)).toBe(0);
    expect(way.asked.filter((one) => one.includes("worker"))).toEqual([]);
    expect(await countWorkers(page)).toBe(0);
  });

  test("The desk stores no offline copies.", async ({ page, loggedInLead: atDesk }) => {
    expect(atDesk.name).toContain("Wanjiru");
    await page.goto("/desk");
    await expectNone(page);
  });

  test("An account page switches offline copies off and on for the device.", async ({
    page,
    loggedInClient: signedIn,
  }) => {
    expect(signedIn.email).toContain("@");
    await visitAndCache(page, "/portal");
    await main(page).getByRole("link", { name: "Account", exact: true }).click();
    const choice = page.getByRole("checkbox", { name: "Keep pages on this device" });
    await choice.uncheck();
    await page.getByRole("button", { name: "Save for this device" }).click();
    await expect(toast(page, "No pages are kept on this device")).toBeVisible();
    await expect(choice).not.toBeChecked();
    await pollWithClock(page, () => readCachedPaths(page)).toEqual({});
    await page.goto("/about");
    await expectNone(page);
    await page.goto("/portal/account");
    await waitForHydration(page);
    await choice.check();
    await page.getByRole("button", { name: "Save for this device" }).click();
    await expect(toast(page, "Pages are kept on this device")).toBeVisible();
    await visitAndCache(page, "/portal");
  });
});

test.describe("browsers without storage", () => {
  /** What a browser without the Cache API has, one that refuses it, and one without workers, as where a page came without https. */
  const lacks = {
    "that has none": () => Reflect.deleteProperty(window, "caches"),
    "that throws when it is named": () =>
      Object.defineProperty(window, "caches", {
        get: () => {
          throw new DOMException("The operation is insecure.", "SecurityError");
        },
      }),
    "that refuses it, as in a private window": () => {
      const refuse = () => Promise.reject(new DOMException("The operation is insecure.", "SecurityError"));
      Object.assign(CacheStorage.prototype, { open: refuse, keys: refuse, match: refuse, delete: refuse, has: refuse });
    },
    "without workers": () => Reflect.deleteProperty(Navigator.prototype, "serviceWorker"),
  };
  for (const [first, second] of [
    ["that has none", "that throws when it is named"],
    ["that refuses it, as in a private window", "without workers"],
  ] as const) {
    test(`Links work without a worker in a browser ${first}, or ${second}.`, async ({
      page,
      way,
      loggedInClient: signedIn,
    }) => {
      expect(signedIn.email).toContain("@");
      for (const what of [first, second]) {
        await test.step(what, async () => {
          const lack = await page.addInitScript(lacks[what]);
          await page.goto("/portal");
          await waitUntilSettled(page);
          expect(way.asked.filter((one) => one.includes("/worker.js"))).toEqual([]);
          way.cut();
          await followLink(page, "Services");
          await expect(toast(page, "goes on by itself")).toBeVisible();
          way.mend();
          await pollWithClock(page, () => h1(page).textContent()).toBe("Our Logistics Expertise");
          await lack.dispose();
        });
      }
    });
  }

  test("A browser with full storage shows the existing offline copies.", async ({ page, way }) => {
    await visitAndCache(page, "/about");
    await page.addInitScript(() => {
      Cache.prototype.put = () => Promise.reject(new DOMException("Quota exceeded.", "QuotaExceededError"));
    });
    await page.goto("/about");
    await waitUntilSettled(page);
    await followLink(page, "Services");
    await expect(h1(page)).toHaveText("Our Logistics Expertise");
    await waitUntilSettled(page);
    expect((await readCachedPaths(page))["kept1-open"]).toEqual(
      expect.arrayContaining(["/about", "/worker.js?no-page"]),
    );
    way.cut();
    await page.goto("/about");
    await expectOfflineCopy(page);
  });
});

test("A new worker takes over immediately and deletes the caches of other formats.", async ({ page, way }) => {
  await visitAndCache(page, "/about");
  way.instead("/worker.js", (body) => ({ status: 200, body: body.replaceAll('"kept1-', '"kept2-') }));
  // Nobody asks for it but a page that is opened.
  await page.goto("/services");
  await pollWithClock(page, async () => (await readCachedPaths(page))["kept1-open"] ?? []).not.toContain("/about");
  expect(await countWorkers(page)).toBe(1);
});

test("A worker unregisters itself and deletes all copies if the site has no worker any more.", async ({
  page,
  way,
}) => {
  for (const status of [404, 410]) {
    await test.step(`${status}`, async () => {
      way.instead("/worker.js", (body) => ({ status: 200, body }));
      await visitAndCache(page, "/about");
      way.instead("/worker.js", () => ({ status, body: "" }));
      await page.evaluate(deleteWorkerCache);
      await page.goto("/careers");
      await expect.poll(() => countWorkers(page), pollOptions).toBe(0);
      expect(await readCachedPaths(page)).toEqual({});
    });
  }
});

test.describe("links without a response", () => {
  test("A link without a response shows the offline copy, which becomes the page itself.", async ({ page, way }) => {
    await visitAndCache(page, "/services");
    await followAndCache(page, "About", "/about");
    await test.step("when the line is cut", async () => {
      way.cut();
      await followLink(page, "Services");
      await expectOfflineCopy(page);
      await expect(h1(page)).toHaveText("Our Logistics Expertise");
      way.mend();
      await pollWithClock(page, () => main(page).getByText("No connection").count()).toBe(0);
    });
    await test.step("when nothing comes in 5 s, and no earlier", async () => {
      await waitUntilSettled(page);
      way.fallSilent();
      await followLink(page, "About");
      await page.clock.runFor(4500);
      await expect(page).toHaveURL(/\/services$/);
      await page.clock.runFor(1000);
      await expectOfflineCopy(page);
      await expect(page).toHaveURL(/\/about$/);
      way.mend();
    });
  });

  test("A page that arrives while its offline copy is looked up is shown itself.", async ({ page, way }) => {
    await visitAndCache(page, "/services");
    await followAndCache(page, "About", "/about");
    await page.evaluate(() => {
      const { match } = CacheStorage.prototype;
      CacheStorage.prototype.match = async function (...asked) {
        const copy = await match.apply(this, asked);
        await new Promise((resolve) => addEventListener("found", resolve, { once: true }));
        return copy;
      };
      Object.assign(window, { isSame: true });
    });
    way.fallSilent();
    await followLink(page, "Services");
    await page.clock.runFor(5500);
    way.mend();
    await expect(h1(page)).toHaveText("Our Logistics Expertise");
    await page.evaluate(() => dispatchEvent(new Event("found")));
    await waitUntilSettled(page);
    expect(await page.evaluate(() => "isSame" in window)).toBe(true);
    await expect(main(page).getByText("No connection")).toHaveCount(0);
  });

  test("A link to a page without a copy shows a toast, and opens when the connection is back.", async ({
    page,
    way,
  }) => {
    await visitAndCache(page, "/about");
    await waitUntilSettled(page);
    const notYet = toast(page, "No answer yet");
    const waitInVain = async () => {
      way.fallSilent();
      await followLink(page, "Services");
      await page.clock.runFor(4500);
      await expect(notYet).toHaveCount(0);
      await page.clock.runFor(1000);
      await expect(notYet).toContainText("The next page opens as soon as it comes.");
      await page.clock.runFor(20_000);
      await expect(notYet).toBeVisible();
      await expect(page).toHaveURL(/\/about$/);
    };
    await test.step("silent: who waits stays", async () => {
      await waitInVain();
      await notYet.getByRole("link", { name: "Stay on this page" }).click();
      await expect(notYet).toHaveCount(0);
      way.mend();
      await waitUntilSettled(page);
      await expect(page).toHaveURL(/\/about$/);
    });
    await test.step("silent: the page comes after all", async () => {
      await waitInVain();
      way.mend();
      await expect(h1(page)).toHaveText("Our Logistics Expertise");
      await expect(notYet).toHaveCount(0);
    });
    await test.step("lost: the page that was left is not, and goes on by itself", async () => {
      way.cut();
      await followLink(page, "Contact");
      await expect(toast(page, "goes on by itself")).toBeVisible();
      await expect(page).toHaveURL(/\/services$/);
      way.asked.length = 0;
      // In vain at first.
      await pollWithClock(page, async () => way.asked.filter((one) => one === "GET /healthz").length).toBeGreaterThan(
        1,
      );
      await expect(page).toHaveURL(/\/services$/);
      way.mend();
      await pollWithClock(page, async () => new URL(page.url()).pathname).toBe("/contact");
    });
  });

  test("Typing cancels a waiting link, and a lost form is not sent again by itself.", async ({ page, way }) => {
    const subject = page.getByLabel("Subject");
    await visitAndCache(page, "/about");
    await followAndCache(page, "Contact", "/contact");
    await test.step("a lost one", async () => {
      way.cut();
      await followLink(page, "Services");
      await expect(toast(page, "goes on by itself")).toBeVisible();
      await subject.fill("Tea");
      way.mend();
      await waitUntilSettled(page);
      await expect(page).toHaveURL(/\/contact$/);
    });
    await test.step("a silent one", async () => {
      way.fallSilent();
      await followLink(page, "Services");
      await page.clock.runFor(5500);
      await expect(toast(page, "No answer yet")).toBeVisible();
      await subject.fill("Coffee");
      await expect(toast(page, "No answer yet")).toHaveCount(0);
      way.mend();
      await waitUntilSettled(page);
      await expect(page).toHaveURL(/\/contact$/);
      await expect(subject).toHaveValue("Coffee");
    });
    await test.step("one whose page was kept, before its copy is shown", async () => {
      way.fallSilent();
      await followLink(page, "About");
      await page.clock.runFor(2000);
      await subject.fill("Coffee");
      await page.clock.runFor(5500);
      way.mend();
      await waitUntilSettled(page);
      await expect(page).toHaveURL(/\/contact$/);
      await expect(subject).toHaveValue("Coffee");
    });
    await test.step("a form that waits, and is lost then", async () => {
      way.fallSilent();
      await page.getByLabel("Full Name").fill("Achieng Otieno");
      await page.getByLabel("Email", { exact: true }).fill("achieng@client.example");
      await page.getByLabel("Message").fill("Coffee to Kigali");
      await page.getByRole("button", { name: "Prepare the mail" }).click();
      await page.clock.runFor(5500);
      const said = toast(page, "No answer yet");
      await expect(said).toContainText("This page stays as it is until an answer comes.");
      await expect(said.getByRole("link")).toHaveCount(0);
      way.cut();
      await expect(toast(page, "What you typed is still here: send it again")).toBeVisible();
      way.asked.length = 0;
      way.mend();
      await waitUntilSettled(page);
      await page.clock.fastForward(30_000);
      await expect(subject).toHaveValue("Coffee");
      expect(way.asked.filter((one) => one.startsWith("POST"))).toEqual([]);
    });
  });
});
