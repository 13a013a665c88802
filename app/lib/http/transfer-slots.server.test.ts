import { RouterContextProvider } from "react-router";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { stubSettings } from "../../../tests/support/stub-settings.ts";
import { ipAddressHeader } from "./ip-address.server.ts";
import type { TransferSlot } from "./transfer-slots.server.ts";

let acquireUploadSlot: typeof import("./transfer-slots.server.ts").acquireUploadSlot;
beforeAll(async () => {
  // Enough space for four of the largest files, two of them from visitors.
  stubSettings({ UPLOADS_MIB: "42" });
  ({ acquireUploadSlot } = await import("./transfer-slots.server.ts"));
});
afterAll(() => {
  vi.unstubAllEnvs();
  vi.resetModules();
});

function requestSlot(from: string, bytes: number, account?: string) {
  const headers = { "Content-Length": String(bytes), [ipAddressHeader]: from };
  const request = new Request("http://site.example/careers", { method: "POST", headers });
  return acquireUploadSlot(request, new RouterContextProvider(), account);
}

test("uploads of visitors fill at most their share of the memory, from however many addresses", () => {
  const [first] = ["192.0.2.101", "192.0.2.102"].map((from) => requestSlot(from, 10_000_000));
  expect(requestSlot("192.0.2.103", 9_000_000)).toEqual({
    reason: "Too many files are on their way to us. Try again in a minute.",
    status: 503,
  });
  expect(requestSlot("192.0.2.104", 1000)).toHaveProperty("release");
  if (first && "release" in first) first.release();
  expect(requestSlot("192.0.2.103", 9_000_000)).toHaveProperty("release");
});

test("An upload without a Content-Length reserves the space of the largest file.", () => {
  const headers = { [ipAddressHeader]: "192.0.2.105" };
  const request = new Request("http://site.example/careers", { method: "POST", headers });
  expect(acquireUploadSlot(request, new RouterContextProvider(), undefined)).toMatchObject({ status: 503 });
});

test("An upload with any Content-Length reserves at most the space of the largest file.", () => {
  const place = requestSlot("192.0.2.108", 1e12, "client 108");
  expect(place).toHaveProperty("release");
  if ("release" in place) place.release();
});

test("uploads of clients fit while visitors fill their share, up to the total and no more", () => {
  const clients = Array.from({ length: 3 }, (_, client) => requestSlot("192.0.2.106", 10_000_000, `client ${client}`));
  expect(clients.map((place) => "release" in place)).toEqual([true, true, false]);
});

describe("stored files on their way to who opens them", () => {
  let lib: typeof import("./transfer-slots.server.ts");
  let limitsMiddleware: typeof import("./rate-limiter.server.ts").rateLimitMiddleware;
  const places: TransferSlot[] = [];
  beforeAll(async () => {
    // Enough space for eight of the largest files in each direction.
    stubSettings({ UPLOADS_MIB: "84" });
    lib = await import("./transfer-slots.server.ts");
    ({ rateLimitMiddleware: limitsMiddleware } = await import("./rate-limiter.server.ts"));
  });
  afterEach(() => {
    for (const { release } of places.splice(0)) release();
  });

  /** Returns the slot of a file that an account opens or sends, or the status and Retry-After of the rejection. */
  async function ask(account: string, way: "opens" | "sends" = "opens"): Promise<TransferSlot | string> {
    const context = new RouterContextProvider();
    const request = new Request("http://site.example/portal", { headers: { [ipAddressHeader]: "192.0.2.107" } });
    let place: TransferSlot | string = "";
    const answer = await limitsMiddleware({ request, context } as never, async () => {
      const taken =
        way === "opens" ? lib.acquireDownloadSlot(context, account) : lib.acquireUploadSlot(request, context, account);
      if ("release" in taken) place = taken;
      return new Response(null, { status: "release" in taken ? 200 : taken.status });
    });
    if (typeof place === "object") places.push(place);
    return place || `${answer?.status} ${answer?.headers.get("Retry-After") ?? ""}`.trim();
  }
  const asked = async (count: number, account: string, way?: "opens" | "sends") => {
    const answers = [];
    for (let file = 0; file < count; file += 1) answers.push(await ask(account, way));
    return answers.map((answer) => (typeof answer === "string" ? answer : "taken"));
  };
  const taken = (count: number) => Array(count).fill("taken");

  test("An account has at most six parallel downloads.", async () => {
    expect(await asked(8, "clerk")).toEqual([...taken(6), "429 60", "429 60"]);
    expect(await asked(1, "another clerk")).toEqual(taken(1));
    places[3]?.release();
    expect(await asked(2, "clerk")).toEqual(["taken", "429 60"]);
  });

  test("leave one place each, also when it is released twice", async () => {
    await asked(6, "clerk");
    for (const _twice of [1, 2]) places[0]?.release();
    expect(await asked(2, "clerk")).toEqual(["taken", "429 60"]);
    for (const { release } of places) release();
    // Nor does the memory count as freer than it is.
    expect(await asked(6, "clerk")).toEqual(taken(6));
    expect(await asked(3, "another clerk")).toEqual([...taken(2), "503"]);
  });

  test("Downloads are rejected with 503 for every account while their memory is full.", async () => {
    await asked(6, "clerk");
    expect(await asked(3, "another clerk")).toEqual([...taken(2), "503"]);
    expect(await asked(1, "client")).toEqual(["503"]);
    places[0]?.release();
    expect(await asked(2, "client")).toEqual(["taken", "503"]);
  });

  test("Downloads and uploads do not share their memory.", async () => {
    for (const client of ["one", "two", "three"]) await asked(3, client, "sends");
    expect(await asked(1, "four", "sends")).toEqual(["503"]);
    // Who sends as many as one may opens as many as one may.
    expect(await asked(6, "one")).toEqual(taken(6));
    expect(await asked(3, "two")).toEqual([...taken(2), "503"]);
    for (const { release } of places.splice(0)) release();
    for (const client of ["one", "two"]) await asked(6, client);
    expect(await asked(1, "one")).toEqual(["429 60"]);
    expect(await asked(4, "one", "sends")).toEqual([...taken(3), "429 60"]);
  });
});
