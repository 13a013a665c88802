import { env } from "~/lib/env.server";

/**
 * What crawlers leave alone: what a client signs in to, and the addresses that only take forms. Under /resources the
 * longer rule wins (RFC 9309), so a new form-only route is kept out without a line here.
 */
export function loader() {
  const lines = [
    "User-agent: *",
    "Disallow: /portal",
    "Disallow: /auth/",
    "Disallow: /login/",
    "Disallow: /resources/",
    "Allow: /resources/faq",
    "Allow: /resources/feeds",
    "Allow: /resources/blog",
    "",
    `Sitemap: ${env().origin}/sitemap.xml`,
    "",
  ];
  return new Response(lines.join("\n"), {
    headers: { "Content-Type": "text/plain; charset=utf-8", "Cache-Control": "public, max-age=3600" },
  });
}
