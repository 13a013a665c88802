import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { createElement } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import { createRoutesStub } from "react-router";
import { createServer } from "vite";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { ArticleData } from "../../app/components/site/structured-data.tsx";
import { compileMdx, mdxPlugin } from "../../app/lib/build/mdx.ts";
import { calendarDate } from "../../app/lib/dates.ts";
import type * as articleModel from "../../app/models/article.server.ts";
import { companyDetails } from "../../app/models/content.server.ts";
import { publicPages } from "../support/public-pages.ts";
import { getTestApp, getText, origin, type ParsedPage, type TestBrowser } from "../support/test-app.ts";

const root = path.resolve(import.meta.dirname, "../..");
const blogFolder = path.join(root, "content/blog");

type ArticleFile = {
  slug: string;
  title: string;
  category: string;
  date: string;
  excerpt: string;
  placeholder?: boolean;
  glance?: string[];
};
/** The articles as their files have them, newest first. */
const articles = readdirSync(blogFolder)
  .map((name): ArticleFile => {
    const [, frontmatter = ""] = readFileSync(path.join(blogFolder, name), "utf8").split(/^---$/m);
    return { slug: path.basename(name, ".mdx"), ...parse(frontmatter) };
  })
  .sort((a, b) => b.date.localeCompare(a.date));
const publishedArticles = articles.filter(({ placeholder }) => !placeholder);
const categories = [...new Set(articles.map(({ category }) => category))].sort();

/** The module of articles, as the build has it. */
async function loadArticleModel(): Promise<typeof articleModel> {
  const vite = await createServer({
    configFile: false,
    root,
    plugins: [mdxPlugin()],
    server: { middlewareMode: true, watch: null },
    logLevel: "error",
  });
  const model = (await vite.ssrLoadModule("/app/models/article.server.ts")) as typeof articleModel;
  await vite.close();
  return model;
}

let app: Awaited<ReturnType<typeof getTestApp>>;
let visitor: TestBrowser;
beforeAll(async () => {
  app = await getTestApp();
  visitor = app.browser();
});

const listSlugs = (page: ParsedPage) =>
  page.all("main ol article a").map((link) => link.getAttribute("href")?.replace("/resources/blog/", ""));
const hasNoindex = (page: ParsedPage) => page.all('meta[name="robots"][content="noindex"]').length === 1;
const readStructuredData = (page: ParsedPage) =>
  page.all('script[type="application/ld+json"]').map((script) => JSON.parse(script.rawText) as Record<string, unknown>);

test("the content has the twenty articles of the specification, five of them written", () => {
  expect(articles).toHaveLength(20);
  expect([articles[0]?.date, articles.at(-1)?.date]).toEqual(["2025-10-15", "2025-08-10"]);
  expect(publishedArticles).toEqual(articles.slice(0, 5));
  const named =
    "Automotive, Compliance, Freight, Customs, Clearance, Sustainability, Documentation, Industries, Removals, ";
  expect(categories).toEqual(
    `${named}Technology, Specialized, Risk Management, Logistics, Exports, Case Study`.split(", ").sort(),
  );
});

