import { createHash } from "node:crypto";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import type { Config } from "@react-router/dev/config";
import { createWebManifest, manifestFile } from "./app/lib/build/manifest.ts";
import { buildServiceWorker, workerFile } from "./app/lib/build/worker.ts";
import { checkStylesheet } from "./app/server/web/critical-css.ts";
import { compressFile, compressFolder } from "./app/server/web/static-files.ts";

const clientFolder = path.join(import.meta.dirname, "build/client");

export default {
  ssr: true,
  buildEnd: async () => {
    const files = readdirSync(path.join(clientFolder, "assets")).filter((file) => file.endsWith(".css"));
    // In the order of a page: that of every page first.
    const sheets = files.sort((one, other) => Number(other.startsWith("root-")) - Number(one.startsWith("root-")));
    checkStylesheet(sheets.map((file) => readFileSync(path.join(clientFolder, "assets", file), "utf8")).join(""));
    trimRouteManifest();
    const build = createHash("sha256")
      .update(readdirSync(path.join(clientFolder, "assets")).join())
      .digest("hex");
    writeFileSync(path.join(clientFolder, workerFile), await buildServiceWorker(build.slice(0, 8)));
    compressFolder(clientFolder);
    // Last of all: app/server/start/build.ts knows by it that a build is whole.
    writeFileSync(path.join(clientFolder, manifestFile), createWebManifest());
    compressFile(path.join(clientFolder, manifestFile));
  },
  routeDiscovery: { mode: "initial" },
  // The gate (app/lib/http/request-guard.server.ts) judges where a form comes from, for every route and from APP_ORIGIN; the
  // framework's own check would answer 400 before it.
  allowedActionOrigins: ["**"],
  future: {
    v8_middleware: true,
    // A route's clientAction must be there when the line breaks, so it travels with its page.
    v8_splitRouteModules: false,
    v8_viteEnvironmentApi: true,
    v8_passThroughRequests: true,
    v8_trailingSlashAwareDataRequests: true,
  },
} satisfies Config;

/** Routes that answer with a file or with nothing: no script navigates to them. */
const files = /robots|sitemap|rss|csv|zip|\.session/;

/**
 * Removes the routes and the empty values that browsers do not need from the route manifest, which every page loads.
 * Without it the script of a shipment page is 300 bytes over its budget (tests/routes/page-budgets.test.ts).
 */
function trimRouteManifest(): void {
  const folder = path.join(clientFolder, "assets");
  const begin = "window.__reactRouterManifest=";
  for (const name of readdirSync(folder).filter((file) => /^manifest-.*\.js$/.test(file))) {
    const text = readFileSync(path.join(folder, name), "utf8");
    if (!text.startsWith(begin)) throw new Error(`${name} is not a route manifest: see trimRouteManifest.`);
    const manifest = JSON.parse(text.slice(begin.length).replace(/;\s*$/, ""));
    const routes = Object.entries(manifest.routes).filter(([id]) => !files.test(id));
    // false and an empty list mean the same as an absent key.
    const trimmed = JSON.stringify({ ...manifest, routes: Object.fromEntries(routes) }, (_, value) =>
      value === false || (Array.isArray(value) && value.length === 0) ? undefined : value,
    );
    writeFileSync(path.join(folder, name), `${begin}${trimmed};`);
  }
}
