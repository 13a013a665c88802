import { createHash, randomUUID } from "node:crypto";
import { mkdir, open, readFile, rename, rm, stat } from "node:fs/promises";
import path from "node:path";
import process from "node:process";
import type { App } from "@supabase/lite";

type StorageAdapter = NonNullable<App["_storageAdapter"]>;
type ObjectHeader = { contentType: string; cacheControl: string; eTag: string };

/** Stores each object in one file, which is replaced atomically. Reading a missing object rejects with ENOENT. */
export function createFileStorage(folder: string): StorageAdapter {
  const objectFile = (bucket: string, key: string) => {
    const hash = createHash("sha256").update(`${bucket}/${key}`).digest("hex");
    return path.join(folder, hash.slice(0, 2), hash);
  };

  /** Each file starts with a line of JSON metadata, so that content and type are replaced together. */
  async function read(bucket: string, key: string) {
    const file = objectFile(bucket, key);
    const [bytes, { mtime }] = await Promise.all([readFile(file), stat(file)]);
    const end = bytes.indexOf(0x0a);
    const header = JSON.parse(bytes.subarray(0, end).toString("utf8")) as ObjectHeader;
    const body = bytes.subarray(end + 1);
    return { body, metadata: toMetadata(header, body.length, mtime) };
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
    async getObject(bucket, key) {
      const { body, metadata } = await read(bucket, key);
      return { body, metadata, httpStatusCode: 200 };
    },
    async headObject(bucket, key) {
      return (await read(bucket, key)).metadata;
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

/** Returns the bytes of the header Range, as Supabase Storage does. @supabase/lite ignores the header. */
export function selectRange(range: string | null, body: ArrayBuffer | null, response: Response): Response {
  const [, first, last] = /^bytes=(\d+)-(\d+)$/.exec(range ?? "") ?? [];
  if (!body || !last || response.status !== 200) return new Response(body, response);
  const headers = new Headers(response.headers);
  headers.set("content-range", `bytes ${first}-${last}/${body.byteLength}`);
  headers.delete("content-length");
  return new Response(body.slice(Number(first), Number(last) + 1), { status: 206, headers });
}

function toMetadata({ contentType: mimetype, cacheControl, eTag }: ObjectHeader, size: number, lastModified: Date) {
  return { mimetype, cacheControl, eTag, size, contentLength: size, lastModified, httpStatusCode: 200 };
}

/** Makes a renamed file survive a power failure. Windows cannot open folders and does not need this step. */
async function syncFolder(folder: string): Promise<void> {
  if (process.platform === "win32") return;
  const handle = await open(folder);
  await handle.sync().finally(() => handle.close());
}
