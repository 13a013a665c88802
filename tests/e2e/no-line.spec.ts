import type { BrowserContext, Page } from "@playwright/test";
import { test as base, createShipment, enter, expect, scriptReady, toast } from "../support/fixtures.ts";
import { type LosingLine, losingLine } from "../support/losing-line.ts";

// What a browser keeps for when there is no connection, and what ends that.
const test = base.extend<{ way: LosingLine }>({
  serviceWorkers: "allow",
  expectedErrors: /net::ERR_|status of 50\d/,
  way: async ({ baseURL }, use) => {
    const way = await losingLine(baseURL ?? "");
    await use(way);
    await way.close();
  },
  proxy: ({ way }, use) => use({ server: way.url, bypass: "<-loopback>" }),
});

/** The page asks again after 5 s whether there is a connection. */
const soon = { timeout: 15_000 };
const line = /^No connection\. This page is from \d\d:\d\d\sEAT\.$/;
const main = (page: Page) => page.locator("main");

/** The addresses in the caches of this browser, by the name of the cache without the mark of the account. */
function keptIn(page: Page): Promise<Record<string, string[]>> {
  return page.evaluate(async () => {
    const kept: Record<string, string[]> = {};
    for (const name of await caches.keys()) {
      const requests = await (await caches.open(name)).keys();
      kept[name.replace(/(?<=account)-.*/, "")] = requests.map(({ url }) => url.slice(location.origin.length)).sort();
    }
    return kept;
  });
}

const ofAccount = async (page: Page) => (await keptIn(page))["kept1-account"] ?? [];
const workers = (page: Page) =>
  page.evaluate(async () => (await navigator.serviceWorker.getRegistrations()).filter(({ active }) => active).length);

/** Opens a page and waits until it is kept. */
async function visit(page: Page, path: string): Promise<void> {
  await page.goto(path);
  await expect
    .poll(async () => Object.values(await keptIn(page)).flat(), { message: `${path} is kept`, ...soon })
    .toContain(path);
}

test("a page that was seen stands there without a connection, says from when, and the page follows by itself", async ({
  page,
  way,
  context,
  signedIn,
}) => {
  test.setTimeout(60_000);
  expect(signedIn.email).toContain("@");
  const id = await createShipment(page, "Tea <b>& coffee</b> to Goma");
  await visit(page, `/portal/${id}`);
  await visit(page, "/portal");
  await visit(page, "/services");

  await test.step("a shipment, its forms closed with the reason", async () => {
    way.cut();
    await page.goto(`/portal/${id}`);
    await expect(main(page).locator("p").first()).toHaveText(line);
    await expect(page.getByRole("heading", { level: 1 })).toHaveText("Tea <b>& coffee</b> to Goma");
    const forms = page.locator("form");
    expect(await forms.count()).toBeGreaterThan(3);
    for (const form of await forms.all()) await expect(form).toHaveAttribute("inert");
    await expect(main(page).getByText("Closed until there is a connection.").first()).toBeVisible();
    expect(await page.evaluate(() => document.scripts.length)).toBe(1);
    expect(await page.locator("main").evaluate((element) => getComputedStyle(element).maxWidth)).not.toBe("none");
  });

  await test.step("its links lead to other kept pages, and to a list of them where there is none", async () => {
    await page.locator("header").getByRole("link", { name: "My Shipments" }).click();
    await expect(page.getByRole("heading", { level: 1 })).toHaveText("My Shipments");
    await expect(main(page).locator("p").first()).toHaveText(line);
    await page.goto("/services");
    await expect(main(page).locator("p").first()).toHaveText(line);
    await page.goto("/contact");
    await expect(page.getByRole("heading", { level: 1 })).toHaveText("No connection");
    await expect(main(page).getByRole("link", { name: "+254 700 000 001" })).toBeVisible();
    await expect(main(page).getByRole("listitem")).toHaveText([
      "Our Logistics Expertise",
      "My Shipments",
      "Tea <b>& coffee</b> to Goma",
    ]);
    await main(page).getByRole("link", { name: "Try again" }).click();
    await expect(page.getByRole("heading", { level: 1 })).toHaveText("No connection");
  });

  await test.step("once the site answers, the page comes by itself", async () => {
    way.mend();
    await expect(page.getByRole("heading", { level: 1 })).toHaveText("Contact", soon);
    await scriptReady(page);
  });

  await test.step("and when the browser says that there is a connection", async () => {
    await context.setOffline(true);
    await page.goto("/services");
    await expect(main(page).locator("p").first()).toHaveText(line);
    await context.setOffline(false);
    await expect(main(page).getByText("No connection")).toHaveCount(0, soon);
  });
});