describe("the list of articles", () => {
  test("shows all of them, newest first, each with category, date, title, excerpt and a way to read more", async () => {
    const page = await visitor.open("/resources/blog");
    expect(page.status).toBe(200);
    expect(page.title).toBe("Blog · Mizigo Clearing & Forwarding");
    expect(listSlugs(page)).toEqual(articles.map(({ slug }) => slug));
    const cards = page.all("main ol article");
    for (const [index, { title, category, date, excerpt, placeholder }] of articles.entries()) {
      const said = [
        category,
        calendarDate(date),
        placeholder && "Being written",
        title,
        excerpt,
        `Read More about ${title}`,
      ];
      expect(getText(cards[index])).toBe(said.filter(Boolean).join(" "));
    }
    expect(hasNoindex(page)).toBe(false);
  });

  test("leads with what can be read, each with its drawing, and has what is being written under a heading of its own", async () => {
    const page = await visitor.open("/resources/blog");
    const [cards, planned, ...others] = page.all("main ol");
    expect(others).toEqual([]);
    expect(cards?.querySelectorAll("article h2").map(getText)).toEqual(publishedArticles.map(({ title }) => title));
    expect(cards?.querySelectorAll("use")).toHaveLength(publishedArticles.length);
    expect(page.all("main h2").map(getText).slice(publishedArticles.length)).toEqual(["In preparation"]);
    const unwritten = articles.filter(({ placeholder }) => placeholder).map(({ title }) => title);
    expect(planned?.querySelectorAll("article h3").map(getText)).toEqual(unwritten);
    expect(planned?.querySelectorAll("use")).toEqual([]);
  });

  test("has what can be read before what is being written, whatever their dates", async () => {
    const { sortPlaceholdersLast: readableFirst } = await loadArticleModel();
    const one = { title: "T", category: "Customs" as const, date: "2025-10-15", excerpt: "E" };
    const list = [true, false, true, false].map((placeholder, index) => ({ ...one, slug: String(index), placeholder }));
    expect(readableFirst(list).map(({ slug }) => slug)).toEqual(["1", "3", "0", "2"]);
    expect(list.map(({ slug }) => slug)).toEqual(["0", "1", "2", "3"]);
  });

  test("offers All and each category that has articles, in a form that needs no script", async () => {
    const page = await visitor.open("/resources/blog");
    expect(page.form("Show").action).toBe("/resources/blog");
    expect(page.all("main form").map((form) => form.getAttribute("method"))).toEqual(["get"]);
    expect(page.all("main select[name=category] option").map(getText)).toEqual(["All", ...categories]);
    expect(getText(page.all("main label[for=category]")[0])).toBe("Category");
  });

  test.each(categories)("of the category %s shows its articles, no others, and keeps the choice", async (category) => {
    const page = await visitor.open(`/resources/blog?${new URLSearchParams({ category })}`);
    expect(page.status).toBe(200);
    expect(listSlugs(page)).toEqual(articles.filter((one) => one.category === category).map(({ slug }) => slug));
    expect(page.all("main option[selected]").map(getText)).toEqual([category]);
  });

  test.each(["?category=All", "?category=", "?page=1", "?quote"])("at %s shows all", async (query) => {
    expect(listSlugs(await visitor.open(`/resources/blog${query}`))).toHaveLength(20);
  });

  test.each(["Gardening", "customs", "Customs ", "constructor", "<script>alert(1)</script>"])(
    "of the unknown category %s says that there are none, and repeats nothing",
    async (category) => {
      const page = await visitor.open(`/resources/blog?${new URLSearchParams({ category })}`);
      expect(page.status).toBe(200);
      expect(getText(page.all("main h2")[0])).toBe("No Articles Found");
      expect(page.text).toContain("Please try a different category.");
      expect(listSlugs(page)).toEqual([]);
      expect(page.text).not.toMatch(/Gardening|constructor|alert/);
      expect(page.html).not.toContain("<script>alert");
      expect(hasNoindex(page)).toBe(true);
    },
  );

  test.each(["0", "-1", "2", "1.5", "1e9", "NaN", "Infinity", "x", "99999999999999999999"])(
    "at the page %s, which it does not have, shows the nearest one",
    async (number) => {
      const page = await visitor.open(`/resources/blog?page=${number}`);
      expect(page.status).toBe(200);
      expect(listSlugs(page)).toEqual(articles.map(({ slug }) => slug));
      expect(page.all("nav[aria-label='Pages of articles']")).toEqual([]);
    },
  );

  test("sends no more of 2,000 articles than of 20", async () => {
    const { paginateArticles: pageOf } = await loadArticleModel();
    const one = { title: "T", category: "Customs" as const, date: "2025-10-15", excerpt: "E", placeholder: false };
    const many = Array.from({ length: 2000 }, (_, index) => ({ ...one, slug: String(index + 1) }));
    const slugs = (asked: number) => pageOf(many, asked).articles.map(({ slug }) => slug);
    expect(pageOf(many, 1)).toMatchObject({ page: 1, pages: 100 });
    expect(slugs(1)).toEqual(many.slice(0, 20).map(({ slug }) => slug));
    expect(slugs(100).at(-1)).toBe("2000");
    expect(slugs(101)).toEqual(slugs(100));
    expect(new Set(Array.from({ length: 100 }, (_, index) => slugs(index + 1)).flat()).size).toBe(2000);
    expect(pageOf(many.slice(0, 21), 2)).toMatchObject({ articles: [{ slug: "21" }], page: 2, pages: 2 });
    expect(pageOf([], 1)).toEqual({ articles: [], page: 1, pages: 1 });
  });
});

