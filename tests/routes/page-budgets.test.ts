import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { clientBuildFolder } from "../../app/server/start/build.ts";
import { publishedArticles } from "../support/articles.ts";
import { authPages, publicPages } from "../support/public-pages.ts";
import { getTestApp, getTestSite, sendRequest } from "../support/test-app.ts";

/** The size of the first ten TCP segments including headers, in bytes. The limit is from RFC 6928. */
const firstFlightBytes = 14_300;
/** The maximum size of the script that a page preloads, in bytes after Brotli compression. */
const maxScriptBytes = 105_000;

const publicPaths = [...publicPages, ...authPages];

const app = await getTestApp();
const site = await getTestSite();
const client = site.browser();
await client.signUpAndLogIn("Wanjiru Kamau");
await client.get("/portal");
const shipment = await client.createShipment("Solar panels, two 40 ft containers");

const cookie = client.cookieHeader;

const fetchPage = (address: string, headers: Record<string, string> = {}, method = "GET") =>
  sendRequest(site.port, address, { "Accept-Encoding": "br", ...headers }, method);

const fetchHtml = async (address: string, headers: Record<string, string> = {}) =>
  (await fetchPage(address, { ...headers, "Accept-Encoding": "identity" })).body.toString("utf8");

async function expectOneFlight(address: string, headers: Record<string, string> = {}): Promise<void> {
  const response = await fetchPage(address, headers);
  expect(response.headers["content-encoding"]).toBe("br");
  expect(response.bytes, address).toBeLessThanOrEqual(firstFlightBytes);
}

function expectTextOnly(html: string): void {
  expect(html).not.toMatch(
    /<script(?! type="application\/ld\+json")|modulepreload|prefetch|\/art\/|favicon\.svg|rel="manifest"/,
  );
}

function expectScriptBudget(html: string): void {
  const preloads = [...html.matchAll(/<link rel="modulepreload"([^>]*) href="([^"]+)"/g)];
  expect(preloads.length).toBeGreaterThan(2);
  const sizes = [...new Set(preloads.map(([, , href = ""]) => href))].map(getBrotliSize);
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(maxScriptBytes);
  for (const [, attributes] of preloads) expect(attributes).toContain('fetchpriority="low"');
}

function getBrotliSize(href: string): number {
  const file = path.join(clientBuildFolder, href);
  // The build compresses only files above a minimum size.
  return readFileSync(existsSync(`${file}.br`) ? `${file}.br` : file).length;
}

