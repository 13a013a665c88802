/** The service worker's file, made when the site is built. */
import { createHash } from "node:crypto";
import path from "node:path";

export const workerFile = "worker.js";

const workerFolder = path.resolve(import.meta.dirname, "../../worker");

/** What the oldest browsers that run our script understand. */
const target = "es2019";

/** The worker's text. `build` is what this build is known by: browsers take a worker whose text is another one. */
export async function buildServiceWorker(build: string): Promise<string> {
  const again = await compileScript("retry.ts", {});
  const hash = `sha256-${createHash("sha256").update(again).digest("base64")}`;
  return compileScript("worker.ts", {
    __AGAIN__: JSON.stringify(again),
    __HASH__: JSON.stringify(hash),
    __BUILD__: JSON.stringify(build),
  });
}

async function compileScript(file: string, define: Record<string, string>): Promise<string> {
  // Only a build needs it: an installation that serves one does not have it.
  const { build } = await import("esbuild");
  const { outputFiles } = await build({
    entryPoints: [path.join(workerFolder, file)],
    bundle: true,
    minify: true,
    write: false,
    format: "iife",
    target,
    define,
  });
  return outputFiles[0]?.text.trim() ?? "";
}
