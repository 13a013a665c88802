import { expect, test } from "vitest";
import { getCheckDigit, parseContainerNumbers } from "./container-number.ts";

test.each([
  ["CSQU3054383", 3],
  ["MSKU9070323", 3],
  ["TOLU4734787", 7],
  ["MSCU6639870", 0],
])("The check digit of %s is %i", (number, digit) => {
  expect(getCheckDigit(number)).toBe(digit);
});

test.each([
  ["as it is printed on the container", "CSQU 305438 3"],
  ["in small letters with hyphens", "csqu-305438-3"],
  ["in characters of full width", "ＣＳＱＵ３０５４３８３"],
])("A container number %s is understood", (_, text) => {
  expect(parseContainerNumbers(text)).toEqual({ numbers: ["CSQU3054383"] });
});

test.each(["\n", ", ", "; ", " ", "\t", "", " / "])(
  "Two container numbers with %j between them are recognised as two",
  (separator) => {
    const text = ["CSQU3054383", "TOLU 473478 7"].join(separator);
    expect(parseContainerNumbers(text)).toEqual({ numbers: ["CSQU3054383", "TOLU4734787"] });
  },
);

test("A container number that is typed twice is returned once", () => {
  expect(parseContainerNumbers("CSQU3054383, CSQU 305438-3")).toEqual({ numbers: ["CSQU3054383"] });
});

test("A text without letters and digits has no container number", () => {
  for (const text of ["", " \n ", ", -"]) expect(parseContainerNumbers(text)).toEqual({ numbers: [] });
});

test("A wrong check digit is rejected with the digit that it should be", () => {
  expect(parseContainerNumbers("CSQU3054384").problem).toBe(
    "The last digit of CSQU3054384 should be 3. Check the number.",
  );
});

test.each(["CSQU305438", "CSQU30543833", "CSQX3054383", "305438", "CSQU", "МSКU9070323", "x".repeat(99)])(
  "%s is rejected, and the message names it and the form of a container number",
  (text) => {
    const { problem } = parseContainerNumbers(text);
    expect(problem).toContain(text.slice(0, 20).toUpperCase());
    expect(problem).toContain("four letters, the last of them U, J or Z, and seven digits");
  },
);
