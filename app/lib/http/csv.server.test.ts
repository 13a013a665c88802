import { describe, expect, test } from "vitest";
import { csvLine } from "./csv.server.ts";

/** Returns a cell as it is in a line, without its quotes. */
const formatCell = (text: string) => csvLine([text]).slice(1, -3);

describe("a formula gets an apostrophe before it", () => {
  test.each(["=1+1", "+254700", "-2+3", "@SUM(A1)", "＝1+1", "＋1", "－1", "＠SUM(A1)"])(
    "where a cell begins: %j",
    (text) => {
      expect(formatCell(text)).toBe(`'${text}`);
    },
  );

  test.each([
    ["a space", " "],
    ["many spaces", "   "],
    ["a space that does not break", "\u00a0"],
    ["a space of no width", "\u200b"],
    ["a mark of direction", "\u200f"],
    ["an invisible operator", "\u2061"],
    ["the mark of UTF-8", "\ufeff"],
    ["several of these", " \u200b\u00a0\u200f\u2061 "],
    ["a tab", "\t"],
    ["a new line", "\r\n"],
  ])("after %s", (_what, before) => {
    for (const sign of ["=", "+", "-", "@", "＝", "＠"])
      expect(formatCell(`${before}${sign}1`)).toBe(`${before}'${sign}1`);
  });

  test.each([";", "\t", "\n", "\r\n"])("after %j inside a cell, where some programs part cells", (mark) => {
    expect(formatCell(`Tea${mark}=1+1`)).toBe(`Tea${mark}'=1+1`);
    expect(formatCell(`Tea${mark} \u200b@SUM(A1)${mark}－2`)).toBe(`Tea${mark} \u200b'@SUM(A1)${mark}'－2`);
    expect(formatCell(`=1${mark}${mark}+2`)).toBe(`'=1${mark}${mark}'+2`);
  });

  // A program that parts cells at semicolons takes the quotes here for those of an empty cell with more behind it.
  test.each([
    ['Tea";"=1+1;', `Tea"";""'=1+1;`],
    ['"=1+1', `""'=1+1`],
    ['Tea;" "=1+1', `Tea;"" ""'=1+1`],
  ])("after quotes that another program reads as the end of a cell: %j", (text, shown) => {
    expect(formatCell(text)).toBe(shown);
  });
});

test.each(["\tTea", "\rTea", "\t", "\t\tTea"])("a cell that begins with a tab or a return gets one too: %j", (text) => {
  expect(formatCell(text)).toBe(`'${text}`);
});

test.each([
  "a - b",
  "a-b",
  "1+1=2",
  "Tea, 5 - 7 boxes",
  "tea@client.example",
  "x = y",
  "Tea; Rice",
  "Tea\tRice",
  "5＋5",
  "",
  " ",
  "\u200bTea",
  "'=1",
])("plain text stays as it is: %j", (text) => {
  expect(formatCell(text)).toBe(text);
});

test("cells are quoted, and their quotes doubled", () => {
  expect(csvLine(['Plain, "quoted"', "", "two\nlines"])).toBe('"Plain, ""quoted""","","two\nlines"\r\n');
});
