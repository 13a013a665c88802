import { theCompany } from "~/lib/content.server";
import { env } from "~/lib/env.server";
import { type ArticleSummary, writtenArticles } from "~/models/article.server";

/** How many articles the feed has. */
const newest = 20;

/** The newest written articles as RSS 2.0. */
export function loader() {
  const { origin } = env();
  const articles = writtenArticles().slice(0, newest);
  const xml = [
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom">',
    "<channel>",
    element("title", `${theCompany.name}: Blog`),
    element("link", `${origin}/resources/blog`),
    element("description", "Customs clearing and freight in East Africa, with worked examples."),
    element("language", "en"),
    `<atom:link href="${escaped(`${origin}/resources/blog/rss.xml`)}" rel="self" type="application/rss+xml"/>`,
    ...articles.map((article) => item(article, `${origin}/resources/blog/${article.slug}`)),
    "</channel>",
    "</rss>",
    "",
  ].join("\n");
  return new Response(xml, {
    headers: { "Content-Type": "application/rss+xml; charset=utf-8", "Cache-Control": "public, max-age=3600" },
  });
}

function item({ title, category, date, excerpt }: ArticleSummary, url: string): string {
  return [
    "<item>",
    element("title", title),
    element("link", url),
    element("guid", url),
    element("pubDate", new Date(`${date}T00:00:00Z`).toUTCString().replace("GMT", "+0000")),
    element("category", category),
    element("description", excerpt),
    "</item>",
  ].join("\n");
}

function element(name: string, text: string): string {
  return `<${name}>${escaped(text)}</${name}>`;
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);
}