test("an article that can be read has a drawing and three to five points at a glance, a placeholder neither", async () => {
  const { Frontmatter } = await loadArticleModel();
  const one = { title: "T", category: "Customs", date: "2025-10-15", excerpt: "E" };
  const both = { scene: "stamped-entry", glance: ["A", "B", "C"] };
  const accepts = (more: object) => Frontmatter.safeParse({ ...one, ...more }).success;
  expect(accepts(both)).toBe(true);
  expect(accepts({ placeholder: true })).toBe(true);
  for (const wrong of [
    {},
    { glance: both.glance },
    { scene: both.scene },
    { ...both, scene: "no-such-scene" },
    { ...both, glance: ["A", "B"] },
    { ...both, glance: ["A", "B", "C", "D", "E", "F"] },
    { ...both, glance: ["A", "B", "C".repeat(121)] },
    { ...both, placeholder: true },
  ])
    expect(accepts(wrong), JSON.stringify(wrong)).toBe(false);
});

describe.each(articles)("the article $slug", ({ slug, title, category, date, excerpt, placeholder, glance }) => {
  let page: ParsedPage;
  beforeAll(async () => {
    page = await visitor.open(`/resources/blog/${slug}`);
  });

  test("ends with what it costs, the quote for its service, and two other articles that are written", () => {
    const [next] = page.all("main aside");
    const links = next?.querySelectorAll("a").map((link) => link.getAttribute("href") ?? "") ?? [];
    expect(links.slice(0, 2)).toEqual(["/resources/cost", expect.stringMatching(/^\/quote\?service=[a-z-]+$/)]);
    const others = links.slice(2);
    expect(others).toHaveLength(2);
    const possible = publishedArticles.filter((one) => one.slug !== slug);
    for (const other of others) expect(possible.map((one) => `/resources/blog/${one.slug}`)).toContain(other);
    // Those of its own category come first.
    const own = possible.filter((one) => one.category === category).map((one) => `/resources/blog/${one.slug}`);
    expect(others.filter((other) => own.includes(other))).toHaveLength(Math.min(2, own.length));
  });

  test("answers with its title, category, date and ways back", () => {
    expect(page.status).toBe(200);
    expect(page.title).toBe(`${title} · Mizigo Clearing & Forwarding`);
    expect(page.all("h1").map(getText)).toEqual([title]);
    expect(page.text).toMatch(new RegExp(`^Back to All Articles ${category} ${calendarDate(date)} `));
    expect(page.all("main time").map((time) => time.getAttribute("datetime"))).toEqual([date]);
    const links = page.all("main a").map((link) => [getText(link), link.getAttribute("href")]);
    expect(links).toContainEqual(["Back to All Articles", "/resources/blog"]);
    expect(links).toContainEqual([category, `/resources/blog?${new URLSearchParams({ category })}`]);
  });

  test("tells search engines its address and excerpt", () => {
    const canonical = page.all("link[rel=canonical]").map((link) => link.getAttribute("href"));
    expect(canonical).toEqual([`${origin}/resources/blog/${slug}`]);
    expect(page.all('meta[name="description"]').map((meta) => meta.getAttribute("content"))).toEqual([excerpt]);
    expect(page.all('meta[property="og:type"]').map((meta) => meta.getAttribute("content"))).toEqual(["article"]);
  });

  if (placeholder) {
    test("is said to be unfinished and stays out of search engines", () => {
      expect(page.text).toContain("Being written");
      expect(getText(page.all(".prose")[0])).toBe(`Full content for ${title}.`);
      expect(hasNoindex(page)).toBe(true);
      expect(readStructuredData(page)).toEqual([]);
    });

    test("has nothing at a glance", () => expect(page.all("#glance, main use[href^='/art/']")).toEqual([]));
    return;
  }

  test("begins with what matters at a glance, in figures that its text has, beside a drawing that is there", () => {
    const [section] = page.all("main section[aria-labelledby=glance]");
    expect(getText(section?.querySelector("h2"))).toBe("At a glance");
    expect(section?.querySelectorAll("li").map(getText)).toEqual(glance);
    expect(page.html.indexOf('id="glance"')).toBeLessThan(page.html.indexOf('class="prose"'));
    const body = getText(page.all(".prose")[0]);
    for (const figure of glance?.join(" ").match(/\d[\d,.-]*\d|\d/g) ?? []) expect(body).toContain(figure);
    expect(getText(section)).toContain("as of October 2025");
    const drawing = section?.querySelector("use")?.getAttribute("href") ?? "";
    expect(existsSync(path.join(root, "public", drawing.replace("#art", ""))), drawing).toBe(true);
  });

  test("may be found, with the facts of an article", () => {
    expect(hasNoindex(page)).toBe(false);
    const publisher = {
      "@type": "Organization",
      "@id": `${origin}/#company`,
      name: companyDetails.name,
      url: `${origin}/`,
    };
    expect(readStructuredData(page)).toMatchObject([
      {
        "@type": "Article",
        headline: title,
        description: excerpt,
        articleSection: category,
        datePublished: date,
        publisher,
      },
    ]);
  });

  test("says how long it takes to read, and has a body with contents that lead to its sections", () => {
    expect(page.text).toMatch(/ [5-9] min read /);
    const sections = page.all(".prose h2").map((section) => [getText(section), `#${section.id}`]);
    expect(sections.length).toBeGreaterThanOrEqual(8);
    const contents = page.all("main nav a");
    expect(contents.map((link) => [getText(link), link.getAttribute("href")])).toEqual(sections);
    const ids = page.all("[id]").map((element) => element.id);
    expect(ids).toEqual([...new Set(ids)]);
  });

  test("has tables with a name each, whose cells say their column and stay cells in any layout, without a style", () => {
    const tables = page.all(".prose .table-frame > table[role=table]");
    expect(tables.length).toBeGreaterThanOrEqual(3);
    expect(page.all(".prose table")).toHaveLength(tables.length);
    expect(new Set(tables.map((table) => table.getAttribute("aria-label"))).size).toBe(tables.length);
    for (const table of tables) {
      const heads = table.querySelectorAll("thead th[role=columnheader][scope=col]").map(getText);
      expect(table.querySelectorAll("thead > tr > *")).toHaveLength(heads.length);
      const rows = table.querySelectorAll("tbody > tr[role=row]");
      expect(table.querySelectorAll("tr")).toHaveLength(rows.length + 1);
      for (const row of rows) {
        const cells = row.querySelectorAll("th[role=rowheader][scope=row], td[role=cell]");
        expect(cells.map((cell) => cell.getAttribute("data-label"))).toEqual(heads);
        expect(cells.map(({ tagName }) => tagName)).toEqual(["TH", ...Array(heads.length - 1).fill("TD")]);
        expect(row.classList.contains("total")).toBe(cells[0]?.querySelector("strong") != null);
      }
    }
    expect(page.all("main [style], main [align]")).toEqual([]);
  });

  test("sends its body once with the page, and with a request for data", async () => {
    const sentence =
      page
        .all(".prose p")
        .map(getText)
        .find((text) => /^[\w ,.]{60,}$/.test(text)) ?? "no such sentence";
    expect(page.html.split(sentence)).toHaveLength(2);
    expect(await (await visitor.get(`/resources/blog/${slug}.data`)).text()).toContain(sentence);
  });

  test("says as of when its rates are", () => {
    expect(getText(page.all(".prose")[0])).toMatch(/as of October 2025/i);
  });
});

