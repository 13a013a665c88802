import { RouterContextProvider } from "react-router";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { stubSettings } from "../../../tests/support/stub-settings.ts";
import { ipAddressHeader } from "./ip-address.server.ts";
import type { TransferSlot } from "./transfer-slots.server.ts";

let acquireUploadSlot: typeof import("./transfer-slots.server.ts").acquireUploadSlot;
beforeAll(async () => {
  // 42 MiB hold four files of the maximum size. At most two of them can be files of visitors.
  stubSettings({ UPLOADS_MIB: "42" });
  ({ acquireUploadSlot } = await import("./transfer-slots.server.ts"));
});
afterAll(() => {
  vi.unstubAllEnvs();
  vi.resetModules();
});

function createUpload(address: string, bytes?: number): Request {
  const headers = { [ipAddressHeader]: address, ...(bytes && { "Content-Length": String(bytes) }) };
  return new Request("http://site.example/careers", { method: "POST", headers });
}

function requestSlot(address: string, bytes?: number, account?: string) {
  return acquireUploadSlot(createUpload(address, bytes), new RouterContextProvider(), account);
}

test("Uploads of visitors use at most their share of the memory, from any number of IP addresses.", () => {
  const [first] = ["192.0.2.101", "192.0.2.102"].map((address) => requestSlot(address, 10_000_000));
  expect(requestSlot("192.0.2.103", 9_000_000)).toEqual({
    reason: "Too many files are uploading at the moment. Try again in a minute.",
    status: 503,
  });
  expect(requestSlot("192.0.2.104", 1000)).toHaveProperty("release");
  if (first && "release" in first) first.release();
  expect(requestSlot("192.0.2.103", 9_000_000)).toHaveProperty("release");
});

test("An upload without a Content-Length reserves memory for a file of the maximum size.", () => {
  expect(requestSlot("192.0.2.105")).toMatchObject({ status: 503 });
});

test("An upload with a huge Content-Length reserves memory for a file of the maximum size only.", () => {
  const slot = requestSlot("192.0.2.108", 1e12, "client 108");
  expect(slot).toHaveProperty("release");
  if ("release" in slot) slot.release();
});

test("Clients can use the remaining upload memory while visitors use their whole share.", () => {
  const slots = Array.from({ length: 3 }, (_, client) => requestSlot("192.0.2.106", 10_000_000, `client ${client}`));
  expect(slots.map((slot) => "release" in slot)).toEqual([true, true, false]);
});

describe("Slots of one account", () => {
  let lib: typeof import("./transfer-slots.server.ts");
  let rateLimitMiddleware: typeof import("./rate-limiter.server.ts").rateLimitMiddleware;
  const slots: TransferSlot[] = [];
  beforeAll(async () => {
    // 84 MiB hold eight files of the maximum size, for uploads and for downloads.
    stubSettings({ UPLOADS_MIB: "84" });
    lib = await import("./transfer-slots.server.ts");
    ({ rateLimitMiddleware } = await import("./rate-limiter.server.ts"));
  });
  afterEach(() => {
    for (const { release } of slots.splice(0)) release();
  });

  async function transfer(account: string, direction: "download" | "upload"): Promise<string> {
    const context = new RouterContextProvider();
    const request = createUpload("192.0.2.107");
    const response = await rateLimitMiddleware({ request, context } as never, async () => {
      const slot =
        direction === "download"
          ? lib.acquireDownloadSlot(context, account)
          : lib.acquireUploadSlot(request, context, account);
      if ("release" in slot) slots.push(slot);
      return new Response(null, { status: "release" in slot ? 200 : slot.status });
    });
    return `${response?.status} ${response?.headers.get("Retry-After") ?? ""}`.trim();
  }
  const transferMany = async (count: number, account: string, direction: "download" | "upload" = "download") => {
    const statuses: string[] = [];
    for (let file = 0; file < count; file += 1) statuses.push(await transfer(account, direction));
    return statuses;
  };
  const successes = (count: number) => Array(count).fill("200");

  test("A clerk who downloads six files in parallel cannot start a seventh download until another download ends.", async () => {
    expect(await transferMany(8, "clerk")).toEqual([...successes(6), "429 60", "429 60"]);
    expect(await transferMany(1, "another clerk")).toEqual(successes(1));
    slots[3]?.release();
    expect(await transferMany(2, "clerk")).toEqual(["200", "429 60"]);
  });

  test("A download slot that is released twice makes one slot and its memory available.", async () => {
    await transferMany(6, "clerk");
    for (const _attempt of [1, 2]) slots[0]?.release();
    expect(await transferMany(2, "clerk")).toEqual(["200", "429 60"]);
    for (const { release } of slots) release();
    expect(await transferMany(6, "clerk")).toEqual(successes(6));
    expect(await transferMany(3, "another clerk")).toEqual([...successes(2), "503"]);
  });

  test("A download gets status 503 while the memory for downloads is in use, for every account.", async () => {
    await transferMany(8, "clerk");
    expect(await transferMany(3, "another clerk")).toEqual([...successes(2), "503"]);
    expect(await transferMany(1, "client")).toEqual(["503"]);
    slots[0]?.release();
    expect(await transferMany(2, "client")).toEqual(["200", "503"]);
  });

  test("Uploads and downloads use separate memory and count separately for each account.", async () => {
    for (const client of ["one", "two", "three"]) await transferMany(3, client, "upload");
    expect(await transferMany(1, "four", "upload")).toEqual(["503"]);
    expect(await transferMany(6, "one")).toEqual(successes(6));
    expect(await transferMany(3, "two")).toEqual([...successes(2), "503"]);
    for (const { release } of slots.splice(0)) release();
    for (const client of ["one", "two"]) await transferMany(6, client);
    expect(await transferMany(1, "one")).toEqual(["429 60"]);
    expect(await transferMany(4, "one", "upload")).toEqual([...successes(3), "429 60"]);
  });
});
