import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import process from "node:process";
import { inflateSync } from "node:zlib";
import puppeteer, { type Browser, type ElementHandle, type Page } from "puppeteer-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { ensureFirefox } from "../support/browser-programs.ts";
import { freePort } from "../support/free-port.ts";
import { createPdf, startTestSite } from "../support/test-app.ts";

const demoCredentials = { email: "demo@mizigo.example", password: "karibu-mombasa" };
const folder = mkdtempSync(path.join(tmpdir(), "firefox-"));
const pdfFile = path.join(folder, "list.pdf");
/** A CSP that turns script off for a page: Firefox has no such setting for one page alone. */
const noScriptPolicy = "sandbox allow-downloads allow-forms allow-popups allow-same-origin";
/** Without a graphics card, 60 frames per second use a whole processor. */
const extraPrefsFirefox = { "layout.frame_rate": 10 };

let site: Awaited<ReturnType<typeof startTestSite>>;
let origin: string;
let browser: Browser;
let hasScript: boolean;
beforeAll(async () => {
  writeFileSync(pdfFile, new Uint8Array(await createPdf().arrayBuffer()));
  const port = await freePort();
  origin = `http://127.0.0.1:${port}`;
  process.env.APP_ORIGIN = origin;
  const executablePath = await ensureFirefox();
  const launched = puppeteer.launch({ browser: "firefox", executablePath, extraPrefsFirefox });
  [site, browser] = await Promise.all([startTestSite(port), launched]);
  site.server.prependListener("request", (_request, response) => {
    if (hasScript) return;
    const isPolicy = (name?: string) => /^content-security-policy$/i.test(name ?? "");
    const setHeader = response.setHeader.bind(response);
    response.setHeader = (name, value) => setHeader(name, isPolicy(name) ? `${value}; ${noScriptPolicy}` : value);
    // Kept pages are answered with all their headers at once, names and values in turn.
    const writeHead = response.writeHead.bind(response);
    response.writeHead = ((status: number, ...[headers, ...more]: [string[]]) =>
      Array.isArray(headers)
        ? writeHead(
            status,
            headers.map((part, at) => (isPolicy(headers[at - 1]) ? `${part}; ${noScriptPolicy}` : part)),
          )
        : writeHead(status, headers, ...more)) as typeof response.writeHead;
  });
});
afterAll(async () => {
  await browser?.close();
  await site.close();
  rmSync(folder, { recursive: true, force: true });
});

