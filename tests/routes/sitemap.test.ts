import { readdirSync } from "node:fs";
import { beforeAll, describe, expect, test } from "vitest";
import { companyDetails } from "../../app/models/content.server.ts";
import { articles, publishedArticles } from "../support/articles.ts";
import { publicPages } from "../support/public-pages.ts";
import { getTestApp, origin, type ParsedPage } from "../support/test-app.ts";

const visitor = (await getTestApp()).browser();

const articleUrls = publishedArticles.map(({ slug }) => `${origin}/resources/blog/${slug}`);
const hasNoindex = (page: ParsedPage) => page.all('meta[name="robots"][content="noindex"]').length === 1;
const readRobots = () => fetchText("/robots.txt", "text/plain; charset=utf-8");

describe("Site map", () => {
  let xml: string;
  let locations: string[];
  beforeAll(async () => {
    xml = await fetchText("/sitemap.xml", "application/xml; charset=utf-8");
    locations = listElements(xml, "loc");
  });

  test("The site map lists the public pages and all written articles, but no placeholders.", () => {
    expect(locations.filter((location) => location.includes("/blog/"))).toEqual(articleUrls);
    const pages = publicPages.filter((page) => page !== "/no-such-page" && !page.includes("/blog/"));
    expect(locations.filter((location) => !location.includes("/blog/")).sort()).toEqual(
      pages.map((page) => origin + page).sort(),
    );
  });

  test("The site map contains the dates of the articles and of the legal texts that have a date.", () => {
    const entries = xml.matchAll(/<loc>([^<]+)<\/loc><lastmod>([^<]+)<\/lastmod>/g);
    expect(Object.fromEntries([...entries].map(([, url, date]) => [url, date]))).toEqual({
      [`${origin}/privacy`]: "2025-10-22",
      [`${origin}/terms`]: "2025-10-22",
      ...Object.fromEntries(publishedArticles.map(({ date }, index) => [articleUrls[index], date])),
    });
  });

  test("Search engines may crawl and index each page of the site map, and its URL is the page's canonical URL.", async () => {
    const rules = await readRobots();
    expect(rules).toContain(`\nSitemap: ${origin}/sitemap.xml\n`);
    for (const location of locations) {
      const page = await visitor.open(location);
      expect([location, page.status, hasNoindex(page)]).toEqual([location, 200, false]);
      const canonical = page.all("link[rel=canonical]").map((link) => link.getAttribute("href"));
      expect(canonical.filter((address) => address !== location)).toEqual([]);
      expect(isCrawlAllowed(rules, new URL(location).pathname), location).toBe(true);
    }
  });
});

test("The RSS feed contains the URL, category, excerpt and date of each written article.", async () => {
  const xml = await fetchText("/resources/blog/rss.xml", "application/rss+xml; charset=utf-8");
  expect(xml).toMatch(/^<\?xml version="1.0" encoding="UTF-8"\?>\n<rss version="2.0"/);
  const titles = publishedArticles.map(({ title }) => title);
  expect(listElements(xml, "title")).toEqual([`${companyDetails.name}: Blog`, ...titles]);
  expect(listElements(xml, "link")).toEqual([`${origin}/resources/blog`, ...articleUrls]);
  expect(listElements(xml, "guid")).toEqual(articleUrls);
  expect(listElements(xml, "category")).toEqual(publishedArticles.map(({ category }) => category));
  expect(listElements(xml, "description").slice(1)).toEqual(publishedArticles.map(({ excerpt }) => excerpt));
  const dates = listElements(xml, "pubDate");
  expect(dates[0]).toBe("Wed, 15 Oct 2025 00:00:00 +0000");
  expect(dates.map((date) => new Date(date).toISOString().slice(0, 10))).toEqual(
    publishedArticles.map(({ date }) => date),
  );
});

describe("robots.txt", () => {
  test("Crawlers may open pages that must not be indexed, because the headers of these pages forbid indexing.", async () => {
    const rules = await readRobots();
    for (const path of ["/login", "/signup", "/auth/confirm", "/login/verify", "/portal", "/quote"]) {
      const page = await visitor.open(path);
      const isNotIndexed = page.headers.get("X-Robots-Tag") === "noindex" || hasNoindex(page);
      expect([path, isCrawlAllowed(rules, path), isNotIndexed]).toEqual([path, true, true]);
    }
  });

  test("Crawlers may open every article, but no URL that only accepts forms.", async () => {
    const rules = await readRobots();
    const files = readdirSync("app/routes").filter((name) => /^actions\..*\.tsx?$/.test(name));
    const forms = files.map((name) => `/${name.replace(/\.tsx?$/, "").replaceAll(/_?\./g, "/")}`);
    expect(forms).toEqual(expect.arrayContaining(["/actions/quote", "/actions/theme"]));
    expect(forms.filter((path) => isCrawlAllowed(rules, path))).toEqual([]);
    for (const { slug } of articles) expect(isCrawlAllowed(rules, `/resources/blog/${slug}`)).toBe(true);
  });
});

/**
 * Returns the public file at `path` as text. Checks that the file has the media type `type` and a cache lifetime of one
 * hour, and that the response sets no cookie.
 */
async function fetchText(path: string, type: string): Promise<string> {
  const response = await visitor.get(path);
  expect(response.status).toBe(200);
  expect(response.headers.get("Content-Type")).toBe(type);
  expect(response.headers.get("Cache-Control")).toBe("public, max-age=3600");
  expect(response.headers.getSetCookie()).toEqual([]);
  return response.text();
}

/** Returns the texts of all elements `name` in `xml`. */
function listElements(xml: string, name: string): string[] {
  const elements = [...xml.matchAll(new RegExp(`<${name}(?: [^>]*)?>([^<]*)</${name}>`, "g"))];
  return elements.map(([, text = ""]) => text.replace(/&#(\d+);/g, (_, code) => String.fromCharCode(Number(code))));
}

/** True if the robots.txt text `rules` allows `path` for all crawlers. The longest matching rule decides (RFC 9309). */
function isCrawlAllowed(rules: string, path: string): boolean {
  const matching = [...rules.matchAll(/^(Allow|Disallow): (\S+)$/gm)].filter(([, , prefix = ""]) =>
    path.startsWith(prefix),
  );
  const [longest] = matching.sort(([, , a = ""], [, , b = ""]) => b.length - a.length);
  return longest?.[1] !== "Disallow";
}
