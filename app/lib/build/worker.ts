import { createHash } from "node:crypto";
import path from "node:path";

export const workerFile = "worker.js";

const workerFolder = path.resolve(import.meta.dirname, "../../worker");

const target = "es2019";

/** The script contains the build's id, because browsers update a service worker only if its bytes change. */
export async function buildServiceWorker(build: string): Promise<string> {
  const retry = await compileScript("retry.ts", {});
  const hash = `sha256-${createHash("sha256").update(retry).digest("base64")}`;
  return compileScript("worker.ts", {
    __RETRY__: JSON.stringify(retry),
    __RETRY_HASH__: JSON.stringify(hash),
    __BUILD__: JSON.stringify(build),
  });
}

async function compileScript(file: string, define: Record<string, string>): Promise<string> {
  // Imports esbuild dynamically, because production installations have no esbuild.
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
