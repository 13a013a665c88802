import { env } from "~/lib/http/env.server";
import { formArea } from "~/site-map";

/** Blocks form-only URLs. Crawlers may fetch the login and the portal, to read the noindex of these pages. */
export function loader() {
  const lines = ["User-agent: *", `Disallow: ${formArea}`, "", `Sitemap: ${env().origin}/sitemap.xml`, ""];
  return new Response(lines.join("\n"), {
    headers: { "Content-Type": "text/plain; charset=utf-8", "Cache-Control": "public, max-age=3600" },
  });
}
