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

test("Reading an object returns the stored bytes, media type, size and cache control", async () => {
  const bytes = new Uint8Array(70_000).map((_, index) => (index * 31) % 256);
  await putObject("scan.png", bytes, "image/png", "max-age=60");
  const { body, metadata } = await readObject("scan.png");
  expect(body).toEqual(bytes);
  expect(metadata).toMatchObject({
    mimetype: "image/png",
    cacheControl: "max-age=60",
    contentLength: 70_000,
    size: 70_000,
  });
});

test.each([
  ["nothing", ""],
  ["one line end", "\n"],
  ["line ends first", "\n\n\nand then text"],
  ["what looks like the store's own first line", '{"contentType":"text/html","cacheControl":"","eTag":""}\nx'],
  ["letters of several scripts", "Mizigo, مزيغو, 货物, 🚢"],
])("A stored object that contains %s is read unchanged", async (_what, content) => {
  await putObject("odd", encodeText(content), "text/plain");
  const { text, metadata } = await readObject("odd");
  expect(text).toBe(content);
  expect(metadata.mimetype).toBe("text/plain");
});

test.each(["text/plain; charset=utf-8", 'a"b/c', "text/\nplain", "تطبيق/pdf", ""])(
  "A stored object retains the media type %j",
  async (type) => {
    await putObject("typed", encodeText("x"), type);
    expect((await readObject("typed")).metadata.mimetype).toBe(type);
    expect((await storage.headObject("documents", "typed", undefined)).mimetype).toBe(type);
  },
);

test("The method headObject returns the same metadata as reading the object", async () => {
  await putObject("tea.pdf", encodeText("%PDF-1.7"), "application/pdf");
  const metadata = await storage.headObject("documents", "tea.pdf", undefined);
  expect(metadata).toEqual((await readObject("tea.pdf")).metadata);
});

test("Objects have equal entity tags only if their contents are equal", async () => {
  const first = await putObject("1", encodeText("x"));
  expect((await putObject("2", encodeText("x"))).eTag).toBe(first.eTag);
  expect((await putObject("3", encodeText("y"))).eTag).not.toBe(first.eTag);
});

test("A replaced object has the new content and the new media type", async () => {
  await putObject("tea.pdf", encodeText("old, and longer than the new one"), "application/pdf");
  await putObject("tea.pdf", encodeText("new"), "image/png");
  const { text, metadata } = await readObject("tea.pdf");
  expect(text).toBe("new");
  expect(metadata).toMatchObject({ mimetype: "image/png", size: 3 });
  expect(listFiles(folder)).toHaveLength(1);
});

test("Reading an object during its replacement returns one complete version with its own media type", async () => {
  const version = (letter: string) => ({
    bytes: encodeText(letter.repeat(20_000 + letter.charCodeAt(0))),
    type: `text/${letter}`,
  });
  const first = version("a");
  await putObject("busy", first.bytes, first.type);
  let writing = true;
  const writers = Promise.all(
    [..."bcdefghijklmnopqrst"].map(async (letter) => {
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

test("An interrupted upload leaves the old object and no other file", async () => {
  await putObject("tea.pdf", encodeText("whole"), "application/pdf");
  const broken = new ReadableStream<Uint8Array>({
    start(controller) {
      controller.enqueue(encodeText("half"));
    },
    pull(controller) {
      controller.error(new Error("the connection was lost"));
    },
  });
  await expect(
    storage.uploadObject("documents", "tea.pdf", undefined, broken, "image/png", "no-cache"),
  ).rejects.toThrow("the connection was lost");
  const { text, metadata } = await readObject("tea.pdf");
  expect(text).toBe("whole");
  expect(metadata.mimetype).toBe("application/pdf");
  expect(listFiles(folder)).toHaveLength(1);
});

test("A streamed upload is stored completely", async () => {
  const parts = ["one ", "two ", "three"];
  const stream = new ReadableStream<Uint8Array>({
    pull(controller) {
      const part = parts.shift();
      if (part) controller.enqueue(encodeText(part));
      else controller.close();
    },
  });
  await storage.uploadObject("documents", "streamed", undefined, stream, "text/plain", "no-cache");
  expect((await readObject("streamed")).text).toBe("one two three");
});

test("Reading a missing object rejects with ENOENT", async () => {
  for (const read of [
    () => storage.getObject("documents", "none", undefined),
    () => storage.headObject("documents", "none", undefined),
    () => storage.copyObject("documents", "none", undefined, "documents", "copy", undefined),
    () => storage.getObject("documents", "copy", undefined),
  ]) {
    await expect(read()).rejects.toMatchObject({ code: "ENOENT" });
  }
});

test("Deleting an object removes only that object, and a second deletion is no error", async () => {
  await putObject("a", encodeText("a"));
  await putObject("b", encodeText("b"));
  await putObject("c", encodeText("c"));
  await storage.deleteObject("documents", "a", undefined);
  await storage.deleteObject("documents", "a", undefined);
  await expect(readObject("a")).rejects.toMatchObject({ code: "ENOENT" });
  await storage.deleteObjects("documents", ["b", "none"]);
  await expect(readObject("b")).rejects.toMatchObject({ code: "ENOENT" });
  expect((await readObject("c")).text).toBe("c");
  expect(listFiles(folder)).toHaveLength(1);
});

test("A copied object has the content and media type of its source, and the source is unchanged", async () => {
  await putObject("source", encodeText("x"), "image/webp", "max-age=5");
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

test("The same key in two buckets names two objects", async () => {
  await storage.uploadObject("one", "key", undefined, encodeText("1"), "text/plain", "no-cache");
  await storage.uploadObject("two", "key", undefined, encodeText("2"), "text/plain", "no-cache");
  expect((await readObject("key", "one")).text).toBe("1");
  expect((await readObject("key", "two")).text).toBe("2");
});

test("Object keys with path segments cannot leave the folder and name separate objects", async () => {
  const keys = [
    "../../neighbour.txt",
    "..",
    ".",
    "",
    "/",
    "/etc/passwd",
    "C:\\windows\\system32",
    "..\\..\\neighbour.txt",
    "a/../../../neighbour.txt",
    "%2e%2e%2fneighbour.txt",
    "nul\0byte",
    "line\nend",
    "x".repeat(5000),
    "فاتورة/货物/🚢.pdf",
    "CON",
    "a",
    "A",
    "a/",
    "./a",
    "a//b",
    "a/b",
  ];
  for (const key of keys) await putObject(key, encodeText(`content of ${key}`));
  for (const key of keys) expect((await readObject(key)).text).toBe(`content of ${key}`);
  expect(listFiles(folder)).toHaveLength(keys.length);
  expect(listFiles(root)).toHaveLength(keys.length + 1);
  expect(readFileSync(path.join(root, "neighbour.txt"), "utf8")).toBe("untouched");
  await storage.deleteObjects("documents", keys);
  expect(listFiles(root)).toEqual([path.join(root, "neighbour.txt")]);
});

test("The file names on disk reveal nothing about the objects' keys", async () => {
  await putObject("3f1c/secret-invoice.pdf", encodeText("x"));
  for (const file of listFiles(folder)) expect(file).not.toMatch(/3f1c\/|secret|invoice|pdf/);
});

function putObject(key: string, bytes: Uint8Array, type = "application/octet-stream", caching = "no-cache") {
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
