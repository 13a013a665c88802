import { expect, test } from "vitest";
import { isConnectionLost } from "./connection.ts";

test.each([
  ["Chromium", new TypeError("Failed to fetch")],
  ["Safari", new TypeError("Load failed")],
  ["Firefox", new TypeError("NetworkError when attempting to fetch resource.")],
  ["the framework, of an answer that is not ours", new Error("Unable to decode turbo-stream response")],
  ["a proxy before the site", { status: 502, statusText: "Bad Gateway", data: "<h1>502</h1>", internal: false }],
  ["one without words", { status: 504, statusText: "", data: "", internal: true }],
])("a lost connection, in the words of %s", (_who, error) => {
  expect(isConnectionLost(error)).toBe(true);
});

test.each([
  ["what the server hides of its own errors", new Error("Unexpected Server Error")],
  ["a mistake in a page", new TypeError("undefined is not a function")],
  ["an answer", { status: 503, statusText: "", data: { reason: "Failed to fetch" }, internal: false }],
  ["an answer about the form", { status: 400, statusText: "", data: "<p>Failed to fetch</p>", internal: false }],
])("not a lost connection: %s", (_what, error) => {
  expect(isConnectionLost(error)).toBe(false);
});
