import { expect, test } from "vitest";
import { isConnectionLost } from "./connection.ts";

test.each([
  ["Chromium", new TypeError("Failed to fetch")],
  ["Safari", new TypeError("Load failed")],
  ["Firefox", new TypeError("NetworkError when attempting to fetch resource.")],
  ["React Router for an unreadable response", new Error("Unable to decode turbo-stream response")],
  ["a proxy", { status: 502, statusText: "Bad Gateway", data: "<h1>502</h1>", internal: false }],
  ["a proxy without a message", { status: 504, statusText: "", data: "", internal: true }],
])("A failure that %s reports counts as a lost connection.", (_source, error) => {
  expect(isConnectionLost(error)).toBe(true);
});

test.each([
  ["server error", new Error("Unexpected Server Error")],
  ["script error", new TypeError("undefined is not a function")],
  ["response of the site", { status: 503, statusText: "", data: { reason: "Failed to fetch" }, internal: false }],
  ["response about a form", { status: 400, statusText: "", data: "<p>Failed to fetch</p>", internal: false }],
])("A %s does not count as a lost connection.", (_what, error) => {
  expect(isConnectionLost(error)).toBe(false);
});
