import { expect, test } from "vitest";
import { getCheckDigit, parseContainerNumbers } from "./container-number.ts";

test.each([
  ["CSQU3054383", 3],
  ["TOLU4734787", 7],
  ["MSCU6639870", 0],
])("The container number %s has the check digit %i.", (number, digit) => {
  expect(getCheckDigit(number)).toBe(digit);
});

test.each([
  ["with spaces, as printed on containers", "CSQU 305438 3"],
  ["with dashes and Arabic digits", "CSQU\u2013٣٠٥٤٣٨\u2013٣"],
  ["with invisible direction marks", "\u202aCSQU3054383\u202c"],
  ["in full-width characters", "ＣＳＱＵ３０５４３８３"],
])("A container number %s is recognised.", (_, text) => {
  expect(parseContainerNumbers(text)).toEqual({ numbers: ["CSQU3054383"] });
});

test.each(["\n", "\u2028", ", ", "، ", "; ", " ", "\t", "", " / "])(
  "The separator %j divides two container numbers.",
  (separator) => {
    const text = ["CSQU3054383", "TOLU 473478 7"].join(separator);
    expect(parseContainerNumbers(text)).toEqual({ numbers: ["CSQU3054383", "TOLU4734787"] });
  },
);

test("A repeated container number is returned once, and a text without letters and digits has no container numbers.", () => {
  expect(parseContainerNumbers("CSQU3054383, CSQU 305438-3")).toEqual({ numbers: ["CSQU3054383"] });
  for (const text of ["", " \n ", ", -"]) expect(parseContainerNumbers(text)).toEqual({ numbers: [] });
});

test.each([
  ["with a heading", "Container No\nCSQU3054383\nTOLU4734787"],
  ["with a column of sizes", "CSQU3054383\t40HC\nTOLU4734787\t20GP"],
  ["with a column of row numbers", "1\tCSQU3054383\n2\tTOLU4734787"],
  ["with Windows line breaks", "CSQU3054383\r\nTOLU4734787\r\n"],
])("The container numbers in spreadsheet rows %s are recognised.", (_, text) => {
  expect(parseContainerNumbers(text)).toEqual({ numbers: ["CSQU3054383", "TOLU4734787"] });
});

test("The error for wrong check digits names the correct check digit of each container number.", () => {
  expect(parseContainerNumbers("CSQU3054384\nTOLU4734787\nMSKU9070320").problem).toBe(
    "Compare CSQU3054384 with your document, because a letter or digit is wrong. Compare MSKU9070320 with your document, because a letter or digit is wrong.",
  );
});

test("The error for several invalid container numbers quotes each of them as typed.", () => {
  expect(parseContainerNumbers("MSKU9O70323\n csqu-30543 \n1").problem).toBe(
    "Invalid container number: MSKU9O70323, csqu-30543, 1. A container number has four letters and seven digits. The fourth letter is U, J or Z.",
  );
});

test.each(["CSQU305438", "CSQU30543833", "CSQX3054383", "305438", "CSQU", "MSСU9070323", "x".repeat(99)])(
  "The error for the invalid container number %s quotes its first 20 characters as typed.",
  (text) => {
    expect(parseContainerNumbers(text).problem).toContain(`Invalid container number: ${text.slice(0, 20)}`);
  },
);