describe.each([true, false])("Firefox, script: %s:", (runs) => {
  let page: Page;
  let errors: string[];
  beforeEach(async () => {
    hasScript = runs;
    page = await (await browser.createBrowserContext()).newPage();
    errors = [];
    page.on("pageerror", (error) => errors.push(String(error)));
    page.on("console", (message) => message.type() === "error" && errors.push(message.text()));
  });
  afterEach(async () => {
    await page.browserContext().close();
    expect(errors).toEqual([]);
  });

  /** Opens an address, and waits until script has taken the page over. */
  async function open(address: string): Promise<void> {
    await page.goto(origin + address);
    expect(await page.evaluate(() => matchMedia("(scripting: none)").matches)).toBe(!hasScript);
    if (hasScript) await expect.poll(() => page.$('[aria-label="Notifications (F8)"]')).not.toBeNull();
  }

  /** Waits for a matching element, with this text if given, that can be pressed; between two pages none can. */
  async function find(selector: string, name?: string): Promise<ElementHandle> {
    const look = () =>
      page.evaluateHandle(
        (selector, name) =>
          [...document.querySelectorAll(selector)].find(
            (each) =>
              !document.activeViewTransition && each.checkVisibility() && (!name || each.textContent?.trim() === name),
          ) ?? null,
        selector,
        name,
      );
    let found: ElementHandle | null = null;
    const message = `${selector} ${name ?? ""}`;
    await expect
      .poll(async () => (found = (await look()).asElement() as ElementHandle | null), { message })
      .not.toBeNull();
    return found as unknown as ElementHandle;
  }

  const press = async (selector: "a" | "button", name: string) => (await find(selector, name)).click();
  const fill = async (name: string, words: string) => (await find(`input[name=${name}]`)).type(words);
  const address = () => page.evaluate(() => location.pathname + location.search);
  const heading = () => page.$eval("h1", (h1) => h1.textContent);
  const words = () => page.$eval("main", (main) => main.textContent);

  test("from the login over a shipment and its document to the sign-out", async () => {
    await open("/login");
    await fill("email", demoCredentials.email);
    await fill("password", demoCredentials.password);
    await press("button", "Log in");
    await expect.poll(address).toBe("/portal");
    await press("a", "Create Shipment");
    await fill("name", "Tea in Firefox");
    await press("button", "Create Shipment");
    await expect.poll(heading).toBe("Tea in Firefox");
    await expect.poll(words).toContain("Stage 1/10");
    const shipment = await address();
    const field = (await find('form:has([name="file"]) input[type=file]')) as ElementHandle<HTMLInputElement>;
    await field.uploadFile(pdfFile);
    await (await find("form:has(input[type=file]) button")).click();
    await expect.poll(words).toContain("Uploaded, we check it next");
    await press("button", "Sign out");
    await expect.poll(address).toBe("/login");
    await page.goto(origin + shipment);
    expect(await address()).toBe(`/login?next=${encodeURIComponent(shipment)}`);
  });

  test("the list of shipments is printed on one sheet", async () => {
    await open("/login");
    await fill("email", demoCredentials.email);
    await fill("password", demoCredentials.password);
    await press("button", "Log in");
    await expect.poll(heading).toBe("My Shipments");
    expect(countPrintedPages(await page.pdf({ format: "A4" }))).toBe(1);
  });

  test("a page leads to the quote, which says what it lacks and closes again", async () => {
    await open("/about");
    await press("a", "Get a Quote");
    await find("dialog");
    await press("a", "Close");
    await expect.poll(address).toBe("/about");
    await expect.poll(() => page.$("dialog")).toBeNull();
    await press("a", "Get a Quote");
    await find("dialog");
    await press("button", "Prepare the mail");
    await find("[aria-labelledby=error-summary]");
  });

  test("a refused message is told where it can be read, not under what stays above the page", async () => {
    await page.setViewport({ width: 390, height: 844 });
    await open("/contact");
    const button = await find("button", "Prepare the mail");
    // The error summary is then partly in the window, and Firefox does not scroll to an element that is.
    await button.evaluate((button) => {
      scrollTo({ top: 180, behavior: "instant" });
      (button as HTMLElement).focus({ preventScroll: true });
    });
    await page.keyboard.press("Enter");
    await find("[aria-labelledby=error-summary]");
    const covered = () =>
      page.evaluate(() => {
        const top = document.querySelector("[aria-labelledby=error-summary]")?.getBoundingClientRect().top ?? 0;
        return (document.querySelector("header")?.getBoundingClientRect().bottom ?? 0) - top;
      });
    await expect.poll(covered).toBeLessThanOrEqual(0);
  });

  test("on a phone the menu leads on, and after Back, from memory, a link still does", async () => {
    await page.setViewport({ width: 390, height: 844 });
    await open("/about");
    await follow("Services");
    await expect.poll(address).toBe("/services");
    await page.evaluate(() => Object.assign(window, { isKept: true }));
    // A pending request keeps a page out of the back/forward cache.
    await page.waitForNetworkIdle();
    await page.goto(`${origin}/legal`);
    await page.evaluate(() => history.back());
    await expect.poll(address).toBe("/services");
    expect(await page.evaluate(() => "isKept" in window), "kept by the browser").toBe(true);
    await press("a", "Request Consultation");
    await expect.poll(address).toBe("/contact");
    await expect.poll(heading).toContain("Contact");
  });

  if (runs) {
    test("after Back to a page that was left while it came, a link still leads on", async () => {
      await page.setViewport({ width: 390, height: 844 });
      await open("/services");
      await follow("About");
      await expect.poll(heading).toContain("30+ Years");
      await page.waitForNetworkIdle();
      await page.evaluate(() => {
        const leave = () =>
          location.pathname === "/services" ? location.assign("/legal") : requestAnimationFrame(leave);
        leave();
        // A page that listens to this is not kept for Back, however soon the other one came.
        addEventListener("unload", () => undefined);
        Object.assign(window, { isOld: true });
      });
      await follow("Services");
      await expect.poll(address).toBe("/legal");
      await page.evaluate(() => history.back());
      await expect.poll(address).toBe("/services");
      await expect.poll(() => page.evaluate(() => "isOld" in window), { message: "loaded again" }).toBe(false);
      await page.waitForNetworkIdle();
      await press("a", "Request Consultation");
      await expect.poll(heading).toContain("Contact");
      // The page that was left may have been reading its next one yet: Firefox tells that it was cut off.
      errors = errors.filter((error) => !/^Error: TypeError: Error in input stream$/.test(error));
    });
  }

  /** Follows a link of the phone's menu. */
  async function follow(name: string): Promise<void> {
    await (await find("header summary:has(.sr-only)")).click();
    await press("a", name);
  }
});

/** How many pages a PDF has. Most page objects are in deflated streams. */
function countPrintedPages(bytes: Uint8Array): number {
  const text = Buffer.from(bytes).toString("latin1");
  const streams = [...text.matchAll(/stream\r?\n([\s\S]*?)endstream/g)].map(([, stream = ""]) => {
    try {
      return inflateSync(Buffer.from(stream, "latin1")).toString("latin1");
    } catch {
      return "";
    }
  });
  return [text, ...streams].join("\n").match(/\/Type\s*\/Page\b/g)?.length ?? 0;
}
