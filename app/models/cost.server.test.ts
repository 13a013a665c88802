import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { checkContent, costRates } from "./content.server.ts";
import { CostRates, parseCostQuery, quoteForCost } from "./cost.server.ts";
import { parseImport } from "./cost.ts";

const today = "2026-11-23";
const car = {
  ...{ what: "car", registered: "2020-03", excise: "25", currency: "USD", value: "8,000", freight: "1200" },
  ...{ insurance: "120.50", rate: "129.5", duty: "25" },
};
const parseForm = (form: Record<string, string>) => parseCostQuery(new URLSearchParams(form), costRates, today);
const getFormErrors = (form: Record<string, string>) => parseForm(form)?.result.error;

test("An address without any field of the cost calculator has no cost query.", () => {
  for (const form of [{}, { quote: "" }, { utm_source: "x" }, { __intent__: "{" }] as Record<string, string>[])
    expect(parseForm(form)).toBeNull();
});

test("A missing import duty has the rate from the content, and an empty import duty is an error.", () => {
  const { duty: _, ...rest } = car;
  expect(parseForm(rest)?.cargo?.duty).toBe(25);
  expect(getFormErrors({ ...car, duty: "" })).toEqual({ duty: ["Enter the import duty in percent, such as 25."] });
});

test.each([
  ["value", "", "Enter the price of the goods."],
  ["value", "-1", "The price must be 0 or more."],
  ["value", "0", "The price must be more than 0."],
  ["value", "2,000,000,000,000", "The price is too high. Enter at most 1,000,000,000,000."],
  ["value", "eight thousand", "Enter the price in digits, such as 12,500.50."],
  ["freight", "", "Enter the freight, or 0 if the price includes it."],
  ["insurance", "x", "Enter the insurance in digits, such as 150.50."],
  ["rate", "", "Enter how many shillings one unit of the currency costs."],
  ["rate", "20000", "The exchange rate is too high. Enter at most 10,000 shillings for one unit."],
  ["duty", "101", "The import duty must be at most 100 percent."],
  ["what", "boat", "Choose what you import."],
  ["currency", "TZS", "Choose one of the currencies."],
  ["excise", "", "Choose the excise duty of the car: 20, 25 or 35 percent."],
  ["excise", "0", "Choose the excise duty of the car: 20, 25 or 35 percent."],
  ["registered", "", "Enter the month of first registration, such as 2021-04."],
  ["registered", "Marching 2020", "Enter the month of first registration, such as 2021-04."],
  ["registered", "2020-13", "Enter the month of first registration, such as 2021-04."],
  ["registered", "2026-12", "This month is in the future. Enter the month of first registration."],
])("The cost calculator rejects a %s of %j with its message.", (name, typed, words) => {
  expect(getFormErrors({ ...car, [name]: typed })).toEqual({ [name]: [words] });
});

test("The cost calculator lists the errors of all fields together.", () => {
  expect(Object.keys(getFormErrors({ what: "car", value: "x", duty: "" }) ?? {})).toEqual(
    expect.arrayContaining(["registered", "excise", "currency", "value", "freight", "insurance", "rate", "duty"]),
  );
});

test("The browser's estimate while a visitor types has the same values as the server's estimate.", () => {
  const values = ["", " ", "0", "-1", "x", "8,000", "12.345", "2020-03", "2027-01", "car", "air", "KES", "35", "1e3"];
  const names = Object.keys(car) as (keyof typeof car)[];
  const forms = names.flatMap((name) => values.map((typed) => ({ ...car, [name]: typed })));
  // The field "duty" is left out, because only the server has a default for it.
  for (const name of names.filter((name) => name !== "duty")) {
    const { [name]: _, ...rest } = car;
    forms.push(rest as typeof car);
  }
  for (const form of [car, ...forms, ...forms.map((form) => ({ ...form, what: "loose", currency: "KES" }))]) {
    const typed = parseImport(form, costRates.excise_duty.percents, today);
    expect(typed, JSON.stringify(form)).toEqual(parseForm(form)?.cargo);
  }
});

test("A quote request from the cost calculator names the import and its estimate.", () => {
  const cargo = parseForm(car)?.cargo;
  expect(cargo && quoteForCost(cargo, costRates)).toEqual({
    service: "Imports",
    message: [
      "Send me a quote for this import.",
      "",
      "What: A car, first registered March 2020",
      "Price: USD 8,000",
      "Freight: USD 1,200",
      "Insurance: USD 120.5",
      "Exchange rate: KES 129.5 for USD 1",
      "Import duty: 25%",
      "Excise duty: 25%",
      "",
      "Your site's estimate: CIF KES 1,207,005, taxes KES 1,047,076.",
    ].join("\n"),
  });
});

describe("content/data/cost.yaml", () => {
  const file = "content/data/cost.yaml";
  const content = parse(readFileSync(file, "utf8")) as Record<string, Record<string, unknown>>;

  test("The content has the current rates, each with its month and source.", () => {
    const { documents: _, car_age, excise_duty, ...rates } = costRates;
    const percents = Object.entries(rates).map(([name, { percent }]) => [name, percent]);
    expect(Object.fromEntries(percents)).toEqual({
      ...{ import_duty: 25, vat: 16, import_declaration_fee: 3.5, railway_development_levy: 2, no_certificate: 15 },
    });
    expect(excise_duty.percents).toEqual([20, 25, 35]);
    expect(car_age.years).toBe(8);
    for (const { date, source } of [...Object.values(rates), excise_duty, car_age]) {
      expect(date).toBe("October 2025");
      expect(source.length).toBeGreaterThan(10);
    }
    expect(rates.import_declaration_fee.note).toBe(
      "Check the current rate before you pay. Kenya's yearly Finance Act can change the rate.",
    );
  });

  test.each<[string, string, unknown]>([
    ["vat", "percent", "16"],
    ["vat", "percent", -1],
    ["railway_development_levy", "percent", 200],
    ["import_declaration_fee", "date", "October 2025"],
    ["import_duty", "source", ""],
    ["excise_duty", "percents", []],
    ["car_age", "years", 0],
  ])("The error for an invalid %s.%s (%j) names the file and the field.", (name, field, value) => {
    const wrong = { ...content, [name]: { ...content[name], [field]: value } };
    expect(() => checkContent(file, CostRates, wrong)).toThrow(
      new RegExp(`^content/data/cost\\.yaml: ${name}\\.${field}: `),
    );
  });
});
