import { env } from "~/lib/env.server";

/**
 * What crawlers leave alone: the addresses that only take forms. Under /resources the longer rule wins (RFC 9309), so a
 * new form-only route is kept out without a line here. The login and the portal send noindex instead, which a crawler
 * can only see if it may fetch them.
 */
export function loader() {
  const lines = [
    "User-agent: *",
    "Disallow: /resources/",
    "Allow: /resources/cost",
    "Allow: /resources/faq",
    "Allow: /resources/feeds",
    "Allow: /resources/blog",
    "Allow: /resources/quote",
    "",
    `Sitemap: ${env().origin}/sitemap.xml`,
    "",
  ];
  return new Response(lines.join("\n"), {
    headers: { "Content-Type": "text/plain; charset=utf-8", "Cache-Control": "public, max-age=3600" },
  });
}