describe("Public pages", () => {
  test.each(publicPaths)(
    "The page %s fits into the first ten TCP segments with its styles, waits for no other file, and loads at most 105 KB of script.",
    async (page) => {
      for (const address of [page, `${page}?quote`]) await expectOneFlight(address);
      const html = await fetchHtml(page);
      expect(html).toContain("<style>");
      expect(html).not.toMatch(/<link rel="stylesheet"/);
      expect(html).not.toMatch(/<script(?![^>]* (?:async|type="application\/ld\+json"))[^>]* src=/);
      expectScriptBudget(html);
    },
  );

  test("A page prefetches only modules, because the Content-Security-Policy blocks other prefetches.", async () => {
    for (const page of ["/?quote", "/about?quote", "/no-such-page?quote"])
      expect(await fetchHtml(page), page).not.toContain('rel="prefetch"');
  });

  test.each([...publicPaths, "/?quote"])(
    "The text-only version of %s has no script and no decorative image.",
    async (page) => {
      // This browser bypasses the HTTP server and its compression, because compressing pages takes longer than
      // rendering.
      const response = await app.browser().get(page, { "Save-Data": "on" });
      expectTextOnly(await response.text());
    },
  );

  test("A visitor gets the text-only version of a page on a slow connection, or after choosing the text-only version.", async () => {
    for (const [name, value] of [
      ["ECT", "2g"],
      ["ECT", "slow-2g"],
      ["Cookie", "lite=1"],
    ] as const)
      expectTextOnly(await fetchHtml("/about", { [name]: value }));
    expect(await fetchHtml("/about", { ECT: "4g" })).toContain("<script");
    expect(await fetchHtml("/about", { "Save-Data": "on", Cookie: "lite=0" })).toContain("<script");
  });

  test("The Vary header of a page names each request header on which the page depends.", async () => {
    for (const page of ["/", "/login", "/no-such-page"]) {
      const { headers } = await fetchPage(page);
      for (const name of ["Accept-Encoding", "Cookie", "Save-Data", "ECT", "Sec-Fetch-Site"])
        expect(headers.vary, page).toContain(name);
      expect(headers["accept-ch"], page).toBe("ECT");
    }
  });

  test("Every written article fits into the first ten TCP segments.", async () => {
    expect(publishedArticles).toHaveLength(5);
    for (const { slug } of publishedArticles) await expectOneFlight(`/resources/blog/${slug}`);
  });

  test("Even the longest pages fit into the first ten TCP segments for a signed-in client with the light theme.", async () => {
    const browser = site.browser();
    await browser.post("/actions/theme", { theme: "light" });
    const Cookie = `${cookie}; ${browser.cookieHeader}`;
    for (const page of ["/", "/services"]) await expectOneFlight(page, { Cookie });
  });

  test("The page of a cost estimate fits into the first ten TCP segments, with amounts, with errors or below the quote form.", async () => {
    const registered = `${new Date().getFullYear() - 3}-05`;
    const valid = `what=car&registered=${registered}&excise=25&currency=USD&value=8,000&freight=1200&insurance=120.50&rate=129.5&duty=25`;
    for (const query of [valid, `${valid}&quote`, "what=car&value=x&freight=-1&insurance=x&rate=x&duty=x&registered=x"])
      await expectOneFlight(`/resources/cost?${query}`);
  });

  test("The second page of a visit has a link to the stylesheet that the browser has cached.", async () => {
    const html = await fetchHtml("/about", { "Sec-Fetch-Site": "same-origin" });
    expect(html).toContain('<link rel="stylesheet"');
    expect(html).not.toContain("<style>");
  });
});

describe("Portal pages", () => {
  test.each([
    ["the list of shipments", "/portal"],
    ["a new shipment", "/portal/new"],
    ["two-factor authentication", "/portal/2fa"],
    ["a shipment", shipment],
  ])("The portal page of %s fits into ten TCP segments and loads at most 105 KB of script.", async (_page, address) => {
    expect((await fetchPage(address, { Cookie: cookie })).status).toBe(200);
    await expectOneFlight(address, { Cookie: cookie });
    expectScriptBudget(await fetchHtml(address, { Cookie: cookie }));
  });

  test.each([
    ["the list", "/portal"],
    ["a later page of the list", "/portal?page=2"],
    ["a shipment", shipment],
    ["a shipment's data for script", `${shipment}.data`],
  ])("The portal makes only one backend call for %s.", async (_name, address) => {
    const calls = await app.proxy.during(async () => {
      expect((await fetchPage(address, { Cookie: cookie })).status).toBe(200);
    });
    expect(calls.map((call) => call.split("?")[0])).toEqual(["GET /rest/v1/rpc/portal_page"]);
  });
});

