import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import process from "node:process";
import puppeteer, { type Browser, type ElementHandle, type Page } from "puppeteer-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { ensureFirefox } from "../support/browser.ts";
import { freePort } from "../support/ports.ts";
import { pdf, theSite } from "../support/routes.ts";

const demo = { email: "demo@mizigo.example", password: "karibu-mombasa" };
const folder = mkdtempSync(path.join(tmpdir(), "firefox-"));
const list = path.join(folder, "list.pdf");

let site: Awaited<ReturnType<typeof theSite>>;
let origin: string;
beforeAll(async () => {
  writeFileSync(list, new Uint8Array(await pdf().arrayBuffer()));
  const port = await freePort();
  origin = `http://127.0.0.1:${port}`;
  process.env.APP_ORIGIN = origin;
  site = await theSite(port);
});
afterAll(async () => {
  await site.close();
  rmSync(folder, { recursive: true, force: true });
});

// Script is switched off for a whole Firefox; what is asked of a page here therefore never waits inside the page.
describe.each([true, false])("Firefox, script: %s:", (hasScript) => {
  let browser: Browser;
  let page: Page;
  let errors: string[];
  beforeAll(async () => {
    const executablePath = await ensureFirefox();
    const extraPrefsFirefox = { "javascript.enabled": hasScript };
    browser = await puppeteer.launch({ browser: "firefox", executablePath, extraPrefsFirefox, timeout: 60_000 });
  });
  beforeEach(async () => {
    page = await (await browser.createBrowserContext()).newPage();
    errors = [];
    page.on("pageerror", (error) => errors.push(String(error)));
    page.on("console", (message) => message.type() === "error" && errors.push(message.text()));
  });
  afterEach(async () => {
    await page.browserContext().close();
    expect(errors).toEqual([]);
  });
  afterAll(() => browser?.close());

  /** Opens an address, and waits until script has taken the page over. */
  async function open(address: string): Promise<void> {
    await page.goto(origin + address);
    if (hasScript) await find('[aria-label="Notifications (F8)"]');
  }

  async function find(selector: string): Promise<ElementHandle> {
    let found: ElementHandle | null = null;
    await expect.poll(async () => (found = await page.$(selector)), { message: selector }).not.toBeNull();
    return found as unknown as ElementHandle;
  }

  const press = async (role: "link" | "button", name: string) =>
    (await find(`::-p-aria([name="${name}"][role="${role}"])`)).click();
  const fill = async (label: string, words: string) =>
    (await find(`::-p-aria([name="${label}"][role="textbox"])`)).type(words);
  const address = () => page.url().replace(origin, "");
  const heading = () => page.$eval("h1", (h1) => h1.textContent);
  const words = () => page.$eval("main", (main) => main.textContent);

  test("from the login over a shipment and its document to the sign-out", async () => {
    await open("/login");
    await fill("Email", demo.email);
    await (await find("input[name=password]")).type(demo.password);
    await press("button", "Log in");
    await expect.poll(address).toBe("/portal");
    await press("link", "Create Shipment");
    await fill("Name of the shipment", "Tea in Firefox");
    await press("button", "Create Shipment");
    await expect.poll(heading).toBe("Tea in Firefox");
    await expect.poll(words).toContain("Stage 1/10");
    const shipment = address();
    const field = (await find('form:has([name="file"]) input[type=file]')) as ElementHandle<HTMLInputElement>;
    await field.uploadFile(list);
    await (await find("form:has(input[type=file]) button")).click();
    await expect.poll(words).toContain("Uploaded, we check it next");
    await press("button", "Sign out");
    await expect.poll(address).toBe("/login");
    await page.goto(origin + shipment);
    expect(address()).toBe(`/login?next=${encodeURIComponent(shipment)}`);
  });

  test("a page leads to the quote, which says what it lacks and closes again", async () => {
    await open("/about");
    await press("link", "Get a Quote");
    await find("dialog[open], [role=dialog]");
    await press("button", "Prepare the mail");
    await find("[aria-labelledby=problems]");
    await press("link", "Close");
    await expect.poll(() => page.$("[role=dialog]")).toBeNull();
  });

  test("a refused message is told where it can be read, not under what stays above the page", async () => {
    await open("/contact");
    await press("button", "Prepare the mail");
    await find("[aria-labelledby=problems]");
    const covered = () =>
      page.evaluate(() => {
        const top = document.querySelector("[aria-labelledby=problems]")?.getBoundingClientRect().top ?? 0;
        return (document.querySelector("header")?.getBoundingClientRect().bottom ?? 0) - top;
      });
    await expect.poll(covered).toBeLessThanOrEqual(0);
  });

  test("on a phone the menu leads on, and after Back, from memory, a link still does", async () => {
    await page.setViewport({ width: 390, height: 844 });
    await open("/about");
    await (await find("header details:not([hidden]) summary:has(.sr-only)")).click();
    await press("link", "Services");
    await expect.poll(heading).toContain("Services");
    await page.goto(`${origin}/robots.txt`);
    await page.goBack();
    await expect.poll(address).toBe("/services");
    await press("link", "Request Consultation");
    await expect.poll(address).toBe("/contact");
    await expect.poll(heading).toContain("Contact");
  });
});