test("the day stands beside the time when it is not today's", async ({ page, way }) => {
  await visit(page, "/about");
  await page.evaluate(async () => {
    const cache = await caches.open("kept1-open");
    const copy = await cache.match("/about");
    const html = (await copy?.text())?.replace(/<!--\d[^|]+\|/, "<!--2026-05-12T11:05:00.000Z|") ?? "";
    await cache.put("/about", new Response(html, { headers: copy?.headers }));
  });
  way.cut();
  await page.goto("/about");
  await expect(main(page).locator("p").first()).toHaveText(
    /^No connection\. This page is from \d+ \w+ \d{4}, \d\d:\d\d\sEAT\.$/,
  );
});

test("a page that is silent for 5 s is the kept one until its answer comes after all", async ({ page, way }) => {
  await visit(page, "/about");
  way.fallSilent();
  const begun = Date.now();
  await page.goto("/about");
  await expect(main(page).locator("p").first()).toHaveText(line);
  expect(Date.now() - begun).toBeGreaterThan(4900);
  way.mend();
  await expect(main(page).getByText("No connection")).toHaveCount(0);
  await scriptReady(page);
});

test("keeping a page asks for nothing but the worker, and for no file twice", async ({ page, way }) => {
  await visit(page, "/about");
  const files = way.asked.filter((one) => /\/(assets|art)\//.test(one));
  expect(new Set(files).size).toBe(files.length);
  expect(way.asked.filter((one) => one === "GET /about")).toHaveLength(1);
  expect(way.asked.filter((one) => one === "GET /worker.js").length).toBeLessThanOrEqual(2);
  const first = way.asked.indexOf("GET /worker.js");
  const page1 = way.asked.findLastIndex((one) => one.includes("/assets/"));
  expect(first).toBeGreaterThan(page1);
});

test("nothing that was typed is kept, no toast, and no page of forms or secrets", async ({ page, newcomer }) => {
  await enter(page, newcomer);
  await visit(page, "/portal");
  const id = await createShipment(page, "Maize");
  await page.getByRole("link", { name: "Share" }).click();
  await page.getByRole("button", { name: "Make a link" }).click();
  await expect(page.getByLabel(/^Link until/)).toHaveValue(/\/s\//);
  for (const path of ["/portal/account", "/portal/new", `/portal/${id}/change`, "/portal/2fa"]) {
    await page.goto(path);
    await scriptReady(page);
    await page.waitForTimeout(2500);
  }
  await page.getByRole("button", { name: "Set up 2FA" }).click();
  await expect(page.getByRole("img", { name: "QR code" })).toBeVisible();
  await page.waitForTimeout(2500);
  await page.goto("/contact");
  await page.getByLabel("Message").fill("a secret of mine");
  await page.getByLabel("Subject").fill("a secret of mine");
  await visit(page, "/about");
  await page.goto("/portal?q=maize");
  await scriptReady(page);
  await page.getByLabel("Find a shipment").fill("a secret of mine");
  await expect.poll(() => ofAccount(page), soon).toContain("/portal?q=maize");
  expect(
    (await ofAccount(page)).filter(
      (path) => !/^\/(portal(\?q=maize|\/[0-9a-f-]{36})?|about|contact|worker\.js\?no-page|.*\?kept)?$/.test(path),
    ),
  ).toEqual([]);
  const text = await page.evaluate(async () => {
    const texts: string[] = [];
    for (const name of await caches.keys()) {
      const cache = await caches.open(name);
      for (const one of await cache.matchAll()) texts.push(await one.text());
    }
    return texts.join();
  });
  expect(text).not.toMatch(/a secret of mine|data-toast="|otpauth|<script|\/s\/[\w-]{20}/);
});

test("a file is asked for as if there were no worker", async ({ page, baseURL, signedIn }) => {
  expect(signedIn.email).toContain("@");
  await visit(page, "/portal");
  const answers: string[] = [];
  page.on("response", (answer) => answers.push(`${new URL(answer.url()).pathname} ${answer.fromServiceWorker()}`));
  const download = page.waitForEvent("download");
  await page.evaluate((address) => location.assign(address), `${baseURL}/portal/shipments.csv`);
  expect((await download).suggestedFilename()).toContain(".csv");
  await page.goto("/about");
  expect(answers).toContain("/about true");
  expect(answers).not.toContain("/portal/shipments.csv true");
});

test("at most twenty pages of the portal are kept, the last ones", async ({ page, signedIn }) => {
  expect(signedIn.email).toContain("@");
  await visit(page, "/portal");
  for (let number = 1; number <= 21; number += 1) {
    // As a page of the list that was seen before.
    await page.evaluate(async (number) => {
      const [name = ""] = (await caches.keys()).filter((one) => one.includes("account"));
      const headers = { time: `${Date.now()}`, name: "x" };
      await (await caches.open(name)).put(`/portal?page=${number}`, new Response("x", { headers }));
    }, number);
  }
  await visit(page, "/portal?q=tea");
  const kept = (await ofAccount(page)).filter((path) => path.startsWith("/portal"));
  expect(kept).toHaveLength(20);
  expect(kept).toContain("/portal?page=21");
  expect(kept).not.toContain("/portal?page=2");
});

test.describe("what was kept for an account goes", () => {
  test.beforeEach(async ({ page, newcomer }) => {
    await enter(page, newcomer);
    await visit(page, "/portal");
    await visit(page, "/about");
  });

  /** Nothing of the account is on the machine, and no page of it stands there without a connection. */
  async function expectNothing(page: Page, context: BrowserContext): Promise<void> {
    await expect.poll(() => ofAccount(page), soon).toEqual([]);
    await page.waitForTimeout(2500);
    expect(await ofAccount(page)).toEqual([]);
    await context.setOffline(true);
    await page.goto("/portal").catch(() => {});
    await expect(page.getByText("My Shipments", { exact: true }).and(page.locator("main *"))).toHaveCount(0);
    await expect(page.getByText("This page is from")).toHaveCount(0);
    await context.setOffline(false);
  }

  test("with a sign-out", async ({ page, context }) => {
    await page.getByRole("button", { name: "Sign out" }).click();
    await expect(page).toHaveURL(/\/login$/);
    await expectNothing(page, context);
  });

  test("with a sign-out before script has come", async ({ page, context }) => {
    await page.route("**/assets/*.js", (route) => route.abort());
    await page.goto("/portal");
    await page.getByRole("button", { name: "Sign out" }).click();
    await expect(page).toHaveURL(/\/login$/);
    await expectNothing(page, context);
  });

  test("with a sign-out in another tab", async ({ page, context }) => {
    await page.goto("/portal");
    await scriptReady(page);
    const other = await context.newPage();
    await other.goto("/portal");
    await scriptReady(other);
    await other.getByRole("button", { name: "Sign out" }).click();
    await expect(page).toHaveURL(/\/login$/);
    await expectNothing(page, context);
  });

  test("with a session that was ended elsewhere", async ({ page, context, browser, newcomer }) => {
    const elsewhere = await browser.newContext();
    const there = await elsewhere.newPage();
    await enter(there, newcomer);
    await there.goto("/portal/account");
    await there.getByRole("button", { name: "Sign out everywhere else" }).click();
    await expect(toast(there, "Every other device is signed out")).toBeVisible();
    await elsewhere.close();
    await page.goto("/portal");
    await expect(page).toHaveURL(/\/login/);
    await expectNothing(page, context);
  });

  test("with a session that the browser lost", async ({ page, context }) => {
    await context.clearCookies();
    await page.goto("/about");
    await expectNothing(page, context);
  });

  for (const [what, path, button] of [
    ["the set-up of a second factor", "/portal/2fa", "Set up 2FA"],
    ["another password, refused or not", "/portal/account", "Change password"],
    ["a sign-out of all other devices", "/portal/account", "Sign out everywhere else"],
  ] as const) {
    test(`with ${what}`, async ({ page }) => {
      await page.goto(path);
      await scriptReady(page);
      expect(await ofAccount(page)).toContain("/portal");
      await page.getByRole("button", { name: button }).click();
      await expect.poll(() => ofAccount(page), soon).not.toContain("/portal");
    });
  }

  test("when another account is signed in", async ({ page, client, context }) => {
    const marks = () => page.evaluate(async () => (await caches.keys()).filter((name) => name.includes("account")));
    const [first] = await marks();
    await createShipment(page, "Only hers");
    await expect.poll(async () => (await ofAccount(page)).length).toBeGreaterThan(2);
    await context.clearCookies();
    await enter(page, client);
    await page.goto("/portal");
    await expect.poll(marks).not.toContain(first);
    await expect.poll(() => ofAccount(page), soon).toContain("/portal");
    const text = await page.evaluate(async () => (await (await caches.match("/portal"))?.text()) ?? "");
    expect(text).not.toContain("Only hers");
    expect(await marks()).toHaveLength(1);
  });
});

test.describe("nothing is kept and no worker is registered", () => {
  async function expectNone(page: Page): Promise<void> {
    await scriptReady(page);
    await page.waitForTimeout(3000);
    expect(await keptIn(page)).toEqual({});
    expect(await workers(page)).toBe(0);
  }

  test("on a shared computer, also where a worker was before", async ({ page, newcomer }) => {
    await visit(page, "/about");
    await page.goto("/login");
    await page.getByLabel("Email").fill(newcomer.email);
    await page.getByLabel("Password", { exact: true }).fill(newcomer.password);
    await page.getByLabel("This is a shared computer").check();
    await page.getByRole("button", { name: "Log in", exact: true }).click();
    await expect(page).toHaveURL(/\/portal$/);
    await expectNone(page);
    await page.goto("/portal/account");
    await expect(page.getByText("On a shared computer no pages are kept.")).toBeVisible();
  });

  test("in lighter pages, also where a worker was before", async ({ page, way }) => {
    await visit(page, "/about");
    await page.getByRole("button", { name: "Lighter pages, text only" }).click();
    await expect(page.getByRole("button", { name: "Show pictures again" })).toBeVisible();
    await expect.poll(() => keptIn(page)).toEqual({});
    await expect.poll(() => workers(page)).toBe(0);
    way.asked.length = 0;
    await page.goto("/services");
    await page.waitForTimeout(2500);
    expect(way.asked.filter((one) => one.includes("worker"))).toEqual([]);
    expect(await workers(page)).toBe(0);
  });

  test("at the desk", async ({ page, atDesk }) => {
    expect(atDesk.name).toContain("Wanjiru");
    await page.goto("/desk");
    await expectNone(page);
  });

  test("where storage is refused", async ({ page }) => {
    await page.addInitScript(() => {
      Object.defineProperty(window, "caches", {
        get: () => {
          throw new DOMException("The operation is insecure.", "SecurityError");
        },
      });
    });
    await page.goto("/about");
    await scriptReady(page);
    await page.waitForTimeout(3000);
    expect(await workers(page)).toBe(0);
  });

  test("where it is switched off in the account, until it is switched on again", async ({ page, newcomer }) => {
    await enter(page, newcomer);
    await visit(page, "/portal");
    await page.goto("/portal/account");
    await scriptReady(page);
    const choice = page.getByRole("checkbox", { name: "Keep pages on this device" });
    await choice.uncheck();
    await page.getByRole("button", { name: "Save for this device" }).click();
    await expect(toast(page, "No pages are kept on this device")).toBeVisible();
    await expect(choice).not.toBeChecked();
    await expect.poll(() => keptIn(page)).toEqual({});
    await page.goto("/about");
    await expectNone(page);
    await page.goto("/portal/account");
    await scriptReady(page);
    await choice.check();
    await page.getByRole("button", { name: "Save for this device" }).click();
    await expect(toast(page, "Pages are kept on this device")).toBeVisible();
    await visit(page, "/portal");
  });
});

test("a page works as ever where there is no more room", async ({ page }) => {
  await page.addInitScript(() => {
    Cache.prototype.put = () => Promise.reject(new DOMException("Quota exceeded.", "QuotaExceededError"));
  });
  await page.goto("/about");
  await scriptReady(page);
  await page.waitForTimeout(2500);
  await page.locator("header").getByRole("link", { name: "Services", exact: true }).click();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Our Logistics Expertise");
});

test("a new worker takes over at once, and leaves nothing of another form; without one the old one ends", async ({
  page,
  way,
}) => {
  // A browser lets the old one end what it does first, which can take half a minute.
  test.setTimeout(120_000);
  await visit(page, "/about");
  way.instead("/worker.js", (body) => ({ status: 200, body: body.replaceAll('"kept1-', '"kept2-') }));
  await page.goto("/services");
  await page.evaluate(async () => (await navigator.serviceWorker.getRegistration())?.update());
  await expect.poll(async () => (await keptIn(page))["kept1-open"] ?? [], { timeout: 60_000 }).not.toContain("/about");

  way.instead("/worker.js", () => ({ status: 404, body: "" }));
  await page.goto("/careers");
  await page.evaluate(() => caches.delete("kept2-worker"));
  await page.goto("/careers");
  await expect.poll(() => workers(page), soon).toBe(0);
});

test.describe("a link without an answer", () => {
  test("leads to the kept page, which becomes the page itself", async ({ page, way }) => {
    await visit(page, "/services");
    await visit(page, "/about");
    await scriptReady(page);
    way.cut();
    await page.locator("header").getByRole("link", { name: "Services", exact: true }).click();
    await expect(main(page).locator("p").first()).toHaveText(line);
    await expect(page.getByRole("heading", { level: 1 })).toHaveText("Our Logistics Expertise");
    way.mend();
    await expect(main(page).getByText("No connection")).toHaveCount(0, soon);
  });

  test("leads to the kept page when nothing comes in 5 s", async ({ page, way }) => {
    await visit(page, "/services");
    await visit(page, "/about");
    way.fallSilent();
    await page.locator("header").getByRole("link", { name: "Services", exact: true }).click();
    await expect(main(page).locator("p").first()).toHaveText(line, { timeout: 7000 });
    way.mend();
  });

  test("leaves the page, says so, and goes on by itself once there is a connection", async ({ page, way }) => {
    await visit(page, "/about");
    way.cut();
    await page.locator("header").getByRole("link", { name: "Services", exact: true }).click();
    await expect(toast(page, "goes on by itself")).toBeVisible();
    await expect(page).toHaveURL(/\/about$/);
    way.mend();
    await expect(page.getByRole("heading", { level: 1 })).toHaveText("Our Logistics Expertise", soon);
  });

  test("is forgotten by who writes meanwhile; a form is not sent again by itself", async ({ page, way }) => {
    await visit(page, "/contact");
    way.cut();
    await page.locator("header").getByRole("link", { name: "Services", exact: true }).click();
    await expect(toast(page, "goes on by itself")).toBeVisible();
    await page.getByLabel("Subject").fill("Tea");
    way.mend();
    await page.waitForTimeout(8000);
    await expect(page).toHaveURL(/\/contact$/);
    way.cut();
    await page.getByRole("button", { name: "Prepare the mail" }).click();
    await expect(toast(page, "What you typed is still here: send it again")).toBeVisible();
    way.asked.length = 0;
    way.mend();
    await page.waitForTimeout(8000);
    await expect(page.getByLabel("Subject")).toHaveValue("Tea");
    expect(way.asked.filter((one) => one.startsWith("POST"))).toEqual([]);
  });
});
