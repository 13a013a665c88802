import { createHash, randomUUID } from "node:crypto";
import { mkdir, open, rename, rm } from "node:fs/promises";
import path from "node:path";
import process from "node:process";
import type { App } from "@supabase/lite";
import type { Handler } from "./auth/sessions.ts";

type StorageAdapter = NonNullable<App["_storageAdapter"]>;
type ByteRange = { first: number; last: number };
type ObjectHeader = { contentType: string; cacheControl: string; eTag: string };

const maxHeaderBytes = 4096;

/** Stores each object in one file, which is replaced atomically. Reading a missing object rejects with ENOENT. */
export function createFileStorage(folder: string): StorageAdapter & { range: ByteRange | null } {
  const objectFile = (bucket: string, key: string) => {
    const hash = createHash("sha256").update(`${bucket}/${key}`).digest("hex");
    return path.join(folder, hash.slice(0, 2), hash);
  };

  /** Each file starts with a line of JSON metadata, so that content and type are replaced together. */
  async function read(bucket: string, key: string, range: ByteRange | null = null) {
    const handle = await open(objectFile(bucket, key));
    try {
      const { buffer, bytesRead } = await handle.read(Buffer.alloc(maxHeaderBytes), 0, maxHeaderBytes, 0);
      const end = buffer.subarray(0, bytesRead).indexOf(0x0a);
      const header = JSON.parse(buffer.toString("utf8", 0, end)) as ObjectHeader;
      const { size, mtime } = await handle.stat();
      const bodySize = size - end - 1;
      const { first, last } = range ?? { first: 0, last: bodySize - 1 };
      const body = Buffer.alloc(Math.max(0, Math.min(last + 1, bodySize) - first));
      if (body.length > 0) await handle.read(body, 0, body.length, end + 1 + first);
      return { body, metadata: toMetadata(header, bodySize, mtime) };
    } finally {
      await handle.close();
    }
  }

  async function write(bucket: string, key: string, body: Uint8Array, contentType: string, cacheControl: string) {
    const file = objectFile(bucket, key);
    const eTag = `"${createHash("md5").update(body).digest("hex")}"`;
    const header: ObjectHeader = { contentType, cacheControl, eTag };
    await mkdir(path.dirname(file), { recursive: true });
    const draft = `${file}.${randomUUID()}`;
    const handle = await open(draft, "wx");
    try {
      await handle.writeFile(`${JSON.stringify(header)}\n`);
      await handle.writeFile(body);
      await handle.sync();
      await handle.close();
      await rename(draft, file);
      await syncFolder(path.dirname(file));
    } catch (error) {
      await handle.close().catch(() => undefined);
      await rm(draft, { force: true });
      throw error;
    }
    return toMetadata(header, body.length, new Date());
  }

  return {
    driver: folder,
    range: null,
    async getObject(bucket, key) {
      const { body, metadata } = await read(bucket, key, this.range);
      return { body, metadata, httpStatusCode: 200 };
    },
    async headObject(bucket, key) {
      return (await read(bucket, key, { first: 0, last: -1 })).metadata;
    },
    async uploadObject(bucket, key, _version, body, contentType, cacheControl) {
      const bytes = new Uint8Array(await new Response(body as BodyInit).arrayBuffer());
      return write(bucket, key, bytes, contentType, cacheControl);
    },
    async copyObject(sourceBucket, source, _version, bucket, key) {
      const { body, metadata } = await read(sourceBucket, source);
      return write(bucket, key, body, metadata.mimetype, metadata.cacheControl);
    },
    async deleteObject(bucket, key) {
      await rm(objectFile(bucket, key), { force: true });
    },
    async deleteObjects(bucket, keys) {
      await Promise.all(keys.map((key) => rm(objectFile(bucket, key), { force: true })));
    },
    async privateAssetUrl(bucket, key) {
      return `file://${objectFile(bucket, key)}`;
    },
  };
}

/** Returns the byte range in the header Range, which Supabase Storage supports and @supabase/lite ignores. */
export function parseRange(header: string | null): ByteRange | null {
  const [, first, last] = /^bytes=(\d+)-(\d+)$/.exec(header ?? "") ?? [];
  return last === undefined ? null : { first: Number(first), last: Number(last) };
}

function toMetadata({ contentType: mimetype, cacheControl, eTag }: ObjectHeader, size: number, lastModified: Date) {
  return { mimetype, cacheControl, eTag, size, contentLength: size, lastModified, httpStatusCode: 200 };
}

/** Adds the size to the information about an object, as Supabase Storage does. */
export function withObjectSize(next: Handler): Handler {
  return async (request) => {
    const response = await next(request);
    if (
      request.method !== "GET" ||
      !response.ok ||
      !new URL(request.url).pathname.startsWith("/storage/v1/object/info/")
    )
      return response;
    const info = (await response.json()) as { metadata?: { size?: number } };
    return Response.json({ ...info, size: info.metadata?.size });
  };
}

/** Makes a renamed file survive a power failure. Windows cannot open folders and does not need this step. */
async function syncFolder(folder: string): Promise<void> {
  if (process.platform === "win32") return;
  const handle = await open(folder);
  await handle.sync().finally(() => handle.close());
}
