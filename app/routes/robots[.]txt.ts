import { env } from "~/lib/http/env.server";
import { formArea } from "~/site-map";

/** Blocks only URLs that receive forms. Crawlers must fetch /login and /portal to see that indexing is forbidden. */
export function loader() {
  const lines = ["User-agent: *", `Disallow: ${formArea}`, "", `Sitemap: ${env().origin}/sitemap.xml`, ""];
  return new Response(lines.join("\n"), {
    headers: { "Content-Type": "text/plain; charset=utf-8", "Cache-Control": "public, max-age=3600" },
  });
}
