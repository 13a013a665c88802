import { existsSync } from "node:fs";
import path from "node:path";
import { createElement } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import { createRoutesStub } from "react-router";
import { beforeAll, describe, expect, test } from "vitest";
import { ArticleData } from "../../app/components/site/structured-data.tsx";
import { companyDetails } from "../../app/models/content.server.ts";
import { type ArticleFile, articles, placeholderArticles, publishedArticles } from "../support/articles.ts";
import { getHref } from "../support/page-parts.ts";
import { listDuplicateIds } from "../support/route-fixtures.ts";
import { getTestApp, getText, origin, type ParsedPage } from "../support/test-app.ts";

const blogPath = "/resources/blog";
const categories = [...new Set(articles.map(({ category }) => category))].sort();

const app = await getTestApp();
const visitor = app.browser();

const openCategory = (category: string) => visitor.open(`${blogPath}?${new URLSearchParams({ category })}`);
const listSlugs = (page: ParsedPage) =>
  page.all("main ol article a").map((link) => link.getAttribute("href")?.replace(`${blogPath}/`, ""));
const hasNoindex = (page: ParsedPage) => page.all('meta[name="robots"][content="noindex"]').length === 1;
const readStructuredData = (page: ParsedPage) =>
  page.all('script[type="application/ld+json"]').map((script) => JSON.parse(script.rawText) as Record<string, unknown>);
const formatDay = (date: string) =>
  new Date(date).toLocaleDateString("en-GB", { day: "numeric", month: "long", year: "numeric", timeZone: "UTC" });

test("The blog has the twenty articles of the specification in fifteen categories. The newest five articles have a text.", () => {
  expect(articles).toHaveLength(20);
  expect([articles[0]?.date, articles.at(-1)?.date]).toEqual(["2025-10-15", "2025-08-10"]);
  expect(publishedArticles).toEqual(articles.slice(0, 5));
  const specified =
    "Automotive, Case Study, Clearance, Compliance, Customs, Documentation, Exports, Freight, Industries, Logistics, Removals, Risk Management, Specialized, Sustainability, Technology";
  expect(categories.join(", ")).toBe(specified);
});

describe("List of articles", () => {
  test("The list shows first the written articles with drawings, then the others under their own heading, both newest first.", async () => {
    const page = await visitor.open(blogPath);
    expect([page.status, page.title]).toEqual([200, "Blog · Mizigo Clearing & Forwarding"]);
    expect(listSlugs(page)).toEqual(articles.map(({ slug }) => slug));
    const cards = articles.map(({ title, category, date, excerpt, placeholder }) => {
      const state = placeholder ? ["Coming soon"] : [];
      return [category, formatDay(date), ...state, title, excerpt, `Read More: ${title}`].join(" ");
    });
    expect(page.all("main ol article").map(getText)).toEqual(cards);
    expect(hasNoindex(page)).toBe(false);
    const [written, planned, ...others] = page.all("main ol");
    expect(others).toEqual([]);
    expect(written?.querySelectorAll("article h2").map(getText)).toEqual(publishedArticles.map(({ title }) => title));
    expect(written?.querySelectorAll("use")).toHaveLength(publishedArticles.length);
    expect(page.all("main h2").map(getText).slice(publishedArticles.length)).toEqual(["Coming soon"]);
    expect(planned?.querySelectorAll("article h3").map(getText)).toEqual(placeholderArticles.map(({ title }) => title));
    expect(planned?.querySelectorAll("use")).toEqual([]);
  });

  test("Without script, a form offers 'All' and each category, and the list shows exactly the articles of the chosen category.", async () => {
    const page = await visitor.open(blogPath);
    expect(page.form("Show").action).toBe(blogPath);
    expect(page.all("main form").map((form) => form.getAttribute("method"))).toEqual(["get"]);
    expect(page.all("main select[name=category] option").map(getText)).toEqual(["All", ...categories]);
    expect(getText(page.all("main label[for=category]")[0])).toBe("Category");
    for (const category of ["Customs", "Case Study", categories.at(-1) ?? ""]) {
      const list = await openCategory(category);
      const slugs = articles.filter((article) => article.category === category).map(({ slug }) => slug);
      expect([category, list.status, listSlugs(list)]).toEqual([category, 200, slugs]);
      expect(list.all("main option[selected]").map(getText)).toEqual([category]);
    }
  });

  test("The list of articles of an unknown category is empty, does not show the category's name, and is not indexed.", async () => {
    for (const category of ["customs", "Customs ", "constructor", "<script>alert(1)</script>"]) {
      const page = await openCategory(category);
      expect([page.status, getText(page.all("main h2")[0])]).toEqual([200, "No Articles Found"]);
      expect(page.text).toContain("Please try a different category.");
      expect([listSlugs(page), hasNoindex(page)]).toEqual([[], true]);
      expect(page.text).not.toMatch(/constructor|alert/);
      expect(page.html).not.toContain("<script>alert");
    }
  });

  test("The list of articles ignores an empty category and invalid page numbers.", async () => {
    for (const query of ["category=All", "category=", "page=0", "page=2", "page=1.5", "page=1e9"]) {
      const page = await visitor.open(`${blogPath}?${query}`);
      expect([query, page.status, listSlugs(page)]).toEqual([query, 200, articles.map(({ slug }) => slug)]);
      expect(page.all("nav[aria-label='Pages of articles']")).toEqual([]);
    }
  });
});

