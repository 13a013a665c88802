import { describe, expect, test } from "vitest";
import { createDownloadResponse } from "./file-route.server.ts";

const address = "http://site.example/portal/a/documents/b";
const large = new Uint8Array(200_000).map((_, index) => index % 251);

async function* readPieces(content: Uint8Array<ArrayBuffer>) {
  for (let from = 0; from < content.length; from += 70_000) yield content.subarray(from, from + 70_000);
}

/**
 * Returns the download response for a test file. The returned `isReleased` returns true if the download slot is free
 * again.
 */
function openTestFile(request = new Request(address), content = readPieces(large), size = large.length) {
  let isReleased = false;
  const release = () => {
    isReleased = true;
  };
  const file = { content, name: "list.pdf", mediaType: "application/pdf", size };
  return { response: createDownloadResponse(file, request, { release }), isReleased: () => isReleased };
}

describe("Download slots", () => {
  test("A download occupies its slot until the reader has received the whole file unchanged.", async () => {
    const { response, isReleased } = openTestFile();
    const reader = response.body?.getReader();
    const read: Uint8Array[] = [];
    let length = 0;
    while (length < large.length) {
      expect([length, isReleased()]).toEqual([length, false]);
      const { value } = (await reader?.read()) ?? {};
      if (!value) throw new Error(`The response ended after ${length} bytes.`);
      read.push(value);
      length += value.length;
    }
    expect(Math.max(...read.map(({ length }) => length))).toBeLessThanOrEqual(16_384);
    expect(await reader?.read()).toMatchObject({ done: true });
    expect(isReleased()).toBe(true);
    expect(Buffer.concat(read).equals(large)).toBe(true);
    expect(response.headers.get("Content-Length")).toBe(String(large.length));
  });

  test("A download occupies its slot while nobody reads, and releases the slot when the reader cancels.", async () => {
    const { response, isReleased } = openTestFile();
    const reader = response.body?.getReader();
    await reader?.read();
    expect(isReleased()).toBe(false);
    await reader?.cancel();
    expect(isReleased()).toBe(true);
  });

  test("A download slot is released when the request is aborted during the download.", async () => {
    const controller = new AbortController();
    const { response, isReleased } = openTestFile(new Request(address, { signal: controller.signal }));
    await response.body?.getReader().read();
    expect(isReleased()).toBe(false);
    controller.abort();
    expect(isReleased()).toBe(true);
  });

  test.each([
    ["an aborted request", { signal: AbortSignal.abort() }],
    ["a HEAD request", { method: "HEAD" }],
  ])(
    "The response to %s releases its download slot immediately and has the file's length as Content-Length.",
    (_what, init) => {
      const { response, isReleased } = openTestFile(new Request(address, init));
      expect([response.body, isReleased()]).toEqual([null, true]);
      expect(response.headers.get("Content-Length")).toBe(String(large.length));
    },
  );

  test("The response for an empty file releases its download slot.", async () => {
    const { response, isReleased } = openTestFile(new Request(address), readPieces(new Uint8Array()), 0);
    expect([(await response.arrayBuffer()).byteLength, isReleased()]).toEqual([0, true]);
  });

  test("A download slot is released when the file cannot be read to its end.", async () => {
    const failing = (async function* () {
      yield large;
      throw new Error("The storage does not respond.");
    })();
    const { response, isReleased } = openTestFile(new Request(address), failing);
    await expect(response.arrayBuffer()).rejects.toThrow("The storage does not respond.");
    expect(isReleased()).toBe(true);
  });
});
