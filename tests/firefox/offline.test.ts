import puppeteer, { type Browser, type Page } from "puppeteer-core";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { ensureFirefox } from "../support/browser-programs.ts";
import { freePort } from "../support/free-port.ts";
import { labels } from "../support/labels.ts";
import { startTestSite } from "../support/test-app.ts";

const demoCredentials = { email: "demo@mizigo.example", password: "karibu-mombasa" };

let site: Awaited<ReturnType<typeof startTestSite>>;
let origin: string;
let browser: Browser;
let page: Page;
/** How the site fails: the site closes connections, or sends no responses. Null if the site works. */
let outage: "closes" | "stalls" | null = null;
beforeAll(async () => {
  const port = await freePort();
  origin = `http://127.0.0.1:${port}`;
  process.env.APP_ORIGIN = origin;
  const launched = puppeteer.launch({ browser: "firefox", executablePath: await ensureFirefox() });
  [site, browser] = await Promise.all([startTestSite(port), launched]);
  const [listener] = site.server.listeners("request") as ((...args: unknown[]) => void)[];
  site.server.removeAllListeners("request");
  site.server.on("request", (request, response) => {
    if (outage === "closes") request.socket.destroy();
    else if (!outage) listener?.(request, response);
  });
});
beforeEach(async () => {
  outage = null;
  page = await (await browser.createBrowserContext()).newPage();
});
afterAll(async () => {
  await browser?.close();
  await site.close();
});

/** Returns the text of the page, or an empty text during a navigation. */
const readText = () =>
  page.evaluate(() => document.querySelector("main")?.textContent ?? document.body.textContent ?? "").catch(() => "");
const listCachedPaths = () =>
  page
    .evaluate(async () => {
      const found: string[] = [];
      for (const name of await caches.keys())
        for (const { url } of await (await caches.open(name)).keys()) found.push(url.slice(location.origin.length));
      return found;
    })
    .catch(() => [""]);

async function visitAndCache(path: string): Promise<void> {
  await page.goto(origin + path);
  await expect.poll(listCachedPaths).toContain(path);
}

test("Firefox shows visited pages without a connection. Signing out closes other pages and deletes the offline copies.", async () => {
  await page.goto(`${origin}/login`);
  await page.type("input[name=email]", demoCredentials.email);
  await page.type("input[name=password]", demoCredentials.password);
  await page.keyboard.press("Enter");
  await expect.poll(readText).toContain("My Shipments");
  await expect.poll(listCachedPaths).toContain("/portal");
  await visitAndCache("/services");

  outage = "closes";
  await page.goto(`${origin}/portal`);
  await expect.poll(readText).toMatch(/^No connection\. This copy of the page is from \d\d:\d\d\sEAT\./);
  await page.goto(`${origin}/contact`);
  await expect.poll(readText).toContain("Pages stored on this device");
  outage = null;
  await expect.poll(readText).toContain(labels.prepareEmail);
  // The page reloads itself after the connection returns. The next navigation must not interrupt this reload.
  await expect.poll(() => page.evaluate(() => document.readyState).catch(() => "")).toBe("complete");

  await page.goto(`${origin}/portal`);
  await expect.poll(readText).toMatch(/^\s*My Shipments/);
  outage = "stalls";
  await page.goto(`${origin}/services`);
  await expect.poll(readText).toContain("No connection.");
  site.server.closeAllConnections();
  outage = null;
  await expect.poll(readText).toMatch(/^\s*Our Logistics Expertise/);

  const secondTab = await page.browserContext().newPage();
  await secondTab.goto(`${origin}/portal`);
  await page.bringToFront();
  await page.goto(`${origin}/portal`);
  const clickSignOut = () => {
    const button = document.querySelector<HTMLButtonElement>('button[name="sign-out"]');
    button?.click();
    return button !== null;
  };
  await expect.poll(() => page.evaluate(clickSignOut).catch(() => false)).toBe(true);
  for (const tab of [page, secondTab]) await expect.poll(() => tab.url()).toBe(`${origin}/login`);
  await expect.poll(async () => (await listCachedPaths()).filter((path) => path.startsWith("/portal"))).toEqual([]);
  outage = "closes";
  // Without offline copies, Firefox shows its own error page.
  await page.goto(`${origin}/portal`).catch(() => null);
  expect(await readText()).not.toContain("My Shipments");
  outage = null;
});
