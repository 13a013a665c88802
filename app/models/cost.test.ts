import { expect, test } from "vitest";
import { dayInEastAfrica } from "../lib/dates.ts";
import { estimateCost, getOldestCarYear, type Import, parseImport, readNumber } from "./cost.ts";

const percents = {
  vat: { percent: 16 },
  import_declaration_fee: { percent: 2.5 },
  railway_development_levy: { percent: 2 },
  no_certificate: { percent: 15 },
};
const rates = {
  import_duty: { percent: 25 },
  car_import_duty: { percent: 35 },
  excise_duty: { percents: [20, 25, 35] },
};
const today = "2026-11-23";

const goods: Import = {
  ...{ what: "container", currency: "KES", value: 0, freight: 0, insurance: 0, rate: 1, duty: 25, excise: 0 },
};

/** Returns a car with a CIF value of KES 1,200,000, as in the example of the article importing-a-car-to-kenya. */
const car = (excise: number): Partial<Import> => ({
  ...{ what: "car", value: 1_000_000, freight: 180_000, insurance: 20_000, duty: 35, excise },
});

/**
 * Cost estimates that were calculated by hand, in whole shillings. CIF is (value + freight + insurance) x rate. Duty is
 * a percentage of CIF, excise of CIF + duty, and VAT (16%) of CIF + duty + excise. Fee (2.5%), levy (2%) and penalty
 * (15%) are percentages of CIF. `taxes` is the sum of duty, excise, VAT, fee and levy.
 */
const workedExamples: [name: string, cargo: Partial<Import>, lines: number[]][] = [
  // The numbers in each row are cif, duty, excise, vat, fee, levy, taxes, total and penalty.
  [
    "a car of KES 1,200,000 in the 25% class, as in the article",
    car(25),
    [1_200_000, 420_000, 405_000, 324_000, 30_000, 24_000, 1_203_000, 2_403_000, 180_000],
  ],
  [
    "a container of KES 3,000,000 at 25%, as in the article",
    { value: 2_600_000, freight: 360_000, insurance: 40_000 },
    [3_000_000, 750_000, 0, 600_000, 75_000, 60_000, 1_485_000, 4_485_000, 450_000],
  ],
  [
    "a car in US dollars", // 9,320.50 x 129.50 = 1,207,004.75
    { what: "car", currency: "USD", value: 8000, freight: 1200, insurance: 120.5, rate: 129.5, duty: 35, excise: 25 },
    [1_207_005, 422_452, 407_364, 325_891, 30_175, 24_140, 1_210_022, 2_417_027, 181_051],
  ],
  [
    "a car in yen, at a rate below one", // 1,445,000 x 0.8654 = 1,250,503
    { ...car(20), currency: "JPY", value: 1_250_000, insurance: 15_000, rate: 0.8654 },
    [1_250_503, 437_676, 337_636, 324_130, 31_263, 25_010, 1_155_715, 2_406_218, 187_575],
  ],
  [
    "goods by air in euros, free of duty", // 5,400.00 x 150.25 = 811,350
    { what: "air", currency: "EUR", value: 4999.99, freight: 350.25, insurance: 49.76, rate: 150.25, duty: 0 },
    [811_350, 0, 0, 129_816, 20_284, 16_227, 166_327, 977_677, 121_703],
  ],
  [
    "loose cargo in yuan at 35%, with half a shilling that is rounded up", // 22,500.00 x 18.1234 = 407,776.50
    { what: "loose", currency: "CNY", value: 20_000, freight: 2345.6, insurance: 154.4, rate: 18.1234, duty: 35 },
    [407_777, 142_722, 0, 88_080, 10_194, 8156, 249_152, 656_929, 61_167],
  ],
];

test.each(workedExamples)("The cost estimate for %s equals the calculation by hand.", (_name, cargo, lines) => {
  const { cif, duty, excise, vat, fee, levy, taxes, total, penalty } = estimateCost({ ...goods, ...cargo }, percents);
  expect([cif, duty, excise, vat, fee, levy, taxes, total, penalty]).toEqual(lines);
});

test("Half a shilling is rounded up, even if the floating-point result is slightly below one half.", () => {
  expect(estimateCost({ ...goods, value: 100, rate: 1.005 }, percents).cif).toBe(101); // 100.50
  expect(estimateCost({ ...goods, value: 5000, duty: 0.57 }, percents).duty).toBe(29); // 0.57% of 5,000 = 28.50
});

test("The amounts of every cost estimate add up to its totals.", () => {
  for (let value = 1; value < 1e12; value = value * 7 + 0.01) {
    const lines = estimateCost({ ...goods, value: Number(value.toFixed(2)), duty: 33.33, excise: 35 }, percents);
    expect(lines.duty + lines.excise + lines.vat + lines.fee + lines.levy).toBe(lines.taxes);
    expect(lines.cif + lines.taxes).toBe(lines.total);
    for (const line of Object.values(lines)) expect(Number.isSafeInteger(line)).toBe(true);
  }
});

test.each([
  ["12,500.50", 12_500.5],
  ["1,000,000,000,000", 1e12],
  ["0.01", 0.01],
  ["-5", "negative"],
  ["0", "zero"],
  ["1,000,000,000,000.01", "too much"],
  ["9".repeat(400), "too much"],
  ["", "unreadable"],
  ["abc", "unreadable"],
  ["12.500", "12500 or 12.50"],
  ["1,2345", "unreadable"],
])("A typed price of %j is read as %j.", (typed, read) => {
  expect(readNumber("value", typed)).toBe(read);
});

test("Freight, insurance and duty can be 0. An exchange rate is greater than 0 and has up to four decimals.", () => {
  for (const name of ["freight", "insurance", "duty"] as const) expect(readNumber(name, "0")).toBe(0);
  expect(readNumber("rate", "0")).toBe("zero");
  expect(readNumber("rate", "129.1234")).toBe(129.1234);
  expect(readNumber("rate", "129.12345")).toBe("unreadable");
  expect(readNumber("rate", "10,000.01")).toBe("too much");
  expect(readNumber("duty", "100.01")).toBe("too much");
});

test("The oldest allowed year of first registration changes at the start of 1 January in East Africa Time.", () => {
  const getYearAt = (time: string) => getOldestCarYear(dayInEastAfrica(new Date(time)), 8);
  expect(getYearAt("2026-01-01T12:00:00Z")).toBe(2019);
  expect(getYearAt("2026-12-31T20:59:59.999Z")).toBe(2019);
  expect(getYearAt("2026-12-31T21:00:00Z")).toBe(2020);
});

test("A cost estimate appears when all required fields have values. Fields of other kinds of cargo are ignored.", () => {
  const typed = { what: "air", currency: "KES", value: "500,000", freight: "0", insurance: "0", rate: "", duty: "10" };
  expect(parseImport({ ...typed, excise: "35", registered: "x", rate: "130" }, rates, today)).toEqual({
    ...{ what: "air", currency: "KES", value: 500_000, freight: 0, insurance: 0, rate: 1, duty: 10, excise: 0 },
    registered: undefined,
  });
  for (const name of ["what", "currency", "value", "freight", "insurance"]) {
    expect(parseImport({ ...typed, [name]: "" }, rates, today), name).toBeNull();
  }
  expect(parseImport({ ...typed, currency: "USD" }, rates, today)).toBeNull();
});
