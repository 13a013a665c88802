import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { ReadableStream } from "node:stream/web";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createFileStorage } from "./storage.ts";

let root: string;
let folder: string;
let storage: ReturnType<typeof createFileStorage>;

beforeEach(() => {
  root = mkdtempSync(path.join(tmpdir(), "storage-"));
  folder = path.join(root, "a", "objects");
  storage = createFileStorage(folder);
  writeFileSync(path.join(root, "neighbour.txt"), "untouched");
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

test("Reading an object returns the stored bytes, media type, size and Cache-Control value.", async () => {
  for (const content of [
    encodeText(""),
    encodeText("\n\n\nand then text"),
    encodeText('{"contentType":"text/html","cacheControl":"","eTag":""}\nx'),
    encodeText("Mizigo, مزيغو, 货物, 🚢"),
    new Uint8Array(70_000).map((_, index) => (index * 31) % 256),
  ]) {
    await putObject("scan.png", content, "image/png", "max-age=60");
    const { body, metadata } = await readObject("scan.png");
    expect(body).toEqual(content);
    const { length } = content;
    const expected = { mimetype: "image/png", cacheControl: "max-age=60", contentLength: length, size: length };
    expect(metadata).toMatchObject(expected);
  }
});

test("A stored object has the media type of its upload, and headObject returns the same metadata as reading the object.", async () => {
  for (const type of ["text/plain; charset=utf-8", 'a"b/c', "text/\nplain", "تطبيق/pdf", ""]) {
    await putObject("typed", encodeText("x"), type);
    const { metadata } = await readObject("typed");
    expect(metadata.mimetype).toBe(type);
    expect(await storage.headObject("documents", "typed", undefined)).toEqual(metadata);
  }
});

test("Two objects have equal ETags only if their contents are equal.", async () => {
  const first = await putObject("1", encodeText("x"));
  expect((await putObject("2", encodeText("x"))).eTag).toBe(first.eTag);
  expect((await putObject("3", encodeText("y"))).eTag).not.toBe(first.eTag);
});

test("Reading an object during its replacement returns the old or the new version completely, with the same version's media type.", async () => {
  const version = (letter: string) => ({
    bytes: encodeText(letter.repeat(20_000 + letter.charCodeAt(0))),
    type: `text/${letter}`,
  });
  const first = version("a");
  await putObject("busy", first.bytes, first.type);
  let writing = true;
  const writers = Promise.all(
    ["b", "c", "d", "e", "f", "g", "h"].map(async (letter) => {
      const { bytes, type } = version(letter);
      await putObject("busy", bytes, type);
    }),
  ).finally(() => {
    writing = false;
  });
  let reads = 0;
  while (writing || reads === 0) {
    const { body, metadata } = await readObject("busy");
    const letter = String.fromCharCode(body[0] ?? 0);
    expect(body).toEqual(version(letter).bytes);
    expect(metadata).toMatchObject({ mimetype: `text/${letter}`, size: body.length });
    reads += 1;
  }
  await writers;
  expect(listFiles(folder)).toHaveLength(1);
});

test("A streamed upload is stored completely. An interrupted upload leaves only the old object.", async () => {
  await putObject("tea.pdf", ReadableStream.from([encodeText("one "), encodeText("two")]), "application/pdf");
  const broken = ReadableStream.from(
    (function* () {
      yield encodeText("half");
      throw new Error("the connection was lost");
    })(),
  );
  await expect(putObject("tea.pdf", broken, "image/png")).rejects.toThrow("the connection was lost");
  const { text, metadata } = await readObject("tea.pdf");
  expect([text, metadata.mimetype]).toEqual(["one two", "application/pdf"]);
  expect(listFiles(folder)).toHaveLength(1);
});

test("Reading a missing object throws an error with the code ENOENT.", async () => {
  for (const read of [
    () => storage.getObject("documents", "none", undefined),
    () => storage.headObject("documents", "none", undefined),
    () => storage.copyObject("documents", "none", undefined, "documents", "copy", undefined),
    () => storage.getObject("documents", "copy", undefined),
  ]) {
    await expect(read()).rejects.toMatchObject({ code: "ENOENT" });
  }
});

test("Deleting an object removes only this object, and a second deletion succeeds.", async () => {
  for (const key of ["a", "b", "c"]) await putObject(key, encodeText(key));
  await storage.deleteObject("documents", "a", undefined);
  await storage.deleteObject("documents", "a", undefined);
  await expect(readObject("a")).rejects.toMatchObject({ code: "ENOENT" });
  await storage.deleteObjects("documents", ["b", "none"]);
  await expect(readObject("b")).rejects.toMatchObject({ code: "ENOENT" });
  expect((await readObject("c")).text).toBe("c");
  expect(listFiles(folder)).toHaveLength(1);
});

test("A copied object has the content and media type of its source, and the source does not change.", async () => {
  await putObject("source", encodeText("x"), "image/webp", "max-age=5");
  // The same key in another bucket belongs to another object.
  await storage.uploadObject("archive", "source", undefined, encodeText("other"), "text/plain", "no-cache");
  await storage.copyObject("documents", "source", undefined, "archive", "copy", undefined);
  for (const [bucket, key] of [
    ["documents", "source"],
    ["archive", "copy"],
  ] as const) {
    const { text, metadata } = await readObject(key, bucket);
    expect(text).toBe("x");
    expect(metadata).toMatchObject({ mimetype: "image/webp", cacheControl: "max-age=5" });
  }
});

test("Different object keys name different files inside the storage folder, and file names do not contain object keys.", async () => {
  const keys = [
    ...["../../neighbour.txt", "..", ".", "", "/", "/etc/passwd", "C:\\windows\\system32", "..\\..\\neighbour.txt"],
    ...["a/../../../neighbour.txt", "%2e%2e%2fneighbour.txt", "nul\0byte", "line\nend", "x".repeat(5000)],
    ...["فاتورة/货物/🚢.pdf", "CON", "a", "A", "a/", "./a", "a//b", "a/b"],
  ];
  for (const key of keys) await putObject(key, encodeText(`content of ${key}`));
  for (const key of keys) expect((await readObject(key)).text).toBe(`content of ${key}`);
  expect(listFiles(folder)).toHaveLength(keys.length);
  expect(listFiles(root)).toHaveLength(keys.length + 1);
  for (const file of listFiles(folder)) expect(path.basename(file)).not.toMatch(/passwd|system32|pdf|neighbour/);
  expect(readFileSync(path.join(root, "neighbour.txt"), "utf8")).toBe("untouched");
  await storage.deleteObjects("documents", keys);
  expect(listFiles(root)).toEqual([path.join(root, "neighbour.txt")]);
});

function putObject(
  key: string,
  bytes: Uint8Array | ReadableStream<Uint8Array>,
  type = "application/octet-stream",
  caching = "no-cache",
) {
  return storage.uploadObject("documents", key, undefined, bytes, type, caching);
}

async function readObject(key: string, bucket = "documents") {
  const { body, metadata } = await storage.getObject(bucket, key, undefined);
  const bytes = new Uint8Array(body as Uint8Array);
  return { body: bytes, text: new TextDecoder().decode(bytes), metadata };
}

function encodeText(content: string) {
  return new TextEncoder().encode(content);
}

function listFiles(where: string): string[] {
  return readdirSync(where, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath, entry.name));
}
