import { env } from "~/lib/http/env.server";

/**
 * Crawlers leave the form-only addresses alone. The login and the portal send noindex instead, which a crawler can only see
 * if it may fetch them.
 */
export function loader() {
  const lines = ["User-agent: *", "Disallow: /actions/", "", `Sitemap: ${env().origin}/sitemap.xml`, ""];
  return new Response(lines.join("\n"), {
    headers: { "Content-Type": "text/plain; charset=utf-8", "Cache-Control": "public, max-age=3600" },
  });
}