test.each(articles)(
  "The article $slug shows title, category and date, has a URL and an excerpt for search engines, and links to related pages.",
  async ({ slug, title, category, date, excerpt }) => {
    const page = await visitor.open(`${blogPath}/${slug}`);
    const getAttributes = (selector: string, name: string) => page.all(selector).map((each) => each.getAttribute(name));
    expect([page.status, page.title]).toEqual([200, `${title} · Mizigo Clearing & Forwarding`]);
    expect(page.all("h1").map(getText)).toEqual([title]);
    expect(page.text).toMatch(new RegExp(`^Back to All Articles ${category} ${formatDay(date)} `));
    expect(getAttributes("main time", "datetime")).toEqual([date]);
    expect(getHref(page, "Back to All Articles")).toBe(blogPath);
    expect(getHref(page, category)).toBe(`${blogPath}?${new URLSearchParams({ category })}`);
    expect(getAttributes("link[rel=canonical]", "href")).toEqual([`${origin}${blogPath}/${slug}`]);
    expect(getAttributes('meta[name="description"]', "content")).toEqual([excerpt]);
    expect(getAttributes('meta[property="og:type"]', "content")).toEqual(["article"]);
    const [cost, quote, ...links] = getAttributes("main aside a", "href");
    expect([cost, quote]).toEqual(["/resources/cost", expect.stringMatching(/^\/quote\?service=[a-z-]+$/)]);
    const candidates = publishedArticles.filter((article) => article.slug !== slug);
    const related = candidates.filter((article) => article.category === category);
    const toPaths = (list: ArticleFile[]) => list.map((article) => `${blogPath}/${article.slug}`);
    expect(toPaths(candidates)).toEqual(expect.arrayContaining(links));
    const relatedLinks = links.filter((link) => link && toPaths(related).includes(link));
    expect([links.length, relatedLinks.length]).toEqual([2, Math.min(2, related.length)]);
  },
);

test.each(placeholderArticles)(
  "The placeholder $slug says that the article is unfinished, and is not indexed by search engines.",
  async ({ slug, title }) => {
    const page = await visitor.open(`${blogPath}/${slug}`);
    expect(page.text).toContain("Coming soon");
    expect(getText(page.all(".prose")[0])).toBe(`Full content for ${title}.`);
    expect([hasNoindex(page), readStructuredData(page)]).toEqual([true, []]);
    expect(page.all("#glance, main use[href^='/art/']")).toEqual([]);
  },
);

