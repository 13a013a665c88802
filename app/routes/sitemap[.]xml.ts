import { env } from "~/lib/http/env.server";
import { getLegalText, listPublishedArticles } from "~/models/article.server";

const publicPaths = [
  "/",
  "/services",
  "/about",
  "/resources/cost",
  "/resources/faq",
  "/resources/feeds",
  "/resources/blog",
  "/contact",
  "/careers",
  "/legal",
  "/additional-info",
  "/cookie-settings",
];

type SitemapEntry = { path: string; changed?: string };

/** Every public page that search engines may show, with the day it changed where its content says so. */
export function loader() {
  const articles = listPublishedArticles().map(({ slug, date }) => ({
    path: `/resources/blog/${slug}`,
    changed: date,
  }));
  const dated = (["privacy", "terms"] as const).map((name) => ({
    path: `/${name}`,
    changed: getLegalText(name).updated,
  }));
  const entries: SitemapEntry[] = [...publicPaths.map((path) => ({ path })), ...dated, ...articles];
  const xml = [
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">',
    ...entries.map(renderEntry),
    "</urlset>",
    "",
  ].join("\n");
  return new Response(xml, {
    headers: { "Content-Type": "application/xml; charset=utf-8", "Cache-Control": "public, max-age=3600" },
  });
}

// Paths are words and hyphens, checked when the site starts: there is nothing in them to escape.
function renderEntry({ path, changed }: SitemapEntry): string {
  const lastmod = changed ? `<lastmod>${changed}</lastmod>` : "";
  return `  <url><loc>${env().origin}${path}</loc>${lastmod}</url>`;
}