test.each(["no-such-article", "Lcl-vs-fcl", "lcl-vs-fcl.mdx", "constructor", "__proto__", "rss", "%00", "a%2Fb"])(
  "the unknown slug %s leads to the list without a word",
  async (slug) => {
    const response = await visitor.get(`/resources/blog/${slug}`);
    expect(response.status).toBe(303);
    expect(response.headers.get("Location")).toBe("/resources/blog");
    expect(response.headers.getSetCookie()).toEqual([]);
  },
);

test.each([
  ["importing-a-car-to-kenya", "under 8 years old, counted from its first registration"],
  ["importing-a-car-to-kenya", "first registered in 2018 or later"],
  ["importing-a-car-to-kenya", "Right-hand drive only."],
  ["importing-a-car-to-kenya", "penalty for a missing certificate of conformity is 15% of the customs value"],
  ["importing-a-car-to-kenya", "Import duty 25% CIF"],
  ["importing-a-car-to-kenya", "Excise duty 20-35%, by engine size and fuel CIF plus import duty"],
  ["importing-a-car-to-kenya", "VAT 16% CIF plus import duty plus excise duty"],
  ["importing-a-car-to-kenya", "Import declaration fee 3.5% CIF"],
  ["importing-a-car-to-kenya", "Railway development levy 2% CIF"],
  ["aeo-benefits-for-importers", "import duty: 25% of CIF"],
  ["aeo-benefits-for-importers", "excise duty on vehicles: 20-35% of CIF plus duty"],
  ["aeo-benefits-for-importers", "import declaration fee: 3.5% of CIF"],
  ["aeo-benefits-for-importers", "railway development levy: 2% of CIF"],
  ["aeo-benefits-for-importers", "face a penalty of 15% of customs value"],
  ["lcl-vs-fcl", "LCL suits 1-15 CBM."],
  ["lcl-vs-fcl", "FCL suits over 15 CBM."],
  ["lcl-vs-fcl", "LCL adds 1-2 weeks"],
  ["hs-codes-explained", "a penalty of 15% of customs value"],
  ["hs-codes-explained", "16% as of October 2025"],
  ["port-clearance-mistakes", "Standard clearance at Mombasa takes 2-4 working days"],
  ["port-clearance-mistakes", "penalty for a missing certificate of conformity is 15% of customs value"],
])("%s states: %s", async (slug, fact) => {
  expect(getText((await visitor.open(`/resources/blog/${slug}`)).all(".prose")[0])).toContain(fact);
});

