/** Measures a page on a slow connection: requests, bytes by file type, and times of the first and largest paint. */
import { type Browser, type BrowserContext, chromium } from "@playwright/test";
import { findChromium } from "../support/browser-programs.ts";

export type PageCost = {
  requests: number;
  /** Transferred bytes by file type. */
  bytes: { document: number; script: number; style: number; image: number; other: number };
  /** Milliseconds from the start of the navigation. */
  firstPaint: number;
  largestPaint: number;
  load: number;
};

export type BrowsingMode = "script" | "no script" | "lite";

const byteKinds: Record<string, keyof PageCost["bytes"]> = {
  ...{ Document: "document", Script: "script", Stylesheet: "style", Image: "image" },
};

const phoneViewport = { width: 390, height: 844 };

/**
 * Starts Chromium without Playwright's option ignoreHTTPSErrors, which makes Chromium open each first connection twice.
 */
export async function launchBrowser(): Promise<Browser> {
  return chromium.launch({
    executablePath: findChromium() ?? undefined,
    args: [
      ...["--no-sandbox", "--ignore-certificate-errors", "--disable-background-networking"],
      ...["--disable-component-update", "--disable-sync"],
    ],
  });
}

/** Opens a URL with an empty cache and measures until the network is idle. */
export async function measurePage(browser: Browser, address: string, mode: BrowsingMode): Promise<PageCost> {
  const context = await browser.newContext({
    viewport: phoneViewport,
    deviceScaleFactor: 2,
    isMobile: true,
    javaScriptEnabled: true,
    extraHTTPHeaders: mode === "lite" ? { "Save-Data": "on" } : {},
  });
  try {
    return await measureInContext(context, address, mode);
  } finally {
    await context.close();
  }
}

async function measureInContext(context: BrowserContext, address: string, mode: BrowsingMode): Promise<PageCost> {
  const page = await context.newPage();
  const session = await context.newCDPSession(page);
  await session.send("Network.enable");
  await session.send("Network.setCacheDisabled", { cacheDisabled: false });
  // The measurement reads the paint times with JavaScript, so JavaScript is on and only script files are blocked.
  if (mode === "no script") {
    await session.send("Network.setBlockedURLs", { urls: ["*.js"] });
  }
  const kinds = new Map<string, string>();
  const bytes = { document: 0, script: 0, style: 0, image: 0, other: 0 };
  let requests = 0;
  session.on("Network.responseReceived", ({ requestId, type, response }) =>
    // Chromium reports the type Other for SVG files of <use> elements, so the media type is checked too.
    kinds.set(requestId, response.mimeType.startsWith("image/") ? "Image" : type),
  );
  session.on("Network.loadingFinished", ({ requestId, encodedDataLength }) => {
    const kind = kinds.get(requestId);
    if (kind === undefined) return;
    requests += 1;
    bytes[byteKinds[kind] ?? "other"] += encodedDataLength;
  });
  await page.goto(address, { waitUntil: "load", timeout: 120_000 });
  await page.waitForLoadState("networkidle", { timeout: 120_000 });
  const times = await page.evaluate(
    () =>
      new Promise<{ firstPaint: number; largestPaint: number; load: number }>((resolve) => {
        const [navigation] = performance.getEntriesByType("navigation") as PerformanceNavigationTiming[];
        const firstPaint = performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? 0;
        new PerformanceObserver((list) => {
          const largestPaint = list.getEntries().at(-1)?.startTime ?? 0;
          resolve({ firstPaint, largestPaint, load: navigation?.loadEventEnd ?? 0 });
        }).observe({ type: "largest-contentful-paint", buffered: true });
      }),
  );
  return { requests, bytes, ...times };
}
