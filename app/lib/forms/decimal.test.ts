import { expect, test } from "vitest";
import { readDecimal } from "./decimal.ts";

test.each([
  ["1,250.50", 1250.5],
  [" 1 250.50 ", 1250.5],
  ["1\u00a0250,50", 1250.5],
  ["1250,50", 1250.5],
  ["1.250,50", 1250.5],
  ["1.250.000", 1_250_000],
  ["1,250,000.05", 1_250_000.05],
  ["-1,250.50", -1250.5],
  ["−5", -5],
  ["١٢٥٠٫٥", 1250.5],
  ["١٬٢٥٠٫٥٠", 1250.5],
  ["\u200f۱۲۵۰\u200e", 1250],
  ["१,२५०.५०", 1250.5],
  ["１，２５０．５０", 1250.5],
  ["0", 0],
])("The typed amount %j is read as the number %j.", (typed, number) => {
  expect(readDecimal(typed, 2)).toBe(number);
});

test.each([
  ...["", "abc", "KES 500", "1,00,000", "1,250,50", "1.250.50", "1 00", "0,250", "1250.505", "1,250 000"],
  ...[",50", "5.", "1e6", "0x10", "Infinity", "+5", "1--2"],
])("The text %j is not a valid amount.", (typed) => {
  expect(readDecimal(typed, 2)).toBe("");
});

test("A point before three digits is ambiguous in an amount, but a decimal point in an exchange rate.", () => {
  expect(readDecimal("1.250", 2)).toBe("1250 or 1.25");
  expect(readDecimal("129.255", 4)).toBe(129.255);
});

test("A comma before three digits separates thousands in an amount, but is ambiguous in an exchange rate.", () => {
  expect(readDecimal("12,500", 2)).toBe(12_500);
  expect(readDecimal("129,255", 4)).toBe("129255 or 129.2550");
  expect(readDecimal("1,129.25", 4)).toBe(1129.25);
  expect(readDecimal("0,862", 4)).toBe(0.862);
});