describe("the privacy policy", () => {
  test("has its date, fifteen numbered sections and a table of contents", async () => {
    const page = await visitor.open("/privacy");
    expect(page.title).toBe("Privacy policy · Mizigo Clearing & Forwarding");
    expect(page.text).toMatch(/^Privacy policy Last updated 22 October 2025 /);
    expect(listSectionNumbers(page)).toEqual(createRange(15));
    expect(page.all("main nav a").map(getText)).toEqual(page.all(".prose h2").map(getText));
  });

  test.each([
    "Data Protection Act, 2019",
    "no longer than 7 years",
    "within 72 hours",
    "within 14 days",
    "minors under 18",
  ])("states: %s", async (fact) => expect((await visitor.open("/privacy")).text).toContain(fact));
});

test.each(["/privacy", "/terms", "/legal"])(
  "%s begins with what matters at a glance, in figures that its text has",
  async (path) => {
    const page = await visitor.open(path);
    const points = page.all("main section[aria-labelledby=glance] li").map(getText);
    expect(points.length).toBeGreaterThanOrEqual(3);
    expect(page.html.indexOf('id="glance"')).toBeLessThan(page.html.indexOf('class="prose"'));
    const body = getText(page.all(".prose")[0]);
    for (const figure of points.join(" ").match(/\d+/g) ?? []) expect(body).toContain(figure);
  },
);

