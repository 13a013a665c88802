import { expect, test } from "vitest";
import { csvLine } from "./csv.server.ts";

/** Returns `text` as a CSV cell, without the quotation marks around the cell. */
const formatCell = (text: string) => csvLine([text]).slice(1, -3);

test.each([
  ...["=1+1", "+254700", "-2+3", "@SUM(A1)", "＝1+1", "＋1", "－1", "＠SUM(A1)"],
  ...["\tTea", "\rTea", "\t", "\t\tTea"],
])("A CSV cell that starts with %j gets an apostrophe in front.", (text) => {
  expect(formatCell(text)).toBe(`'${text}`);
});

test.each([
  ["a space", " "],
  ["a non-breaking space", "\u00a0"],
  ["a zero-width space", "\u200b"],
  ["several invisible characters", " \u200b\u00a0\u200f\u2061 "],
  ["a tab", "\t"],
  ["a line break", "\r\n"],
])("A formula after %s in a CSV cell gets an apostrophe in front.", (_what, before) => {
  for (const sign of ["=", "+", "-", "@", "＝", "＠"])
    expect(formatCell(`${before}${sign}1`)).toBe(`${before}'${sign}1`);
});

test("A formula in a CSV cell after a semicolon, tab or line break gets an apostrophe in front.", () => {
  for (const mark of [";", "\t", "\n", "\r\n"]) {
    expect(formatCell(`Tea${mark} \u200b@SUM(A1)${mark}－2`)).toBe(`Tea${mark} \u200b'@SUM(A1)${mark}'－2`);
    expect(formatCell(`=1${mark}${mark}+2`)).toBe(`'=1${mark}${mark}'+2`);
  }
});

// Spreadsheets that separate cells at semicolons can read the text after a quotation mark as a formula.
test.each([
  ['Tea";"=1+1;', `Tea"";""'=1+1;`],
  ['"=1+1', `""'=1+1`],
  ['Tea;" "=1+1', `Tea;"" ""'=1+1`],
])("A formula after a quotation mark in a CSV cell, as in %j, gets an apostrophe in front.", (text, shown) => {
  expect(formatCell(text)).toBe(shown);
});

test.each([
  ...["a - b", "1+1=2", "tea@client.example", "Tea; Rice", "Tea\tRice", "5＋5", "", " ", "\u200bTea", "'=1", "2 boxes"],
  ...["071-12345675", "12x4", "MSKU9070323", "May contain nuts"],
])("The plain text %j stays unchanged in a CSV cell.", (text) => {
  expect(formatCell(text)).toBe(text);
});

test.each(["07112345675", "123456789012345678", "123E45", "1-2-26", "12", "3.50", "MAR-12", "2 Sept", "true", "50%"])(
  "A spreadsheet shows the text %j of a CSV file unchanged.",
  (text) => {
    expect(csvLine([text])).toBe(`"=""${text}"""\r\n`);
  },
);

test("A spreadsheet reads numbers and times in a CSV file as numbers and times.", () => {
  expect(csvLine([7, 12.5, "2026-11-23 14:05", "2026-11-23"])).toBe('"7","12.5","2026-11-23 14:05","2026-11-23"\r\n');
});

// A regular expression with quadratic run time would exceed the time limit of a test.
test.each(["\t", "\n", "; ", '"', "1", "-"])(
  "Formatting a CSV cell with a million times %j takes less than the time limit of a test.",
  (mark) => {
    expect(formatCell(`${mark.repeat(1_000_000)}x`)).toContain("x");
  },
);

test("A CSV line has quotation marks around each cell and doubles the quotation marks inside cells.", () => {
  expect(csvLine(['Plain, "quoted"', "", "two\nlines"])).toBe('"Plain, ""quoted""","","two\nlines"\r\n');
});
