import { describe, expect, test } from "vitest";
import { dayInEastAfrica } from "../lib/dates.ts";
import { checkCarAge, estimateCost, type Import, parseImport, readNumber } from "./cost.ts";

const percents = { vat: 16, fee: 3.5, levy: 2, penalty: 15 };
const classes = [20, 25, 35];
const today = "2026-11-23";

const goods: Import = {
  ...{ what: "container", currency: "KES", value: 0, freight: 0, insurance: 0, rate: 1, duty: 25, excise: 0 },
};

/** Ten imports worked by hand: each line from those above it as printed, to the whole shilling. */
const worked: { name: string; cargo: Partial<Import>; lines: Record<string, number> }[] = [
  {
    name: "a car of KES 1,200,000 in the 25% class, as in the article",
    cargo: { what: "car", value: 1_000_000, freight: 180_000, insurance: 20_000, excise: 25 },
    lines: {
      cif: 1_200_000, // 1,000,000 + 180,000 + 20,000
      duty: 300_000, // 25% of 1,200,000
      excise: 375_000, // 25% of 1,500,000
      vat: 300_000, // 16% of 1,875,000
      fee: 42_000, // 3.5% of 1,200,000
      levy: 24_000, // 2% of 1,200,000
      taxes: 1_041_000, // 300,000 + 375,000 + 300,000 + 42,000 + 24,000
      total: 2_241_000, // 1,200,000 + 1,041,000
      penalty: 180_000, // 15% of 1,200,000
    },
  },
  {
    name: "the same car in the 20% class",
    cargo: { what: "car", value: 1_000_000, freight: 180_000, insurance: 20_000, excise: 20 },
    lines: {
      excise: 300_000, // 20% of 1,500,000
      vat: 288_000, // 16% of 1,800,000
      taxes: 954_000, // 300,000 + 300,000 + 288,000 + 42,000 + 24,000
      total: 2_154_000, // 1,200,000 + 954,000
    },
  },
  {
    name: "the same car in the 35% class",
    cargo: { what: "car", value: 1_000_000, freight: 180_000, insurance: 20_000, excise: 35 },
    lines: {
      excise: 525_000, // 35% of 1,500,000
      vat: 324_000, // 16% of 2,025,000
      taxes: 1_215_000, // 300,000 + 525,000 + 324,000 + 42,000 + 24,000
      total: 2_415_000, // 1,200,000 + 1,215,000
    },
  },
  {
    name: "a container of KES 3,000,000 at 25%, as in the article",
    cargo: { value: 2_600_000, freight: 360_000, insurance: 40_000 },
    lines: {
      cif: 3_000_000, // 2,600,000 + 360,000 + 40,000
      duty: 750_000, // 25% of 3,000,000
      excise: 0,
      vat: 600_000, // 16% of 3,750,000
      fee: 105_000, // 3.5% of 3,000,000
      levy: 60_000, // 2% of 3,000,000
      taxes: 1_515_000, // 750,000 + 600,000 + 105,000 + 60,000
      total: 4_515_000, // 3,000,000 + 1,515,000
      penalty: 450_000, // 15% of 3,000,000
    },
  },
  {
    name: "a container of KES 2,000,000 at 10%, as in the article",
    cargo: { value: 2_000_000, duty: 10 },
    lines: {
      duty: 200_000, // 10% of 2,000,000
      vat: 352_000, // 16% of 2,200,000
      fee: 70_000, // 3.5% of 2,000,000
      levy: 40_000, // 2% of 2,000,000
      taxes: 662_000, // 200,000 + 352,000 + 70,000 + 40,000
      total: 2_662_000, // 2,000,000 + 662,000
    },
  },
  {
    name: "a car in US dollars",
    cargo: { what: "car", currency: "USD", value: 8000, freight: 1200, insurance: 120.5, rate: 129.5, excise: 25 },
    lines: {
      cif: 1_207_005, // 9,320.50 x 129.50 = 1,207,004.75
      duty: 301_751, // 25% of 1,207,005 = 301,751.25
      excise: 377_189, // 25% of 1,508,756
      vat: 301_751, // 16% of 1,885,945 = 301,751.20
      fee: 42_245, // 3.5% of 1,207,005 = 42,245.175
      levy: 24_140, // 2% of 1,207,005 = 24,140.10
      taxes: 1_047_076, // 301,751 + 377,189 + 301,751 + 42,245 + 24,140
      total: 2_254_081, // 1,207,005 + 1,047,076
      penalty: 181_051, // 15% of 1,207,005 = 181,050.75
    },
  },
  {
    name: "a car in yen, at a rate below one",
    cargo: {
      ...{ what: "car", currency: "JPY", value: 1_250_000, freight: 180_000, insurance: 15_000, rate: 0.8654 },
      excise: 20,
    },
    lines: {
      cif: 1_250_503, // 1,445,000 x 0.8654
      duty: 312_626, // 25% of 1,250,503 = 312,625.75
      excise: 312_626, // 20% of 1,563,129 = 312,625.80
      vat: 300_121, // 16% of 1,875,755 = 300,120.80
      fee: 43_768, // 3.5% of 1,250,503 = 43,767.605
      levy: 25_010, // 2% of 1,250,503 = 25,010.06
      taxes: 994_151, // 312,626 + 312,626 + 300,121 + 43,768 + 25,010
      total: 2_244_654, // 1,250,503 + 994,151
    },
  },
  {
    name: "goods by air in euros, free of duty",
    cargo: {
      ...{ what: "air", currency: "EUR", value: 4999.99, freight: 350.25, insurance: 49.76, rate: 150.25, duty: 0 },
    },
    lines: {
      cif: 811_350, // 5,400.00 x 150.25
      duty: 0,
      vat: 129_816, // 16% of 811,350
      fee: 28_397, // 3.5% of 811,350 = 28,397.25
      levy: 16_227, // 2% of 811,350
      taxes: 174_440, // 129,816 + 28,397 + 16,227
      total: 985_790, // 811,350 + 174,440
    },
  },
  {
    name: "loose cargo in yuan at 35%, with half a shilling that goes up",
    cargo: {
      ...{ what: "loose", currency: "CNY", value: 20_000, freight: 2345.6, insurance: 154.4, rate: 18.1234, duty: 35 },
    },
    lines: {
      cif: 407_777, // 22,500.00 x 18.1234 = 407,776.50
      duty: 142_722, // 35% of 407,777 = 142,721.95
      vat: 88_080, // 16% of 550,499 = 88,079.84
      fee: 14_272, // 3.5% of 407,777 = 14,272.195
      levy: 8156, // 2% of 407,777 = 8,155.54
      taxes: 253_230, // 142,722 + 88,080 + 14,272 + 8,156
      total: 661_007, // 407,777 + 253,230
    },
  },
  {
    name: "a container in pounds",
    cargo: { currency: "GBP", value: 15_250.75, freight: 1100, insurance: 99.25, rate: 171.3 },
    lines: {
      cif: 2_817_885, // 16,450.00 x 171.30
      duty: 704_471, // 25% of 2,817,885 = 704,471.25
      vat: 563_577, // 16% of 3,522,356 = 563,576.96
      fee: 98_626, // 3.5% of 2,817,885 = 98,625.975
      levy: 56_358, // 2% of 2,817,885 = 56,357.70
      taxes: 1_423_032, // 704,471 + 563,577 + 98,626 + 56,358
      total: 4_240_917, // 2,817,885 + 1,423,032
    },
  },
];

