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
    // The root stylesheet comes first, as in the HTML of a page.
    const sheets = files.sort(
      (first, second) => Number(second.startsWith("root-")) - Number(first.startsWith("root-")),
    );
    checkStylesheet(sheets.map((file) => readFileSync(path.join(clientFolder, "assets", file), "utf8")).join(""));
    trimRouteManifest();
    const build = createHash("sha256")
      .update(readdirSync(path.join(clientFolder, "assets")).join())
      .digest("hex");
    writeFileSync(path.join(clientFolder, workerFile), await buildServiceWorker(build.slice(0, 8)));
    compressFolder(clientFolder);
    // This file is written last, because app/server/start/build.ts uses it to detect a complete build.
    writeFileSync(path.join(clientFolder, manifestFile), createWebManifest());
    compressFile(path.join(clientFolder, manifestFile));
  },
  routeDiscovery: { mode: "initial" },
  // React Router's origin check is off, because it would respond before requestGuardMiddleware checks the origin.
  allowedActionOrigins: ["**"],
  future: {
    v8_middleware: true,
    // A clientAction in a separate chunk could not be loaded after the connection is lost.
    v8_splitRouteModules: false,
    v8_viteEnvironmentApi: true,
    v8_passThroughRequests: true,
    v8_trailingSlashAwareDataRequests: true,
  },
} satisfies Config;

/** Client-side navigation never loads these routes, so the route manifest omits them. */
const serverOnlyRoutes = /robots|sitemap|rss|csv|zip|\.session|_\.(file|view)/;

/**
 * Every page loads the route manifest. A manifest of all routes would exceed the script budget of page-budgets.test.ts.
 */
function trimRouteManifest(): void {
  const folder = path.join(clientFolder, "assets");
  const prefix = "window.__reactRouterManifest=";
  for (const name of readdirSync(folder).filter((file) => /^manifest-.*\.js$/.test(file))) {
    const text = readFileSync(path.join(folder, name), "utf8");
    if (!text.startsWith(prefix)) throw new Error(`${name} is not a route manifest: see trimRouteManifest.`);
    const manifest = JSON.parse(text.slice(prefix.length).replace(/;\s*$/, ""));
    const routes = Object.entries(manifest.routes).filter(([id]) => !serverOnlyRoutes.test(id));
    const trimmed = JSON.stringify({ ...manifest, routes: Object.fromEntries(routes) }, (_, value) =>
      value === false || (Array.isArray(value) && value.length === 0) ? undefined : value,
    );
    writeFileSync(path.join(folder, name), `${prefix}${trimmed};`);
  }
}
