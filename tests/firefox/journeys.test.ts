import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import process from "node:process";
import { inflateSync } from "node:zlib";
import puppeteer, { type Browser, type ElementHandle, type Page } from "puppeteer-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { ensureFirefox } from "../support/browser-programs.ts";
import { freePort } from "../support/free-port.ts";
import { labels } from "../support/labels.ts";
import { createPolyglot, createScriptedPdf } from "../support/review-files.ts";
import { getDocument, newClient, newShipment, newStaffMember, uploadDocument } from "../support/route-fixtures.ts";
import { createPdf, getTestApp, startTestSite, type TestApp, type TestBrowser } from "../support/test-app.ts";

const demoCredentials = { email: "demo@mizigo.example", password: "karibu-mombasa" };
const folder = mkdtempSync(path.join(tmpdir(), "firefox-"));
const pdfFile = path.join(folder, "list.pdf");
/** A CSP that blocks JavaScript, because Firefox cannot turn off JavaScript for a single page. */
const noScriptPolicy = "sandbox allow-downloads allow-forms allow-popups allow-same-origin";
/** Lowers the frame rate. Without a graphics card, 60 frames per second would use a whole processor. */
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
    // The server sets all headers of a cached page with one array, in which names and values alternate.
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

describe.each([
  ["with", true],
  ["without", false],
] as const)("Firefox %s script", (_mode, runsScript) => {
  let page: Page;
  let errors: string[];
  beforeEach(async () => {
    hasScript = runsScript;
    page = await (await browser.createBrowserContext()).newPage();
    errors = [];
    page.on("pageerror", (error) => errors.push(String(error)));
    page.on("console", (message) => message.type() === "error" && errors.push(message.text()));
  });
  afterEach(async () => {
    await page.browserContext().close();
    expect(errors).toEqual([]);
  });

  async function open(address: string): Promise<void> {
    await page.goto(origin + address);
    expect(await page.evaluate(() => matchMedia("(scripting: none)").matches)).toBe(!hasScript);
    if (hasScript) await expect.poll(() => page.$(`[aria-label="${labels.notifications}"]`)).not.toBeNull();
  }

  /**
   * Waits until no view transition runs, and an element that matches `selector` and has the text `name` is visible.
   * Without `name`, any text counts.
   */
  async function find(selector: string, name?: string): Promise<ElementHandle> {
    const query = () =>
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
      .poll(async () => (found = (await query()).asElement() as ElementHandle | null), { message })
      .not.toBeNull();
    return found as unknown as ElementHandle;
  }

  const click = async (selector: "a" | "button", name: string) => (await find(selector, name)).click();
  const fill = async (name: string, text: string) => (await find(`input[name=${name}]`)).type(text);
  const address = () => page.evaluate(() => location.pathname + location.search);
  const heading = () => page.$eval("h1", (h1) => h1.textContent);
  const mainText = () => page.$eval("main", (main) => main.textContent);

  test("A client logs in, prints the list of shipments, creates a shipment, uploads a document and signs out.", async () => {
    await open("/login");
    await fill("email", demoCredentials.email);
    await fill("password", demoCredentials.password);
    await click("button", labels.logIn);
    await expect.poll(heading).toBe("My Shipments");
    expect(countPrintedPages(await page.pdf({ format: "A4" }))).toBe(1);
    await click("a", "Create Shipment");
    await fill("name", "Tea in Firefox");
    await click("button", "Create Shipment");
    await expect.poll(heading).toBe("Tea in Firefox");
    await expect.poll(mainText).toContain("Stage 1/10");
    const shipment = await address();
    const field = (await find('form:has([name="file"]) input[type=file]')) as ElementHandle<HTMLInputElement>;
    await field.uploadFile(pdfFile);
    await (await find("form:has(input[type=file]) button")).click();
    await expect.poll(mainText).toContain(labels.uploaded);
    await click("button", "Sign out");
    await find("button", labels.logIn);
    await page.goto(origin + shipment);
    await expect.poll(address).toBe(`/login?next=${encodeURIComponent(shipment)}`);
  });

  if (runsScript)
    test("A clerk looks at a PDF with a script and at a web page with a PDF, and no script runs.", async () => {
      const testApp = await getTestApp();
      const app = { ...testApp, browser: () => createOwnBrowser(testApp) };
      const clerk = await newStaffMember(app, "clerk", "Firefox Clerk");
      const client = await newClient(app, "Firefox Client");
      const shipment = await newShipment(app, client, "Scripts");
      const signs: string[] = [];
      page.on("dialog", (dialog) => {
        signs.push(dialog.message());
        void dialog.dismiss();
      });
      await page.browserContext().setCookie({
        ...{ name: "session", value: clerk.browser.cookies.get("session") ?? "", domain: "127.0.0.1", path: "/" },
      });
      const script = "try { app.alert('script ran'); } catch (e) { alert('script ran'); }";
      for (const [name, file, text] of [
        ["Packing List", createScriptedPdf(script, "list.pdf"), "list.pdf"],
        ["Bill of Lading", await createPolyglot("alert('script ran')"), "This file is not an ordinary PDF file."],
      ] as const) {
        await uploadDocument(client.browser, shipment.portal, name, file);
        const path = `${shipment.desk}/documents/${(await getDocument(app.company, shipment.id, name)).id}`;
        for (const address of [path, `${path}/view`]) {
          await open(address);
          expect([await page.evaluate(() => location.pathname), await heading()]).toEqual([path, name]);
          await page.waitForNetworkIdle();
          expect(await mainText()).toContain(text);
        }
      }
      expect(signs).toEqual([]);
      // Ignores Firefox's error about the response to the PDF with a script, which no page may embed.
      errors = errors.filter((error) => !error.includes("X-Frame-Options"));
    });

  if (runsScript)
    test("The careers form still has the typed text if the chosen file is deleted on the device.", async () => {
      const cv = path.join(folder, "cv.pdf");
      copyFileSync(pdfFile, cv);
      await open("/careers");
      await fill("name", "Zawadi");
      await ((await find("input[name=cv]")) as ElementHandle<HTMLInputElement>).uploadFile(cv);
      await click("button", "Check application");
      await expect.poll(mainText).toContain("Enter your email.");
      rmSync(cv);
      await click("button", "Check application");
      await expect.poll(mainText).toContain("This file has changed on your device. Choose the file again.");
      expect(await page.$eval("input[name=name]", (input) => (input as HTMLInputElement).value)).toBe("Zawadi");
    });

  test("The quote form opens over a page and closes, and lists the missing fields if a visitor sends an empty form.", async () => {
    await open("/about");
    await click("a", "Get a Quote");
    await find("dialog");
    await click("a", "Close");
    await expect.poll(address).toBe("/about");
    await expect.poll(() => page.$("dialog")).toBeNull();
    await click("a", "Get a Quote");
    await find("dialog");
    await click("button", labels.prepareEmail);
    await find("[aria-labelledby=error-summary]");
  });

  test("A contact form with errors scrolls to the first error, and the header does not cover the error.", async () => {
    await page.setViewport({ width: 390, height: 844 });
    await open("/contact");
    const button = await find("button", labels.prepareEmail);
    // Firefox does not scroll to an element that is partly visible.
    await button.evaluate((button) => {
      scrollTo({ top: 180, behavior: "instant" });
      (button as HTMLElement).focus({ preventScroll: true });
    });
    await page.keyboard.press("Enter");
    await find("[aria-invalid=true]");
    const covered = () =>
      page.evaluate(() => {
        const top = document.querySelector("[aria-invalid=true]")?.getBoundingClientRect().top ?? 0;
        return (document.querySelector("header")?.getBoundingClientRect().bottom ?? 0) - top;
      });
    await expect.poll(covered).toBeLessThanOrEqual(0);
  });

  test("On a phone, links work in the menu and on a page from the back/forward cache.", async () => {
    await page.setViewport({ width: 390, height: 844 });
    await open("/about");
    await follow("Services");
    await expect.poll(address).toBe("/services");
    await page.evaluate(() => Object.assign(window, { isSameDocument: true }));
    // Waits for all requests, because Firefox does not store a page with a running request in the back/forward cache.
    await page.waitForNetworkIdle();
    await page.goto(`${origin}/legal`);
    await page.evaluate(() => history.back());
    await expect.poll(address).toBe("/services");
    expect(await page.evaluate(() => "isSameDocument" in window), "restored").toBe(true);
    await click("a", "Request Consultation");
    await expect.poll(address).toBe("/contact");
    await expect.poll(heading).toContain("Contact");
  });

  if (runsScript) {
    test("A link works after the Back button leads to a page that a visitor left during loading.", async () => {
      await page.setViewport({ width: 390, height: 844 });
      await open("/services");
      await follow("About");
      await expect.poll(heading).toContain("30+ Years");
      await page.waitForNetworkIdle();
      await page.evaluate(() => {
        const leave = () =>
          location.pathname === "/services" ? location.assign("/legal") : requestAnimationFrame(leave);
        leave();
        // Firefox does not store a page with a listener for `unload` in the back/forward cache.
        addEventListener("unload", () => undefined);
        Object.assign(window, { isOld: true });
      });
      await follow("Services");
      await expect.poll(address).toBe("/legal");
      await page.evaluate(() => history.back());
      await expect.poll(address).toBe("/services");
      await expect.poll(() => page.evaluate(() => "isOld" in window), { message: "loaded again" }).toBe(false);
      await page.waitForNetworkIdle();
      await click("a", "Request Consultation");
      await expect.poll(heading).toContain("Contact");
      // Ignores Firefox's error about the interrupted response, because the visitor left that page during loading.
      errors = errors.filter((error) => !/^Error: TypeError: Error in input stream$/.test(error));
    });
  }

  /** Returns a test browser whose forms have the origin of this site. */
  function createOwnBrowser(testApp: TestApp): TestBrowser {
    const testBrowser = testApp.browser();
    const send = testBrowser.send.bind(testBrowser);
    testBrowser.send = (request) => {
      if (request.method === "POST") request.headers.set("Origin", origin);
      return send(request);
    };
    return testBrowser;
  }

  /** Opens the phone menu and follows the link `name`. */
  async function follow(name: string): Promise<void> {
    await (await find("header summary:has(.sr-only)")).click();
    await click("a", name);
  }
});

/** Returns the number of pages of a PDF. Also reads compressed streams, which contain most page objects. */
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