describe.each(publishedArticles)("Written article $slug", (article) => {
  const { slug, title, category, date, excerpt, glance = [], figures } = article;
  let page: ParsedPage;
  beforeAll(async () => {
    page = await visitor.open(`${blogPath}/${slug}`);
  });

  test(`The article ${slug} starts with a drawing and key points. The text contains their figures, with date and sources.`, () => {
    const [section] = page.all("main section[aria-labelledby=glance]");
    expect(getText(section?.querySelector("h2"))).toBe("Key points");
    const points = section?.querySelectorAll("li").map(getText) ?? [];
    expect(points.slice(0, -1)).toEqual(glance);
    expect(points.at(-1)).toContain(`Source, as of 15 October 2025: ${figures?.source}.`);
    expect(page.html.indexOf('id="glance"')).toBeLessThan(page.html.indexOf('class="prose"'));
    const body = getText(page.all(".prose")[0]);
    for (const figure of glance.join(" ").match(/\d[\d,.-]*\d|\d/g) ?? []) expect(body).toContain(figure);
    expect(body).toMatch(/as of October 2025/i);
    const drawing = section?.querySelector("use")?.getAttribute("href") ?? "";
    expect(existsSync(path.join("public", drawing.replace("#art", ""))), drawing).toBe(true);
  });

  test(`The article ${slug} lists its sections, shows the reading time, and contains structured data.`, () => {
    expect(page.text).toMatch(/ [5-9] min to read /);
    const sections = page.all(".prose h2").map((section) => [getText(section), `#${section.id}`]);
    expect(sections.length).toBeGreaterThanOrEqual(8);
    expect(page.all("main nav a").map((link) => [getText(link), link.getAttribute("href")])).toEqual(sections);
    expect(listDuplicateIds(page)).toEqual([]);
    expect(hasNoindex(page)).toBe(false);
    const publisher = { "@type": "Organization", "@id": `${origin}/#company`, name: companyDetails.name };
    const facts = { headline: title, description: excerpt, articleSection: category, datePublished: date };
    expect(readStructuredData(page)).toMatchObject([{ "@type": "Article", ...facts, publisher }]);
  });

  test(`Each table of the article ${slug} has a name, and each cell names its column.`, () => {
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

  test(`The HTML of the article ${slug} contains the text once, and the data of a client-side navigation also contains the text.`, async () => {
    const sentences = page.all(".prose p").flatMap((paragraph) => getText(paragraph).split(/(?<=\.) /));
    const sentence = sentences.find((text) => /^[\w ,.]{60,}$/.test(text)) ?? "no such sentence";
    expect(page.html.split(sentence)).toHaveLength(2);
    expect(await (await visitor.get(`${blogPath}/${slug}.data`)).text()).toContain(sentence);
  });
});

test("The URL of an unknown article redirects to the list of articles without a toast.", async () => {
  for (const slug of ["no-such-article", "Lcl-vs-fcl", "lcl-vs-fcl.mdx", "constructor", "rss", "%00", "a%2Fb"]) {
    const { status, headers } = await visitor.get(`${blogPath}/${slug}`);
    expect([slug, status, headers.get("Location"), headers.getSetCookie()]).toEqual([slug, 303, blogPath, []]);
  }
});

test.each([
  [
    "importing-a-car-to-kenya",
    [
      "under 8 years old, counted in calendar years from its first registration",
      "In 2025 2018 or later From 1 January 2026 2019 or later",
      "The car must be right-hand drive.",
      "penalty for a missing certificate of conformity is 15% of the customs value",
      "Import duty 35% 25% until mid-2025 CIF",
      "Excise duty 20-35%, by engine size and fuel - CIF plus import duty",
      "VAT 16% - CIF plus import duty plus excise duty",
      "Import declaration fee 2.5% since 1 July 2023 3.5% until 30 June 2023 CIF",
      "Railway development levy 2% since 27 December 2024 1.5% until 26 December 2024 CIF",
      "Since 1 October 2025, KRA requires a Certificate of Origin",
    ],
  ],
  [
    "aeo-benefits-for-importers",
    [
      "Import duty: 25% of CIF",
      "Excise duty on vehicles: 20-35% of the sum of CIF and import duty",
      "Import declaration fee: 2.5% of CIF since 1 July 2023. Until 30 June 2023, the fee was 3.5% of CIF",
      "Railway development levy: 2% of CIF",
      "penalty for a missing certificate of conformity is 15% of the customs value",
    ],
  ],
  ["lcl-vs-fcl", ["LCL suits 1-15 CBM.", "FCL suits more than 15 CBM.", "LCL adds 1-2 weeks"]],
  [
    "hs-codes-explained",
    ["penalty for a missing certificate of conformity is 15% of the customs value", "16% as of October 2025"],
  ],
  [
    "port-clearance-mistakes",
    [
      "Standard clearance at Mombasa takes 2-4 working days",
      "penalty for a missing certificate of conformity is 15% of the customs value",
    ],
  ],
])("The article %s contains the facts of the specification.", async (slug, facts) => {
  const text = getText((await visitor.open(`${blogPath}/${slug}`)).all(".prose")[0]);
  expect(facts.filter((fact) => !text.includes(fact))).toEqual([]);
});

test("An article title with </script> cannot end the script element that contains the structured data.", () => {
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