test.each(worked)("$name", ({ cargo, lines }) => {
  expect(estimateCost({ ...goods, ...cargo }, percents)).toMatchObject(lines);
});

test("halves that a computer's fractions miss go up as well", () => {
  expect(estimateCost({ ...goods, value: 100, rate: 1.005 }, percents).cif).toBe(101); // 100.50
  expect(estimateCost({ ...goods, value: 5000, duty: 0.57 }, percents).duty).toBe(29); // 0.57% of 5,000 = 28.50
});

test("the lines of any import add up to its totals", () => {
  for (let value = 1; value < 1e12; value = value * 7 + 0.01) {
    const lines = estimateCost({ ...goods, value: Number(value.toFixed(2)), duty: 33.33, excise: 35 }, percents);
    expect(lines.duty + lines.excise + lines.vat + lines.fee + lines.levy).toBe(lines.taxes);
    expect(lines.cif + lines.taxes).toBe(lines.total);
    for (const line of Object.values(lines)) expect(Number.isSafeInteger(line)).toBe(true);
  }
});

test.each([
  ["12,500.50", 12_500.5],
  ["12500.5", 12_500.5],
  [" 12 500 ", 12_500],
  ["1,000,000,000,000", 1e12],
  ["0.01", 0.01],
  ["-5", "negative"],
  ["−12,500", "negative"],
  ["0", "zero"],
  ["0.00", "zero"],
  ["1,000,000,000,000.01", "too much"],
  ["9".repeat(400), "too much"],
  ["", "unreadable"],
  ["abc", "unreadable"],
  ["USD 500", "unreadable"],
  ["1e6", "unreadable"],
  ["0x10", "unreadable"],
  ["Infinity", "unreadable"],
  ["12.500", "unreadable"], // twelve and a half, or twelve thousand five hundred as written elsewhere
  ["12.500,50", "unreadable"],
  ["12,50", "unreadable"],
  ["1,2345", "unreadable"],
  ["5.", "unreadable"],
])("a price of %j is %j", (typed, read) => {
  expect(readNumber("value", typed)).toBe(read);
});

