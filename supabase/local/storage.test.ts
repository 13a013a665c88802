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

test("an object comes back byte for byte with its media type, size and caching", async () => {
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
])("an object that holds %s comes back as it was", async (_what, content) => {
  await putObject("odd", encodeText(content), "text/plain");
  const { body, metadata } = await readObject("odd");
  expect(new TextDecoder().decode(body)).toBe(content);
  expect(metadata.mimetype).toBe("text/plain");
});

test.each(["text/plain; charset=utf-8", 'a"b/c', "text/\nplain", "تطبيق/pdf", ""])(
  "the media type %j is kept",
  async (type) => {
    await putObject("typed", encodeText("x"), type);
    expect((await readObject("typed")).metadata.mimetype).toBe(type);
    expect((await storage.headObject("documents", "typed", undefined)).mimetype).toBe(type);
  },
);

test("the head of an object is what its reading says about it", async () => {
  await putObject("tea.pdf", encodeText("%PDF-1.7"), "application/pdf");
  const head = await storage.headObject("documents", "tea.pdf", undefined);
  expect(head).toEqual((await readObject("tea.pdf")).metadata);
});

test("equal contents have equal tags and different ones do not", async () => {
  const [one, same, other] = [
    await putObject("1", encodeText("x")),
    await putObject("2", encodeText("x")),
    await putObject("3", encodeText("y")),
  ];
  expect(one.eTag).toBe(same.eTag);
  expect(one.eTag).not.toBe(other.eTag);
});

test("a replaced object is the new one, with the new type", async () => {
  await putObject("tea.pdf", encodeText("old, and longer than the new one"), "application/pdf");
  await putObject("tea.pdf", encodeText("new"), "image/png");
  const { body, metadata } = await readObject("tea.pdf");
  expect(new TextDecoder().decode(body)).toBe("new");
  expect(metadata).toMatchObject({ mimetype: "image/png", size: 3 });
  expect(listFiles(folder)).toHaveLength(1);
});

test("who reads while an object is replaced gets a whole one: the old or a new, with the type that belongs to it", async () => {
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

test("an upload that breaks off leaves the object as it was and nothing beside it", async () => {
  await putObject("tea.pdf", encodeText("whole"), "application/pdf");
  const broken = new ReadableStream<Uint8Array>({
    start(controller) {
      controller.enqueue(encodeText("half"));
    },
    pull(controller) {
      controller.error(new Error("the line went dead"));
    },
  });
  await expect(
    storage.uploadObject("documents", "tea.pdf", undefined, broken, "image/png", "no-cache"),
  ).rejects.toThrow("the line went dead");
  const { body, metadata } = await readObject("tea.pdf");
  expect(new TextDecoder().decode(body)).toBe("whole");
  expect(metadata.mimetype).toBe("application/pdf");
  expect(listFiles(folder)).toHaveLength(1);
});

test("an upload that comes as a stream is stored whole", async () => {
  const parts = ["one ", "two ", "three"];
  const stream = new ReadableStream<Uint8Array>({
    pull(controller) {
      const part = parts.shift();
      if (part) controller.enqueue(encodeText(part));
      else controller.close();
    },
  });
  await storage.uploadObject("documents", "streamed", undefined, stream, "text/plain", "no-cache");
  expect(new TextDecoder().decode((await readObject("streamed")).body)).toBe("one two three");
});

test("an object that is not there rejects with ENOENT", async () => {
  await expect(storage.getObject("documents", "none", undefined)).rejects.toMatchObject({ code: "ENOENT" });
  await expect(storage.headObject("documents", "none", undefined)).rejects.toMatchObject({ code: "ENOENT" });
  await expect(
    storage.copyObject("documents", "none", undefined, "documents", "copy", undefined),
  ).rejects.toMatchObject({
    code: "ENOENT",
  });
  await expect(storage.getObject("documents", "copy", undefined)).rejects.toMatchObject({ code: "ENOENT" });
});

test("a deleted object is gone, its neighbours are not, and deleting it again is no error", async () => {
  await putObject("a", encodeText("a"));
  await putObject("b", encodeText("b"));
  await putObject("c", encodeText("c"));
  await storage.deleteObject("documents", "a", undefined);
  await storage.deleteObject("documents", "a", undefined);
  await expect(readObject("a")).rejects.toMatchObject({ code: "ENOENT" });
  await storage.deleteObjects("documents", ["b", "none"]);
  await expect(readObject("b")).rejects.toMatchObject({ code: "ENOENT" });
  expect(new TextDecoder().decode((await readObject("c")).body)).toBe("c");
  expect(listFiles(folder)).toHaveLength(1);
});

test("a copy has the content and type of its source, which stays", async () => {
  await putObject("source", encodeText("x"), "image/webp", "max-age=5");
  await storage.copyObject("documents", "source", undefined, "archive", "copy", undefined);
  for (const [bucket, key] of [
    ["documents", "source"],
    ["archive", "copy"],
  ] as const) {
    const { body, metadata } = await readObject(key, bucket);
    expect(new TextDecoder().decode(body)).toBe("x");
    expect(metadata).toMatchObject({ mimetype: "image/webp", cacheControl: "max-age=5" });
  }
});

test("the same key in two buckets is two objects", async () => {
  await storage.uploadObject("one", "key", undefined, encodeText("1"), "text/plain", "no-cache");
  await storage.uploadObject("two", "key", undefined, encodeText("2"), "text/plain", "no-cache");
  expect(new TextDecoder().decode((await readObject("key", "one")).body)).toBe("1");
  expect(new TextDecoder().decode((await readObject("key", "two")).body)).toBe("2");
});

test("keys that try to leave the folder are objects in it like any other, each its own", async () => {
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
  for (const key of keys) expect(new TextDecoder().decode((await readObject(key)).body)).toBe(`content of ${key}`);
  expect(listFiles(folder)).toHaveLength(keys.length);
  expect(listFiles(root)).toHaveLength(keys.length + 1);
  expect(readFileSync(path.join(root, "neighbour.txt"), "utf8")).toBe("untouched");
  await storage.deleteObjects("documents", keys);
  expect(listFiles(root)).toEqual([path.join(root, "neighbour.txt")]);
});

test("the files' names on disk tell nothing of their owners", async () => {
  await putObject("3f1c/secret-invoice.pdf", encodeText("x"));
  for (const file of listFiles(folder)) expect(file).not.toMatch(/3f1c\/|secret|invoice|pdf/);
});

test("another store on the same folder finds the objects", async () => {
  await putObject("tea.pdf", encodeText("x"), "application/pdf");
  const { body, metadata } = await createFileStorage(folder).getObject("documents", "tea.pdf", undefined);
  expect(new TextDecoder().decode(body as Uint8Array)).toBe("x");
  expect(metadata.mimetype).toBe("application/pdf");
});

function putObject(key: string, bytes: Uint8Array, type = "application/octet-stream", caching = "no-cache") {
  return storage.uploadObject("documents", key, undefined, bytes, type, caching);
}

async function readObject(key: string, bucket = "documents") {
  const { body, metadata } = await storage.getObject(bucket, key, undefined);
  return { body: new Uint8Array(body as Uint8Array), metadata };
}

function encodeText(content: string) {
  return new TextEncoder().encode(content);
}

/** Every file below a folder, with its path. */
function listFiles(where: string): string[] {
  return readdirSync(where, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath, entry.name));
}