test("the terms have their date, sixteen sections in order, and lead to the privacy policy", async () => {
  const page = await visitor.open("/terms");
  expect(page.text).toMatch(/^Terms of service Effective 22 October 2025 /);
  expect(listSectionNumbers(page)).toEqual(createRange(16));
  const order = ["Introduction", "Company information", "Eligibility", "Use of services", "Intellectual property"];
  order.push("Pricing", "Payment", "Data protection", "Third-party links", "Disclaimers", "Limitation of liability");
  order.push("Indemnification", "Termination", "Governing law", "Changes", "Contact");
  expect(page.all(".prose h2").map((section) => getText(section).replace(/^\d+\. /, ""))).toEqual(order);
  expect(page.all(".prose a").map((link) => link.getAttribute("href"))).toContain("/privacy");
  expect(page.all("main nav a").map(getText)).toEqual(page.all(".prose h2").map(getText));
  expect(page.text).toContain("arbitration in Nairobi");
});

test("the legal notice has its nine parts, with the registration number and the courts", async () => {
  const page = await visitor.open("/legal");
  const parts = ["Company registration details", "Copyright", "Disclaimer", "Liability", "External links"];
  parts.push("Data protection", "E-mail disclaimer", "Governing law", "Legal correspondence");
  expect(page.all(".prose h2").map(getText)).toEqual(parts);
  expect(page.all("main nav a").map(getText)).toEqual(parts);
  expect(page.text).toContain("Registration number: SAMPLE-CPR-0000");
  expect(page.text).toContain("The courts in Nairobi have jurisdiction");
});

test("the additional information is four labels with their values", async () => {
  const page = await visitor.open("/additional-info");
  expect(
    page.all("main dl > div").map((row) => [getText(row.querySelector("dt")), getText(row.querySelector("dd"))]),
  ).toEqual([
    ["Customs agent licence number", "SAMPLE-CAL-0000"],
    ["Authorised economic operator number", "SAMPLE-AEO-0000"],
    ["Tax authority PIN", "SAMPLE-PIN-0000"],
    ["Managing director", "Amina Barasa"],
  ]);
});

describe("the site map", () => {
  let locations: string[];
  let xml: string;
  beforeAll(async () => {
    xml = await fetchText("/sitemap.xml", "application/xml; charset=utf-8");
    locations = listElements(xml, "loc");
  });

  test("is XML and lists the public pages and exactly the written articles, by their full addresses", () => {
    const posts = locations.filter((location) => location.includes("/blog/"));
    expect(posts).toEqual(publishedArticles.map(({ slug }) => `${origin}/resources/blog/${slug}`));
    const pages = publicPages.filter((page) => page !== "/no-such-page" && !page.includes("/blog/"));
    expect(locations.filter((location) => !posts.includes(location)).sort()).toEqual(
      pages.map((one) => origin + one).sort(),
    );
  });

  test("says when each article was written and when the dated legal texts changed", () => {
    const changes = [...xml.matchAll(/<loc>([^<]+)<\/loc><lastmod>([^<]+)<\/lastmod>/g)].map(([, url, date]) => [
      url,
      date,
    ]);
    expect(Object.fromEntries(changes)).toEqual({
      [`${origin}/privacy`]: "2025-10-22",
      [`${origin}/terms`]: "2025-10-22",
      ...Object.fromEntries(publishedArticles.map(({ slug, date }) => [`${origin}/resources/blog/${slug}`, date])),
    });
  });

  test("lists only pages that are there, may be found and crawled, and name no other address as theirs", async () => {
    const rules = await fetchText("/robots.txt", "text/plain; charset=utf-8");
    for (const location of locations) {
      const page = await visitor.open(location);
      expect(page.status, location).toBe(200);
      expect(hasNoindex(page), location).toBe(false);
      const canonical = page.all("link[rel=canonical]").map((link) => link.getAttribute("href"));
      expect(canonical.filter((address) => address !== location)).toEqual([]);
      expect(isCrawlAllowed(rules, new URL(location).pathname), location).toBe(true);
    }
  });
});

