import { env } from "~/lib/http/env.server";
import { type ArticleSummary, listPublishedArticles } from "~/models/article.server";
import { companyDetails } from "~/models/content.server";

const maxArticles = 20;

export function loader() {
  const { origin } = env();
  const articles = listPublishedArticles().slice(0, maxArticles);
  const xml = [
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom">',
    "<channel>",
    renderElement("title", `${companyDetails.name}: Blog`),
    renderElement("link", `${origin}/resources/blog`),
    renderElement("description", "Customs clearing and freight in East Africa, with worked examples."),
    renderElement("language", "en"),
    `<atom:link href="${escapeXml(`${origin}/resources/blog/rss.xml`)}" rel="self" type="application/rss+xml"/>`,
    ...articles.map((article) => renderItem(article, `${origin}/resources/blog/${article.slug}`)),
    "</channel>",
    "</rss>",
    "",
  ].join("\n");
  return new Response(xml, {
    headers: { "Content-Type": "application/rss+xml; charset=utf-8", "Cache-Control": "public, max-age=3600" },
  });
}

function renderItem({ title, category, date, excerpt }: ArticleSummary, url: string): string {
  return [
    "<item>",
    renderElement("title", title),
    renderElement("link", url),
    renderElement("guid", url),
    renderElement("pubDate", new Date(`${date}T00:00:00Z`).toUTCString().replace("GMT", "+0000")),
    renderElement("category", category),
    renderElement("description", excerpt),
    "</item>",
  ].join("\n");
}

function renderElement(name: string, text: string): string {
  return `<${name}>${escapeXml(text)}</${name}>`;
}

function escapeXml(text: string): string {
  return text.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);
}
