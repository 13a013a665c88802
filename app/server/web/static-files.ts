/** The files of the client build, read once at start. */
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import mime from "mime-types";
import { workerFile } from "../../lib/worker.build.ts";
import { bestBrotli, type Stored } from "./kept-answer.ts";

const endings = { br: ".br", gzip: ".gz" } as const;

/** Writes a brotli and a gzip copy beside each file of a folder, if it is over 5 % smaller. For the build. */
export function compressFolder(folder: string): void {
  for (const file of filesIn(folder)) compress(file);
}

/** The same for one file. */
export function compress(file: string): void {
  const body = readFileSync(file);
  const params = {
    [constants.BROTLI_PARAM_QUALITY]: bestBrotli,
    [constants.BROTLI_PARAM_SIZE_HINT]: body.length,
    [constants.BROTLI_PARAM_LGBLOCK]: constants.BROTLI_MAX_INPUT_BLOCK_BITS - 4,
  };
  const copies = { br: brotliCompressSync(body, { params }), gzip: gzipSync(body, { level: 9 }) };
  for (const [encoding, copy] of Object.entries(copies)) {
    if (copy.length < body.length * 0.95) writeFileSync(file + endings[encoding as keyof typeof endings], copy);
  }
}

/** Every file of the client build by its URL path. */
export function readFiles(folder: string): ReadonlyMap<string, Stored> {
  return new Map(
    filesIn(folder).map((file) => {
      const address = `/${path.relative(folder, file).split(path.sep).join("/")}`;
      const identity = readFileSync(file);
      const copy = (ending: string) => (existsSync(file + ending) ? readFileSync(file + ending) : undefined);
      const stored: Stored = {
        etag: createHash("sha256").update(identity).digest("base64url").slice(0, 22),
        headers: {
          "content-type": mime.contentType(path.extname(file)) || "application/octet-stream",
          ...lasting(address),
        },
        bodies: { identity, br: copy(endings.br), gzip: copy(endings.gzip) },
      };
      return [address, stored];
    }),
  );
}

/** How long browsers keep a file. The service worker is asked for each time, and may reach this site alone. */
function lasting(address: string): Record<string, string> {
  if (address.startsWith("/assets/")) return { "cache-control": "public, max-age=31536000, immutable" };
  if (address !== `/${workerFile}`) return { "cache-control": "public, max-age=3600" };
  return { "cache-control": "no-cache", "content-security-policy": "default-src 'none'; connect-src 'self'" };
}

function filesIn(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && !Object.values(endings).some((ending) => entry.name.endsWith(ending)))
    .map((entry) => path.join(entry.parentPath, entry.name));
}
