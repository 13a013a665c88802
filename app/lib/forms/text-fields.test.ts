import { describe, expect, test } from "vitest";
import { oneLine, severalLines } from "./text-fields.ts";

const name = oneLine("Enter it.").min(1, "Enter it.").max(20, "At most 20.");
const message = severalLines("Write it.").max(20, "At most 20.");
const getErrorMessage = (schema: typeof name, typed: unknown) =>
  schema.safeParse(typed).error?.issues[0]?.message ?? null;

const invisibleTexts: [string, string][] = [
  ["the end of a line of a terminal", "\u001b[2K\u001b[1A"],
  ["a bell", "\u0007"],
  ["a zero byte", "\u0000"],
  ["a delete", "\u007f"],
  ["the first of C1", "\u0080"],
  ["a next line", "\u0085"],
  ["a C1 escape", "\u009b31m"],
  ["the last of C1", "\u009f"],
  ["a line separator", "\u2028"],
  ["a paragraph separator", "\u2029"],
  ...["\u202a", "\u202b", "\u202c", "\u202d", "\u202e"].map((mark): [string, string] => ["a direction override", mark]),
  ...["\u2066", "\u2067", "\u2068", "\u2069"].map((mark): [string, string] => ["a direction isolate", mark]),
  ["a form feed", "\u000c"],
];

describe.each(invisibleTexts)("%s", (_what, sign) => {
  test("Text fields of one line and of several lines reject this character.", () => {
    expect(getErrorMessage(name, `Tea${sign}Tea`)).toMatch(/^This holds a character that cannot be seen/);
    expect(getErrorMessage(message, `Tea${sign}Tea`)).toMatch(/^This holds a character that cannot be seen/);
  });
});

test.each(["\n", "\r", "\r\n", "\t"])(
  "A text field of one line rejects %j, and one of several lines accepts it.",
  (sign) => {
    expect(getErrorMessage(name, `Tea${sign}Coffee`)).toMatch(/^This holds a character that cannot be seen/);
    expect(message.parse(`Tea${sign}Coffee`)).toBe(`Tea${sign}Coffee`);
  },
);

test.each(["Wanjirũ O'Neill", "شركة الشحن", "ශ්‍රී ලංකා", "🚢 Tea", "100% \\ #1", "a\u00a0b", "\u200eab\u200f"])(
  "%s is text as people write it",
  (typed) => {
    expect(name.parse(typed)).toBe(typed);
    expect(message.parse(typed)).toBe(typed);
  },
);

test("blanks and line breaks around a line are no mistake, and the schema's own words stay", () => {
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
])("A text of only %j counts as empty.", (typed) => {
  expect(getErrorMessage(name, typed)).toBe("Enter it.");
  expect(message.parse(typed)).toBe("");
});