describe("Cached responses", () => {
  test("A browser with an up-to-date copy of a public page gets status 304 instead of the page.", async () => {
    const first = await fetchPage("/about");
    const again = await fetchPage("/about", { "If-None-Match": first.headers.etag ?? "" });
    expect([again.status, again.body.length]).toEqual([304, 0]);
    expect(again.headers["content-security-policy"]).toBe(first.headers["content-security-policy"]);
  });

  test("Each encoding and the text-only version of a public page have different ETags.", async () => {
    const etags = [
      (await fetchPage("/about")).headers.etag,
      (await fetchPage("/about", { "Accept-Encoding": "gzip" })).headers.etag,
      (await fetchPage("/about", { "Accept-Encoding": "identity" })).headers.etag,
      (await fetchPage("/about", { "Save-Data": "on" })).headers.etag,
    ];
    expect(new Set(etags).size).toBe(4);
  });

  test("The page cache stores a public page for all visitors, but no page with a toast or with cookie settings.", async () => {
    /**
     * Requests /about with `Cookie`, then requests /about again with the ETag of the first response. Returns the ETag,
     * and the status of the second response.
     */
    const requestTwice = async (Cookie: string) => {
      const { etag } = (await fetchPage("/about", { Cookie })).headers;
      const again = await fetchPage("/about", { Cookie, "If-None-Match": etag ?? "" });
      return { etag, status: again.status };
    };
    const browser = site.browser();
    const dark = await requestTwice("");
    expect(dark).toEqual({ etag: expect.any(String), status: 304 });

    await browser.post("/actions/forgot-password", {});
    const toast = await browser.get("/about");
    expect([toast.headers.get("ETag"), browser.cookies.has("flash")]).toEqual([null, false]);
    expect(await toast.text()).toContain("Feature coming soon!");
    expect(await requestTwice(browser.cookieHeader)).toEqual(dark);

    await browser.post("/cookie-settings", { marketing: "on" });
    await browser.get("/cookie-settings");
    expect(await requestTwice(browser.cookieHeader)).toEqual(dark);
    const settings = await browser.get("/cookie-settings");
    expect(settings.headers.get("ETag")).toBeNull();
    const marketing = /<input[^>]*id="marketing"[^>]* checked/;
    expect(await settings.text()).toMatch(marketing);
    expect(await fetchHtml("/cookie-settings")).not.toMatch(marketing);
  });

  test("All signed-in clients get the same public page.", async () => {
    const html = await fetchHtml("/about", { Cookie: cookie });
    expect(html).toContain("Sign out");
    expect(await fetchHtml("/about", { Cookie: "session=forged" })).toBe(html);
    expect(await fetchHtml("/about")).not.toContain("Sign out");
  });

  test("An error page is not cached.", async () => {
    await fetchPage("/faq-not-there", { Cookie: cookie });
    const { status, headers } = await fetchPage("/faq-not-there");
    expect([status, headers.etag]).toEqual([404, undefined]);
    expect(headers["cache-control"]).toContain("no-store");
  });
});

test.each(["br", "gzip"])(
  "The data of a client-side navigation are compressed with the accepted encoding %s.",
  async (encoding) => {
    const { headers } = await fetchPage(`${shipment}.data`, { Cookie: cookie, "Accept-Encoding": encoding });
    expect([headers["content-encoding"], headers.vary]).toEqual([encoding, expect.stringContaining("Accept-Encoding")]);
  },
);

test("Files of the build are compressed, have a media type and are cached for a year. A missing file gets status 404.", async () => {
  const href = /href="(\/assets\/[^"]+\.js)"/.exec(await fetchHtml("/"))?.[1] ?? "";
  const { headers, status, body, bytes } = await fetchPage(href);
  expect(status).toBe(200);
  expect(headers["content-type"]).toMatch(/javascript/);
  expect(headers["content-encoding"]).toBe("br");
  expect(headers["cache-control"]).toBe("public, max-age=31536000, immutable");
  expect([headers["x-content-type-options"], headers["cross-origin-resource-policy"]]).toEqual([
    "nosniff",
    "same-origin",
  ]);
  // Limits the header size, because each page loads at least nine files.
  expect(bytes - body.length).toBeLessThan(400);
  expect((await fetchPage("/assets/no-such-file.js")).status).toBe(404);
  const gzip = { "Accept-Encoding": "gzip" };
  const picture = await fetchPage("/art/hero.svg", gzip);
  expect(picture.headers["content-type"]).toMatch(/svg/);
  expect(picture.headers["content-encoding"]).toBe("gzip");
  const again = await fetchPage("/art/hero.svg", { ...gzip, "If-None-Match": picture.headers.etag ?? "" });
  expect(again.status).toBe(304);
});
