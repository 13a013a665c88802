import { describe, expect, test } from "vitest";
import { escapeInvisible } from "./invisible-characters.ts";

describe("Characters that control a terminal", () => {
  test.each([
    ["a line break, and a return to the line's beginning", "tea\n5a\r", "tea\\u000a5a\\u000d"],
    [
      "a colour, a cleared screen, a window's title",
      "\x1b[31m\x1b[2J\x1b]0;x\x07",
      "\\u001b[31m\\u001b[2J\\u001b]0;x\\u0007",
    ],
    ["the same commands in one byte (C1)", "\x9b31m\x85", "\\u009b31m\\u0085"],
    ["deleting", "a\x7f\b", "a\\u007f\\u0008"],
    ["direction overrides and isolates", "\u202egpj.\u2066x\u2069\u200f", "\\u202egpj.\\u2066x\\u2069\\u200f"],
    ["line and paragraph separators", "a\u2028b\u2029", "a\\u2028b\\u2029"],
    ["what has no width", "a\u200b\u2060\ufeff\u00ad", "a\\u200b\\u2060\\ufeff\\u00ad"],
    ["invisible tags beyond 16 bits", "a\u{e0041}", "a\\udb40\\udc41"],
    ["half of a pair", "a\ud800b", "a\\ud800b"],
    ["blanks that are no space", "a\u00a0b\u3000", "a\\u00a0b\\u3000"],
  ])("A log line contains escape sequences in place of %s.", (_what, typed, shown) => {
    expect(escapeInvisible(typed)).toBe(shown);
  });
});

test("A log line contains visible text unchanged.", () => {
  const text = 'Chai ya Kericho, 20 m³, „façade“ 茶 شاي 🚢 "C:\\new" $x €5';
  expect(escapeInvisible(text)).toBe(text);
});

test("Escaping the invisible characters of a JSON text does not change the JSON value.", () => {
  const value = { name: '\x1b[2J\x9b1m\u202e\u2028\u{e0041}\n"\\u0041' };
  const printed = escapeInvisible(JSON.stringify(value));
  expect(printed).toMatch(/^[\x20-\x7e]+$/);
  expect(JSON.parse(printed)).toEqual(value);
});
