import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import mime from "mime-types";
import { workerFile } from "../../lib/build/worker.ts";
import { bestBrotli, type CachedResponse } from "./cached-response.ts";

const encodingSuffixes = { br: ".br", gzip: ".gz" } as const;

/** Writes a Brotli and a gzip copy of each file. Skips copies that are less than 5 % smaller. */
export function compressFolder(folder: string): void {
  for (const file of listFiles(folder)) compressFile(file);
}

export function compressFile(file: string): void {
  const body = readFileSync(file);
  const params = {
    [constants.BROTLI_PARAM_QUALITY]: bestBrotli,
    [constants.BROTLI_PARAM_SIZE_HINT]: body.length,
    [constants.BROTLI_PARAM_LGBLOCK]: constants.BROTLI_MAX_INPUT_BLOCK_BITS - 4,
  };
  const copies = { br: brotliCompressSync(body, { params }), gzip: gzipSync(body, { level: 9 }) };
  for (const [encoding, copy] of Object.entries(copies)) {
    if (copy.length < body.length * 0.95)
      writeFileSync(file + encodingSuffixes[encoding as keyof typeof encodingSuffixes], copy);
  }
}

export function readStaticFiles(folder: string): ReadonlyMap<string, CachedResponse> {
  return new Map(
    listFiles(folder).map((file) => {
      const address = `/${path.relative(folder, file).split(path.sep).join("/")}`;
      const identity = readFileSync(file);
      const copy = (ending: string) => (existsSync(file + ending) ? readFileSync(file + ending) : undefined);
      const stored: CachedResponse = {
        etag: createHash("sha256").update(identity).digest("base64url").slice(0, 22),
        headers: {
          "content-type": mime.contentType(path.extname(file)) || "application/octet-stream",
          ...createCacheHeaders(address),
        },
        bodies: { identity, br: copy(encodingSuffixes.br), gzip: copy(encodingSuffixes.gzip) },
      };
      return [address, stored];
    }),
  );
}

function createCacheHeaders(address: string): Record<string, string> {
  if (address.startsWith("/assets/")) return { "cache-control": "public, max-age=31536000, immutable" };
  if (address !== `/${workerFile}`) return { "cache-control": "public, max-age=3600" };
  return { "cache-control": "max-age=86400", "content-security-policy": "default-src 'none'; connect-src 'self'" };
}

function listFiles(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && !Object.values(encodingSuffixes).some((ending) => entry.name.endsWith(ending)))
    .map((entry) => path.join(entry.parentPath, entry.name));
}
