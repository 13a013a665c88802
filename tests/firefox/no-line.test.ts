import puppeteer, { type Browser, type Page } from "puppeteer-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ensureFirefox } from "../support/browser.ts";
import { freePort } from "../support/ports.ts";
import { theSite } from "../support/routes.ts";

const demo = { email: "demo@mizigo.example", password: "karibu-mombasa" };

let site: Awaited<ReturnType<typeof theSite>>;
let origin: string;
let browser: Browser;
let page: Page;
/** Whether the site answers nothing: at once, or not at all. */
let isGone: "at once" | "silently" | null = null;
beforeAll(async () => {
  const port = await freePort();
  origin = `http://127.0.0.1:${port}`;
  process.env.APP_ORIGIN = origin;
  const launched = puppeteer.launch({ browser: "firefox", executablePath: await ensureFirefox() });
  [site, browser] = await Promise.all([theSite(port), launched]);
  const [listener] = site.server.listeners("request") as ((...args: unknown[]) => void)[];
  site.server.removeAllListeners("request");
  site.server.on("request", (request, response) => {
    if (isGone === "at once") request.socket.destroy();
    else if (!isGone) listener?.(request, response);
  });
  page = await (await browser.createBrowserContext()).newPage();
});
afterAll(async () => {
  await browser?.close();
  await site.close();
});

/** The words of the page; none while it changes. */
const words = () =>
  page.evaluate(() => document.querySelector("main")?.textContent ?? document.body.textContent ?? "").catch(() => "");
const kept = () =>
  page
    .evaluate(async () => {
      const found: string[] = [];
      for (const name of await caches.keys())
        for (const { url } of await (await caches.open(name)).keys()) found.push(url.slice(location.origin.length));
      return found;
    })
    .catch(() => [""]);

async function visit(path: string): Promise<void> {
  await page.goto(origin + path);
  await expect.poll(kept).toContain(path);
}

test("in Firefox a page that was seen stands there without a connection, until somebody signs out", async () => {
  await page.goto(`${origin}/login`);
  await page.type("input[name=email]", demo.email);
  await page.type("input[name=password]", demo.password);
  await page.keyboard.press("Enter");
  await expect.poll(words).toContain("My Shipments");
  await expect.poll(kept).toContain("/portal");
  await visit("/services");

  isGone = "at once";
  await page.goto(`${origin}/portal`);
  await expect.poll(words).toMatch(/^No connection\. This page is from \d\d:\d\d\sEAT\./);
  await page.goto(`${origin}/contact`);
  await expect.poll(words).toContain("Pages kept on this device");
  isGone = null;
  await expect.poll(words).toContain("Prepare the mail");
  // It came back by itself: the next address is asked for when that has ended, and the line goes when that one is there.
  await expect.poll(() => page.evaluate(() => document.readyState).catch(() => "")).toBe("complete");

  await page.goto(`${origin}/portal`);
  await expect.poll(words).toMatch(/^\s*My Shipments/);
  isGone = "silently";
  await page.goto(`${origin}/services`);
  await expect.poll(words).toContain("No connection.");
  site.server.closeAllConnections();
  isGone = null;
  await expect.poll(words).toMatch(/^\s*Our Logistics Expertise/);

  await page.goto(`${origin}/portal`);
  const press = () => {
    const button = document.querySelector<HTMLButtonElement>('button[name="sign-out"]');
    button?.click();
    return button !== null;
  };
  await expect.poll(() => page.evaluate(press).catch(() => false)).toBe(true);
  await expect.poll(() => page.url()).toBe(`${origin}/login`);
  await expect.poll(async () => (await kept()).filter((path) => path.startsWith("/portal"))).toEqual([]);
  isGone = "at once";
  // Without any kept page the browser says in its own words that nothing answers.
  await page.goto(`${origin}/portal`).catch(() => null);
  expect(await words()).not.toContain("My Shipments");
  isGone = null;
});
