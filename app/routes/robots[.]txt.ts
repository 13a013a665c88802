import { env } from "~/lib/http/env.server";
import { formArea } from "~/site-map";

/**
 * Stops crawlers from fetching the form-only addresses. The login and the portal send noindex instead, which crawlers see only
 * if they may fetch the page.
 */
export function loader() {
  const lines = ["User-agent: *", `Disallow: ${formArea}`, "", `Sitemap: ${env().origin}/sitemap.xml`, ""];
  return new Response(lines.join("\n"), {
    headers: { "Content-Type": "text/plain; charset=utf-8", "Cache-Control": "public, max-age=3600" },
  });
}
