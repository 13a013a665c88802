import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { stubSettings } from "../../../tests/support/stub-settings.ts";

let createFileResponse: typeof import("./file-route.server.ts").createFileResponse;
beforeAll(async () => {
  stubSettings({ SLOWEST_KIB: "2" });
  ({ createFileResponse } = await import("./file-route.server.ts"));
});
afterAll(() => {
  vi.unstubAllEnvs();
  vi.resetModules();
});

const address = "http://site.example/portal/a/documents/b";
const large = new Uint8Array(200_000).map((_, index) => index % 251);

/** Returns the response for a test file, and a function that returns whether the file's slot was released. */
function openTestFile(request = new Request(address), content = large) {
  let isReleased = false;
  const release = () => {
    isReleased = true;
  };
  const file = { content, name: "Packing List", file_name: "list.pdf", media_type: "application/pdf" };
  return { response: createFileResponse(file, request, { release }), isReleased: () => isReleased };
}

describe("download slots", () => {
  test("A download slot is held until the reader has the whole unchanged file.", async () => {
    const { response, isReleased } = openTestFile();
    const reader = response.body?.getReader();
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
    expect(response.headers.get("Content-Length")).toBe(String(large.length));
  });

  test("A download slot is held while nobody reads, and released when the reader cancels.", async () => {
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

  test("A download slot is released immediately when the request was aborted before the download.", () => {
    const { response, isReleased } = openTestFile(new Request(address, { signal: AbortSignal.abort() }));
    expect([response.body, isReleased()]).toEqual([null, true]);
  });

  test("A HEAD request releases its download slot immediately and gets the length of the file.", () => {
    const { response, isReleased } = openTestFile(new Request(address, { method: "HEAD" }));
    expect([response.body, isReleased()]).toEqual([null, true]);
    expect(response.headers.get("Content-Length")).toBe(String(large.length));
  });

  test("The download slot of an empty file is released.", async () => {
    const { response, isReleased } = openTestFile(new Request(address), new Uint8Array());
    expect([(await response.arrayBuffer()).byteLength, isReleased()]).toEqual([0, true]);
  });
});

describe("slow readers", () => {
  let seconds = 0;
  afterEach(() => {
    vi.restoreAllMocks();
    seconds = 0;
  });
  const startReading = () => {
    vi.spyOn(performance, "now").mockImplementation(() => 1_000_000 + seconds * 1000);
    const opened = openTestFile(new Request(address), new Uint8Array(1_000_000));
    const reader = opened.response.body?.getReader();
    return { ...opened, read: async () => (await reader?.read())?.value?.length ?? 0 };
  };

  test("A reader slower than SLOWEST_KIB is cut off after a minute, and its download slot is released.", async () => {
    const { read, isReleased } = startReading();
    const first = await read();
    expect(first).toBeGreaterThan(0);
    seconds = first / 2048 + 61;
    await expect(read()).rejects.toThrow("The browser downloads the file too slowly.");
    expect(isReleased()).toBe(true);
    await expect(read()).rejects.toThrow("The browser downloads the file too slowly.");
  });

  test("A reader that stops after a fast start is cut off at the next read.", async () => {
    const { read, isReleased } = startReading();
    let sent = 0;
    for (let parts = 0; parts < 5; parts += 1) sent += await read();
    seconds = sent / 2048 - 1;
    sent += await read();
    expect([sent < 1_000_000, isReleased()]).toEqual([true, false]);
    seconds = sent / 2048 + 1;
    await expect(read()).rejects.toThrow("The browser downloads the file too slowly.");
    expect(isReleased()).toBe(true);
  });

  test("A reader may be slower than SLOWEST_KIB for a minute.", async () => {
    const { read, isReleased } = startReading();
    for (const at of [0, 59, 60]) {
      seconds = at;
      expect([at, (await read()) > 0, isReleased()]).toEqual([at, true, false]);
    }
  });

  test("A reader at least as fast as SLOWEST_KIB gets the whole file, however long it takes.", async () => {
    const { read, isReleased } = startReading();
    let sent = 0;
    while (sent < 1_000_000) {
      expect(isReleased()).toBe(false);
      sent += await read();
      seconds = sent / 2048;
    }
    expect([sent, seconds > 400, isReleased()]).toEqual([1_000_000, true, true]);
  });
});