test("the feed is RSS of the written articles with full addresses and dates", async () => {
  const xml = await fetchText("/resources/blog/rss.xml", "application/rss+xml; charset=utf-8");
  const urls = publishedArticles.map(({ slug }) => `${origin}/resources/blog/${slug}`);
  expect(xml).toMatch(/^<\?xml version="1.0" encoding="UTF-8"\?>\n<rss version="2.0"/);
  expect(listElements(xml, "title")).toEqual([
    `${companyDetails.name}: Blog`,
    ...publishedArticles.map(({ title }) => title),
  ]);
  expect(listElements(xml, "link")).toEqual([`${origin}/resources/blog`, ...urls]);
  expect(listElements(xml, "guid")).toEqual(urls);
  expect(listElements(xml, "category")).toEqual(publishedArticles.map(({ category }) => category));
  expect(listElements(xml, "description").slice(1)).toEqual(publishedArticles.map(({ excerpt }) => excerpt));
  const dates = listElements(xml, "pubDate");
  expect(dates[0]).toBe("Wed, 15 Oct 2025 00:00:00 +0000");
  expect(dates.map((date) => new Date(date).toISOString().slice(0, 10))).toEqual(
    publishedArticles.map(({ date }) => date),
  );
});

describe("robots.txt", () => {
  let rules: string;
  beforeAll(async () => {
    rules = await fetchText("/robots.txt", "text/plain; charset=utf-8");
  });

  test("names the site map", () => expect(rules).toContain(`\nSitemap: ${origin}/sitemap.xml\n`));

  const unlisted = ["/login", "/signup", "/auth/confirm", "/login/verify", "/portal", "/portal/new", "/quote"];
  test.each(unlisted)("lets crawlers in to %s, where they hear that it must not be found", async (address) => {
    expect(isCrawlAllowed(rules, address)).toBe(true);
    const page = await visitor.open(address);
    expect(page.headers.get("X-Robots-Tag") === "noindex" || hasNoindex(page)).toBe(true);
  });

  test("keeps crawlers from every address that only takes forms, and lets them read the blog", () => {
    const files = readdirSync(path.join(root, "app/routes")).filter((name) => /^actions\..*\.tsx?$/.test(name));
    const forms = files.map((name) => `/${name.replace(/\.tsx?$/, "").replaceAll(/_?\./g, "/")}`);
    expect(forms).toEqual(expect.arrayContaining(["/actions/quote", "/actions/theme"]));
    for (const address of forms) expect(isCrawlAllowed(rules, address), address).toBe(false);
    for (const { slug } of articles) expect(isCrawlAllowed(rules, `/resources/blog/${slug}`)).toBe(true);
  });
});

test("none of these pages and files asks the backend anything, and all are there when it is dead", async () => {
  const paths = ["/resources/blog", "/resources/blog/lcl-vs-fcl", "/privacy", "/terms", "/legal", "/additional-info"];
  const calls = await app.proxy.during(async () => {
    app.proxy.fail("close");
    for (const address of [...paths, "/sitemap.xml", "/robots.txt", "/resources/blog/rss.xml"]) {
      expect((await visitor.get(address)).status, address).toBe(200);
    }
    app.proxy.fail("none");
  });
  expect(calls).toEqual([]);
});

test("a text that was meant to end the structured data stays inside it", () => {
  const title = '</script><script>alert("x")</script><!-- & \u2028';
  const article = { ...(publishedArticles[0] as ArticleFile), title, category: "Customs" as const, placeholder: false };
  const Page = createRoutesStub([
    { id: "root", path: "/", Component: () => createElement(ArticleData, { article }), HydrateFallback: () => null },
  ]);
  const hydrationData = { loaderData: { root: { company: companyDetails, origin } } };
  const html = renderToStaticMarkup(createElement(Page, { hydrationData }));
  const [, json = ""] = /^<script type="application\/ld\+json">(.*)<\/script>$/s.exec(html) ?? [];
  expect(json).not.toContain("<");
  expect(JSON.parse(json)).toMatchObject({ "@context": "https://schema.org", headline: title });
});

