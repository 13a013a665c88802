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

test("an address without any of the fields asks for nothing", () => {
  for (const form of [{}, { quote: "" }, { utm_source: "x" }, { __intent__: "{" }] as Record<string, string>[])
    expect(parseForm(form)).toBeNull();
});

test("the duty is the one of the content when an address leaves it out, but not when it is emptied", () => {
  const { duty: _, ...rest } = car;
  expect(parseForm(rest)?.cargo?.duty).toBe(25);
  expect(getFormErrors({ ...car, duty: "" })).toEqual({ duty: ["Enter the import duty in percent, such as 25."] });
});

test.each([
  ["value", "", "Enter the price of the goods."],
  ["value", "-1", "The price cannot be less than 0."],
  ["value", "0", "The price must be more than 0."],
  ["value", "2,000,000,000,000", "The price is too high to be right. Write at most 1,000,000,000,000."],
  ["value", "eight thousand", "Write the price in digits, such as 12,500.50."],
  ["freight", "", "Enter the freight, or 0 if the price includes it."],
  ["insurance", "x", "Write the insurance in digits, such as 150.50."],
  ["rate", "", "Enter how many shillings one unit of the currency costs."],
  ["rate", "20000", "The exchange rate is too high to be right. Write at most 10,000 shillings for one."],
  ["duty", "101", "The import duty cannot be more than 100 percent."],
  ["what", "boat", "Choose what you bring in."],
  ["currency", "TZS", "Choose one of the currencies."],
  ["excise", "", "Choose the excise duty of the car: 20, 25 or 35 percent."],
  ["excise", "0", "Choose the excise duty of the car: 20, 25 or 35 percent."],
  ["registered", "", "Enter the month of first registration, such as 2021-04."],
  ["registered", "Marching 2020", "Enter the month of first registration, such as 2021-04."],
  ["registered", "2020-13", "Enter the month of first registration, such as 2021-04."],
  ["registered", "2026-12", "This month is still to come. Enter when it was registered first."],
])("%s = %j is answered in words", (name, typed, words) => {
  expect(getFormErrors({ ...car, [name]: typed })).toEqual({ [name]: [words] });
});

test("One response names every invalid field.", () => {
  expect(Object.keys(getFormErrors({ what: "car", value: "x", duty: "" }) ?? {})).toEqual(
    expect.arrayContaining(["registered", "excise", "currency", "value", "freight", "insurance", "rate", "duty"]),
  );
});

test("The browser's estimate equals the server's estimate.", () => {
  const odd = ["", " ", "0", "-1", "x", "8,000", "12.345", "2020-03", "2027-01", "car", "air", "KES", "35", "1e3"];
  const forms = Object.keys(car).flatMap((name) => odd.map((typed) => ({ ...car, [name]: typed })));
  const parts = Object.keys(car).map((left) =>
    Object.fromEntries(Object.entries(car).filter(([name]) => name !== left)),
  );
  // Only the duty has a default value.
  forms.push(...(parts.filter((part) => "duty" in part) as (typeof car)[]));
  for (const form of [car, ...forms, ...forms.map((form) => ({ ...form, what: "loose", currency: "KES" }))]) {
    const typed = parseImport(form, costRates.excise_duty.percents, today);
    expect(typed, JSON.stringify(form)).toEqual(parseForm(form)?.cargo);
  }
});

test("The quote request names the import and its estimate in our own words only.", () => {
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

  test("has the rates, each with its month and its source, and the note on the import declaration fee", () => {
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
      "Check the current rate before paying; rates change with each Finance Act.",
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
  ])("with a wrong %s.%s (%j) stops with the file and the field", (name, field, value) => {
    const wrong = { ...content, [name]: { ...content[name], [field]: value } };
    expect(() => checkContent(file, CostRates, wrong)).toThrow(
      new RegExp(`^content/data/cost\\.yaml: ${name}\\.${field}: `),
    );
  });
});