test("freight, insurance and duty may be 0, a rate may not; a rate has four decimals", () => {
  for (const name of ["freight", "insurance", "duty"] as const) expect(readNumber(name, "0")).toBe(0);
  expect(readNumber("rate", "0")).toBe("zero");
  expect(readNumber("rate", "129.1234")).toBe(129.1234);
  expect(readNumber("rate", "129.12345")).toBe("unreadable");
  expect(readNumber("rate", "10,000.01")).toBe("too much");
  expect(readNumber("duty", "100.01")).toBe("too much");
});

describe("a car is refused from the month in which it turns eight", () => {
  test.each([
    ["2018-10", "refused"],
    ["2018-11", "refused"],
    ["2018-12", "doubtful"],
    ["2019-01", "taken"],
    ["2026-11", "taken"],
  ])("registered in %s, asked in November 2026: %s", (registered, ruling) => {
    expect(checkCarAge(registered, today, 8)).toBe(ruling);
  });

  test("which begins at midnight in East Africa", () => {
    const at = (moment: string) => checkCarAge("2018-12", dayInEastAfrica(new Date(moment)), 8);
    expect(at("2026-11-30T20:59:59.999Z")).toBe("doubtful");
    expect(at("2026-11-30T21:00:00Z")).toBe("refused");
  });

  test("and is in doubt when only the years of the calendar are eight apart", () => {
    expect(checkCarAge("2018-12", "2025-12-31", 8)).toBe("taken");
    expect(checkCarAge("2018-12", "2026-01-01", 8)).toBe("doubtful");
  });
});

test("a form that is being filled in counts once nothing is missing, and what does not belong to it is left out", () => {
  const typed = { what: "air", currency: "KES", value: "500,000", freight: "0", insurance: "0", rate: "", duty: "10" };
  expect(parseImport({ ...typed, excise: "35", registered: "x", rate: "130" }, classes, today)).toEqual({
    ...{ what: "air", currency: "KES", value: 500_000, freight: 0, insurance: 0, rate: 1, duty: 10, excise: 0 },
    registered: undefined,
  });
  for (const name of ["what", "currency", "value", "freight", "insurance", "duty"]) {
    expect(parseImport({ ...typed, [name]: "" }, classes, today), name).toBeNull();
  }
  expect(parseImport({ ...typed, currency: "USD" }, classes, today)).toBeNull();
});
