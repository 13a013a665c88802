import { expect, test } from "vitest";
import { readShipmentLines } from "./shipment-lines.server.ts";

/** Returns each valid shipment as [line, name, AWB/BL, container numbers], and the problems of each invalid line. */
function read(text: string) {
  return readShipmentLines(text).lines.map(({ line, problems, shipment }) =>
    shipment ? [line, shipment.name, shipment.awb, shipment.container_numbers.join(" ")] : [line, ...problems],
  );
}

test.each([
  ["Tea, Kenya; first\tBILL1\tMSKU9070323", [[1, "Tea, Kenya; first", "BILL1", "MSKU9070323"]], "tabs"],
  [
    "Tea, Kericho to Jeddah;BILL1\nLorry, Osaka to Juba",
    [
      [1, "Tea, Kericho to Jeddah", "BILL1", ""],
      [2, "Lorry, Osaka to Juba", "", ""],
    ],
    "semicolons",
  ],
  ["Tea,BILL1,MSKU9070323", [[1, "Tea", "BILL1", "MSKU9070323"]], "commas"],
  [
    "Tea\r\nCoffee\rRice\u2028Maize",
    [
      [1, "Tea", "", ""],
      [2, "Coffee", "", ""],
      [3, "Rice", "", ""],
      [4, "Maize", "", ""],
    ],
    undefined,
  ],
] as const)(
  "In the lines %j, a tab separates cells before a semicolon, and a semicolon before a comma.",
  (text, lines, separator) => {
    expect(read(text)).toEqual(lines);
    expect(readShipmentLines(text).separator).toBe(separator);
  },
);

test.each([
  ['"Pumps; steel",BILL1,"MSKU9070323, MSKU7709159"', [1, "Pumps; steel", "BILL1", "MSKU9070323 MSKU7709159"]],
  ['"Say ""tea"""\tBILL1\t"MSKU9070323\nMSKU7709159"', [1, 'Say "tea"', "BILL1", "MSKU9070323 MSKU7709159"]],
  ['Pumps 5" steel;BILL1', [1, 'Pumps 5" steel', "BILL1", ""]],
  ['"Premium" tea;BILL1', [1, '"Premium" tea', "BILL1", ""]],
  ['"Premium tea;BILL1', [1, '"Premium tea', "BILL1", ""]],
])(
  "The line %j is read as a spreadsheet reads a line of a CSV file, and quotation marks in a name are preserved.",
  (text, line) => {
    expect(read(`${text}\nRice`)[0]).toEqual(line);
    expect(read(`${text}\nRice`)).toHaveLength(2);
  },
);

test.each([
  ["Tea;;MSKU9070323 msku-770915-9", "MSKU9070323 MSKU7709159"],
  ["Tea;;MSKU9070323;MSKU7709159;MSKU9070323;", "MSKU9070323 MSKU7709159"],
  ["Tea;;;MSKU 907032 3, MSKU7709159", "MSKU9070323 MSKU7709159"],
])("The line %j has several container numbers in one cell or in further cells, each number once.", (text, numbers) => {
  expect(read(text)).toEqual([[1, "Tea", "", numbers]]);
});

test.each([
  ["Name;AWB/BL;Containers", "Tea;BILL1;MSKU9070323"],
  ["SHIPMENT NAME\tB/L No.\tContainer numbers", "Tea\tBILL1\tMSKU9070323"],
  ["Containers,AWB,Name", "MSKU9070323,BILL1,Tea"],
])("The line %j is recognised as headings, and the headings set the order of the cells.", (headings, text) => {
  expect(readShipmentLines(`\n${headings}\n${text}`).headingLine).toBe(2);
  expect(read(`\n${headings}\n${text}`)).toEqual([[3, "Tea", "BILL1", "MSKU9070323"]]);
});

test("A first line with a text that is not a heading is a shipment.", () => {
  expect(read("Name;Tea\nRice")).toEqual([
    [1, "Name", "Tea", ""],
    [2, "Rice", "", ""],
  ]);
});

test("The cells of a line follow the rules of the form's fields, and empty lines count for the line numbers.", () => {
  const lines = [
    ...["\ufeff\u202aTea\u202c\u00a0 leaves;\u200e١٧٦\u201112345675;ＭＳＫＵ9070323", "", " ; \t"],
    ...[";BILL1", `${"n".repeat(121)};${"1".repeat(65)};MSKU9070322;MSKU1`],
  ].map((line) => line.replace("\t", ""));
  expect(read(lines.join("\n"))).toEqual([
    [1, "Tea leaves", "176-12345675", "MSKU9070323"],
    [4, "Enter a name for the shipment."],
    [
      5,
      "Use at most 120 characters for the name.",
      "Use at most 64 characters for the AWB/BL.",
      "Compare MSKU9070322 with your document, because a letter or digit is wrong.",
      expect.stringMatching(/^Invalid container number: MSKU1\. /),
    ],
  ]);
});
