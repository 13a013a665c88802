import { describe, expect, test } from "vitest";
import { fileAnswer } from "./document-file.server.ts";

const address = "http://site.example/portal/a/documents/b";
/** More than is handed over at once. */
const large = new Uint8Array(200_000).map((_, index) => index % 251);

/** The answer to a request for a stored file, and whether its place is free again. */
function open(request = new Request(address), content = large) {
  let isReleased = false;
  const release = () => {
    isReleased = true;
  };
  const file = { content, name: "Packing List", file_name: "list.pdf", media_type: "application/pdf" };
  return { answer: fileAnswer(file, request, { release }), isReleased: () => isReleased };
}

describe("the place of a stored file that is sent", () => {
  test("is kept until its reader has all of it, as it was stored", async () => {
    const { answer, isReleased } = open();
    const reader = answer.body?.getReader();
    const read: Uint8Array[] = [];
    let length = 0;
    while (length < large.length) {
      expect([length, isReleased()]).toEqual([length, false]);
      const { value } = (await reader?.read()) ?? {};
      if (!value) throw new Error(`It ended after ${length} bytes`);
      read.push(value);
      length += value.length;
    }
    expect(read.length).toBeGreaterThan(1);
    expect(isReleased()).toBe(true);
    expect(await reader?.read()).toMatchObject({ done: true });
    expect(Buffer.concat(read).equals(large)).toBe(true);
    expect(answer.headers.get("Content-Length")).toBe(String(large.length));
  });

  test("is kept while nobody reads, and released when its reader cancels", async () => {
    const { answer, isReleased } = open();
    const reader = answer.body?.getReader();
    await reader?.read();
    expect(isReleased()).toBe(false);
    await reader?.cancel();
    expect(isReleased()).toBe(true);
  });

  test("is released when the request is aborted on the way", async () => {
    const line = new AbortController();
    const { answer, isReleased } = open(new Request(address, { signal: line.signal }));
    await answer.body?.getReader().read();
    expect(isReleased()).toBe(false);
    line.abort();
    expect(isReleased()).toBe(true);
  });

  test("is released at once when the request was aborted before", () => {
    const { answer, isReleased } = open(new Request(address, { signal: AbortSignal.abort() }));
    expect([answer.body, isReleased()]).toEqual([null, true]);
  });

  test("is released at once when the head alone is asked for, which says how long the file is", () => {
    const { answer, isReleased } = open(new Request(address, { method: "HEAD" }));
    expect([answer.body, isReleased()]).toEqual([null, true]);
    expect(answer.headers.get("Content-Length")).toBe(String(large.length));
  });

  test("of an empty file is released too", async () => {
    const { answer, isReleased } = open(new Request(address), new Uint8Array());
    expect([(await answer.arrayBuffer()).byteLength, isReleased()]).toEqual([0, true]);
  });
});
