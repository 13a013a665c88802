import { env } from "~/lib/http/env.server";
import { formArea } from "~/site-map";

/** Blocks form-only URLs. The login and portal send noindex, which crawlers see only on pages that they may fetch. */
export function loader() {
  const lines = ["User-agent: *", `Disallow: ${formArea}`, "", `Sitemap: ${env().origin}/sitemap.xml`, ""];
  return new Response(lines.join("\n"), {
    headers: { "Content-Type": "text/plain; charset=utf-8", "Cache-Control": "public, max-age=3600" },
  });
}
