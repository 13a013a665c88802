import { env } from "~/lib/http/env.server";
import { getLegalText, listPublishedArticles } from "~/models/article.server";
import { publicPages } from "~/site-map";

type SitemapEntry = { path: string; changed?: string };

export function loader() {
  const articles = listPublishedArticles();
  const entries = publicPages
    .filter(({ inSitemap }) => inSitemap)
    .flatMap(({ page: { path }, titleSource }): SitemapEntry[] => {
      if (titleSource === "articles")
        return articles.map(({ slug, date }) => ({ path: path.replace(":slug", slug), changed: date }));
      return [{ path, changed: titleSource && getLegalText(titleSource).updated }];
    });
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

// Paths need no XML escapes, because paths contain only slashes, letters, digits and hyphens.
function renderEntry({ path, changed }: SitemapEntry): string {
  const lastmod = changed ? `<lastmod>${changed}</lastmod>` : "";
  return `  <url><loc>${env().origin}${path}</loc>${lastmod}</url>`;
}
