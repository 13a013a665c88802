import { expect, test } from "vitest";
import { oneLine, severalLines } from "./text-fields.ts";

const name = oneLine("Enter it.").min(1, "Enter it.").max(20, "At most 20.");
const message = severalLines("Write it.").max(20, "At most 20.");
const getErrorMessage = (schema: typeof name, typed: unknown) =>
  schema.safeParse(typed).error?.issues[0]?.message ?? null;

const invisibleError = /^Remove (?:line breaks and )?special characters, then try again\.$/;
const directionOverrides = ["\u202a", "\u202b", "\u202c", "\u202d", "\u202e"];
const directionIsolates = ["\u2066", "\u2067", "\u2068", "\u2069"];

test.each([
  ["the terminal command to delete a line", "\u001b[2K\u001b[1A"],
  ["a bell", "\u0007"],
  ["a zero byte", "\u0000"],
  ["a form feed", "\u000c"],
  ["a delete character", "\u007f"],
  ["the first C1 character", "\u0080"],
  ["a next-line character", "\u0085"],
  ["a C1 escape", "\u009b31m"],
  ["the last C1 character", "\u009f"],
  ["a line separator", "\u2028"],
  ["a paragraph separator", "\u2029"],
  ...directionOverrides.map((mark) => ["a direction override", mark] as [string, string]),
  ...directionIsolates.map((mark) => ["a direction isolate", mark] as [string, string]),
])("Every text field rejects %s.", (_what, character) => {
  for (const field of [name, message]) expect(getErrorMessage(field, `Tea${character}Tea`)).toMatch(invisibleError);
});

test.each(["\n", "\r", "\r\n", "\t"])(
  "A one-line field rejects %j, but a field of several lines accepts the text.",
  (sign) => {
    expect(getErrorMessage(name, `Tea${sign}Coffee`)).toMatch(invisibleError);
    expect(message.parse(`Tea${sign}Coffee`)).toBe(`Tea${sign}Coffee`);
  },
);

test.each(["Wanjirũ O'Neill", "شركة الشحن", "ශ්‍රී ලංකා", "🚢 Tea", "100% \\ #1", "a\u00a0b", "\u200eab\u200f"])(
  "Every text field accepts %s unchanged.",
  (typed) => {
    expect(name.parse(typed)).toBe(typed);
    expect(message.parse(typed)).toBe(typed);
  },
);

test("A field of one line removes spaces and line breaks around its text, and uses its own error messages.", () => {
  expect(name.parse(" Tea\r\n")).toBe("Tea");
  expect(getErrorMessage(name, undefined)).toBe("Enter it.");
  expect(getErrorMessage(name, " \n ")).toBe("Enter it.");
  expect(getErrorMessage(name, "x".repeat(21))).toBe("At most 20.");
});

test.each([
  "\u200b",
  "\u00a0",
  "\u3164",
  "\u2800 \u2800",
  "\u061c",
  "\ufeff\u200e",
  "\ufe0f",
  "\u0301",
  "\u{e0041}",
  "\u{e0100}",
])("A text field with only %j counts as empty.", (typed) => {
  expect(getErrorMessage(name, typed)).toBe("Enter it.");
  expect(message.parse(typed)).toBe("");
});