describe("a text of content/, compiled,", () => {
  const folder = mkdtempSync(path.join(tmpdir(), "mdx-"));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const compile = (text: string) => {
    const file = path.join(folder, `${Math.random().toString(36).slice(2)}.mdx`);
    writeFileSync(file, text);
    return compileMdx(file);
  };

  test("aligns columns by class, because inline styles are refused", async () => {
    const { html } = await compile("| A | B | C |\n| --- | :-: | --: |\n| 1 | 2 | 3 |\n");
    expect(html).not.toMatch(/style=|align="/);
    expect(html.match(/<t[hd] [^>]*data-label="(.)"[^>]*>./g)?.map((cell) => /align-\w+/.exec(cell)?.[0])).toEqual([
      undefined,
      "align-center",
      "align-right",
    ]);
  });

  test("gives every section an id of its own, without its number", async () => {
    const { html, headings } = await compile("## 1. Who we are\n\n## Who *we* are\n\n## 2. Ünïts & fees\n");
    expect(headings.map(({ id }) => id)).toEqual(["who-we-are", "who-we-are-1", "ünïts--fees"]);
    expect(headings[1]?.text).toBe("Who we are");
    for (const { id } of headings) expect(html).toContain(`<h2 id="${id}">`);
  });

  test("takes the company from its one place, and escapes what is no Markdown", async () => {
    const { html, words } = await compile("{company.name}, {company.tax_pin}\n");
    expect(html).toBe("<p>Mizigo Clearing &amp; Forwarding, SAMPLE-PIN-0000</p>");
    expect(words).toBe(5);
  });

  test("is refused when it is no MDX", async () => {
    await expect(compile("A { that nobody closes\n")).rejects.toThrow(/mdx/i);
  });
});

test.each([
  ["2025-10-15", "15 October 2025"],
  ["2025-08-10", "10 August 2025"],
  ["2024-02-29", "29 February 2024"],
  ["2025-01-01", "1 January 2025"],
  ["2025-12-31", "31 December 2025"],
])("the calendar date %s is shown as %s", (date, shown) => {
  expect(calendarDate(date)).toBe(shown);
});

function createRange(last: number): number[] {
  return Array.from({ length: last }, (_, index) => index + 1);
}

function listSectionNumbers(page: ParsedPage): number[] {
  return page.all(".prose h2").map((section) => Number(/^(\d+)\. \S/.exec(getText(section))?.[1]));
}

/** The text of a public file. Expects this media type, no cookie, and a cache lifetime of an hour. */
async function fetchText(address: string, type: string): Promise<string> {
  const response = await visitor.get(address);
  expect(response.status).toBe(200);
  expect(response.headers.get("Content-Type")).toBe(type);
  expect(response.headers.get("Cache-Control")).toBe("public, max-age=3600");
  expect(response.headers.getSetCookie()).toEqual([]);
  return response.text();
}

/** The texts of the elements with this name. Throws unless every element is closed in order and every sign escaped. */
function listElements(xml: string, name: string): string[] {
  const open: string[] = [];
  const found: string[] = [];
  for (const [, text = "", tag = ""] of xml
    .trim()
    .replace(/^<\?xml[^>]*\?>/, "")
    .matchAll(/([^<]*)<([^<>]*)>|[\s\S]/g)) {
    const [, closing, called = "", rest = ""] = /^(\/?)([a-z:A-Z]+)((?: [\w:]+="[^"<]*")*)\/?$/.exec(tag) ?? [];
    if (!called || />|&(?!#\d+;)/.test(text + rest)) throw new Error(`no XML at ${text}<${tag}>`);
    if (closing && open.pop() !== called) throw new Error(`${called} is closed out of order`);
    if (closing && called === name)
      found.push(text.replace(/&#(\d+);/g, (_, code) => String.fromCharCode(Number(code))));
    if (!closing && !tag.endsWith("/")) open.push(called);
  }
  if (open.length > 0) throw new Error(`${open} is never closed`);
  return found;
}

/** Whether rules for all crawlers allow a path: of the rules that fit, the longest decides (RFC 9309). */
function isCrawlAllowed(rules: string, address: string): boolean {
  const fitting = [...rules.matchAll(/^(Allow|Disallow): (\S+)$/gm)].filter(([, , begins = ""]) =>
    address.startsWith(begins),
  );
  const [longest] = fitting.sort(([, , a = ""], [, , b = ""]) => b.length - a.length);
  return longest?.[1] !== "Disallow";
}
