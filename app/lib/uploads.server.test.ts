import { RouterContextProvider } from "react-router";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { withSettings } from "../../tests/support/settings.ts";
import { addressHeader } from "./client-address.server.ts";

let takePlace: typeof import("./uploads.server.ts").takePlace;
beforeAll(async () => {
  // Room for four of the largest files, two of them from visitors.
  withSettings({ UPLOADS_MIB: "42" });
  ({ takePlace } = await import("./uploads.server.ts"));
});
afterAll(() => {
  vi.unstubAllEnvs();
  vi.resetModules();
});

function begin(from: string, bytes: number, account?: string) {
  const headers = { "Content-Length": String(bytes), [addressHeader]: from };
  const request = new Request("http://site.example/careers", { method: "POST", headers });
  return takePlace(request, new RouterContextProvider(), account);
}

test("uploads of visitors fill at most their share of the memory, from however many addresses", () => {
  const [first] = ["192.0.2.101", "192.0.2.102"].map((from) => begin(from, 10_000_000));
  expect(begin("192.0.2.103", 9_000_000)).toEqual({
    reason: "Too many files are on their way to us. Try again in a minute.",
    status: 503,
  });
  expect(begin("192.0.2.104", 1000)).toHaveProperty("release");
  if (first && "release" in first) first.release();
  expect(begin("192.0.2.103", 9_000_000)).toHaveProperty("release");
});

test("an upload without a Content-Length reserves room for the largest", () => {
  const headers = { [addressHeader]: "192.0.2.105" };
  const request = new Request("http://site.example/careers", { method: "POST", headers });
  expect(takePlace(request, new RouterContextProvider(), undefined)).toMatchObject({ status: 503 });
});

test("uploads of clients fit while visitors fill their share, up to the total and no more", () => {
  const clients = Array.from({ length: 3 }, (_, client) => begin("192.0.2.106", 10_000_000, `client ${client}`));
  expect(clients.map((place) => "release" in place)).toEqual([true, true, false]);
});
