import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { costRates, getFaq } from "./content.server.ts";
import { checkContent } from "./content-file.server.ts";
import { CostRates, citeRates, insertFigures, parseCostQuery, quoteForCost } from "./cost.server.ts";
import { estimateCost, parseImport } from "./cost.ts";

const today = "2026-11-23";
const car = {
  ...{ what: "car", registered: "2020-03", excise: "25", currency: "USD", value: "8,000", freight: "1200" },
  ...{ insurance: "120.50", rate: "129.5", duty: "35" },
};
const parseForm = (form: Record<string, string>) => parseCostQuery(new URLSearchParams(form), costRates, today);
const getFormErrors = (form: Record<string, string>) => parseForm(form)?.result.error;

test("A URL without fields of the cost calculator counts as an empty form.", () => {
  for (const form of [{}, { quote: "" }, { utm_source: "x" }, { __intent__: "{" }] as Record<string, string>[])
    expect(parseForm(form)).toBeNull();
});

test.each([
  ["car", 35],
  ["container", 25],
  ["loose", 25],
  ["air", 25],
])(
  "If the field for the duty rate of the import kind %s is empty or missing, the duty rate is %i%% and the field stays empty.",
  (what, duty) => {
    const { duty: _, ...rest } = { ...car, what };
    for (const form of [rest, { ...rest, duty: "" }]) {
      const parsed = parseForm(form);
      expect([parsed?.cargo?.duty, parsed?.result.initialValue?.duty ?? ""]).toEqual([duty, ""]);
    }
  },
);

test.each([
  ["value", "", "Enter the price of the goods."],
  ["value", "-1", "The price must be 0 or more."],
  ["value", "0", "The price must be more than 0."],
  ["value", "2,000,000,000,000", "The price is too high. Enter at most 1,000,000,000,000."],
  ["value", "eight thousand", "Enter the price in digits, such as 12,500.50."],
  ["value", "8.000", "This number has two possible meanings. Enter 8000 or 8.00."],
  ["rate", "129,500", "This number has two possible meanings. Enter 129500 or 129.5000."],
  ["freight", "", "Enter the freight, or 0 if the price includes it."],
  ["insurance", "x", "Enter the insurance in digits, such as 150.50."],
  ["rate", "", "Enter how many KES you pay for 1 unit of the invoice currency."],
  ["rate", "20000", "The exchange rate is too high. Enter at most KES 10,000 for 1 unit of the invoice currency."],
  ["duty", " ", "Enter the import duty as a percentage, such as 25, or leave the field empty."],
  ["duty", "101", "The import duty must be at most 100%."],
  ["what", "boat", "Choose what you import."],
  ["currency", "TZS", "Choose the currency."],
  ["excise", "", "Choose the excise duty of the car: 20%, 25% or 35%."],
  ["registered", "", "Enter the month of first registration, such as 04/2021."],
  ["registered", "Marching 2020", "Enter the month of first registration, such as 04/2021."],
  ["registered", "2026-12", "This month is in the future. Enter the month of first registration."],
])("The field %s of the cost calculator rejects the value %j with its own error message.", (name, typed, words) => {
  expect(getFormErrors({ ...car, [name]: typed })).toEqual({ [name]: [words] });
});

test("The cost calculator shows the errors of all fields at the same time.", () => {
  expect(Object.keys(getFormErrors({ what: "car", value: "x", duty: "x" }) ?? {})).toEqual(
    expect.arrayContaining(["registered", "excise", "currency", "value", "freight", "insurance", "rate", "duty"]),
  );
});

test("The browser's cost estimate during typing equals the server's cost estimate.", () => {
  const values = ["", " ", "0", "-1", "12.345", "12,345", "2027-01", "air", "KES"];
  const names = Object.keys(car) as (keyof typeof car)[];
  const forms = names.flatMap((name) => values.map((typed) => ({ ...car, [name]: typed })));
  for (const name of names) {
    const { [name]: _, ...rest } = car;
    forms.push(rest as typeof car);
  }
  for (const form of [car, ...forms, { ...car, what: "loose", currency: "KES" }]) {
    expect(parseImport(form, costRates, today), JSON.stringify(form)).toEqual(parseForm(form)?.cargo);
  }
});

test("A quote request from the cost calculator describes the import and its cost estimate.", () => {
  const cargo = parseForm(car)?.cargo;
  expect(cargo && quoteForCost(cargo, costRates)).toEqual({
    service: "Imports",
    message: [
      "Please send me a quote for this import.",
      "",
      "Import: A car, first registered March 2020",
      "Price: USD 8,000",
      "Freight: USD 1,200",
      "Insurance: USD 120.5",
      "Exchange rate: KES 129.5 for USD 1",
      "Import duty: 35%",
      "Excise duty: 25%",
      "",
      "Estimate on your website: CIF KES 1,207,005, taxes KES 1,210,022.",
    ].join("\n"),
  });
});

describe("content/data/cost.yaml", () => {
  const file = "content/data/cost.yaml";
  const content = parse(readFileSync(file, "utf8")) as Record<string, Record<string, unknown>>;

  test("The file contains the current rates, and a car's cost estimate with these rates equals the calculation by hand.", () => {
    const { documents: _, ...rates } = citeRates(costRates, today);
    const percents = Object.entries(rates).flatMap(([name, rate]) => ("percent" in rate ? [[name, rate.percent]] : []));
    expect(Object.fromEntries(percents)).toEqual({
      ...{ import_duty: 25, car_import_duty: 35, vat: 16, import_declaration_fee: 2.5, railway_development_levy: 2 },
      no_certificate: 15,
    });
    expect([rates.excise_duty.percents, rates.car_age.years]).toEqual([[20, 25, 35], 8]);
    const form = { ...car, currency: "KES", value: "1,000,000", freight: "180,000", insurance: "20,000", duty: "" };
    const cargo = parseForm(form)?.cargo;
    // CIF 1,200,000; duty 420,000; excise 25% of 1,620,000; VAT 16% of 2,025,000; fee 2.5% and levy 2% of CIF.
    expect(cargo && estimateCost(cargo, costRates)).toEqual({
      ...{ cif: 1_200_000, duty: 420_000, excise: 405_000, vat: 324_000, fee: 30_000, levy: 24_000 },
      ...{ taxes: 1_203_000, total: 2_403_000, penalty: 180_000 },
    });
  });

  test("Each rate is shown with its date and source. After its check-by day, the reader is asked to confirm the rate with us.", () => {
    const listCitations = (day: string) =>
      Object.values(citeRates(costRates, day)).flatMap((rate) => ("citation" in rate ? rate.citation : []));
    expect(listCitations("2026-01-01")).toHaveLength(Object.keys(costRates).length - 1);
    for (const text of listCitations("2026-01-01")) expect(text).toMatch(/^Source, as of \d+ \w+ 202\d: .{10}/);
    for (const text of listCitations("2026-01-01")) expect(text).not.toContain("Check this rate with us");
    for (const text of listCitations("2099-01-01")) expect(text).toContain("Check this rate with us");
    expect(citeRates(costRates, today).import_declaration_fee.citation).toContain(
      "Until 30 June 2023, the import declaration fee was 3.5%.",
    );
  });

  test("The list of documents names the date from which a certificate of origin is compulsory, and the source.", () => {
    const texts = citeRates(costRates, today).documents.flatMap(({ items }) => items.map(({ text }) => text));
    expect(texts.filter((text) => text.startsWith("Certificate of origin"))).toEqual([
      expect.stringMatching(
        /compulsory since 1 October 2025\..* Source, as of 1 October 2025: Kenya Revenue Authority/,
      ),
    ]);
    expect(texts.join()).not.toMatch(/[{}]/);
  });

  test.each<[string, string, unknown]>([
    ["vat", "percent", "16"],
    ["vat", "percent", -1],
    ["railway_development_levy", "percent", 200],
    ["import_declaration_fee", "date", "October 2025"],
    ["vat", "check_by", undefined],
    ["import_duty", "source", ""],
    ["excise_duty", "percents", []],
    ["car_age", "years", 0],
  ])("The error for the field %s.%s with the invalid value %j names the file and the field.", (name, field, value) => {
    const wrong = { ...content, [name]: { ...content[name], [field]: value } };
    expect(() => checkContent(file, CostRates, wrong)).toThrow(
      new RegExp(`^content/data/cost\\.yaml: ${name}\\.${field}: `),
    );
  });
});

describe("Figures in texts", () => {
  test("A placeholder such as {vat} in a text is replaced by the figure, and the text ends with the figures' date and sources.", () => {
    expect(insertFigures("VAT is {vat}% under the age of {car_age}.", costRates, today)).toBe(
      "VAT is 16% under the age of 8. Source, as of 15 October 2025: Value Added Tax Act, standard rate; Kenya Bureau of Standards (KEBS), Kenya Standard KS 1515, inspection of road vehicles.",
    );
    expect(insertFigures("No figures.", costRates, today)).toBe("No figures.");
    expect(insertFigures("{this_year}: {oldest_car_year}", costRates, today)).toMatch(/^2026: 2019 Source, as of/);
  });

  test.each(["levy", "excise_duty", "documents"])(
    "The error for the unknown placeholder {%s} quotes the text that contains the placeholder.",
    (name) => {
      expect(() => insertFigures(`VAT is {${name}}%.`, costRates, today)).toThrow(`text "VAT is {${name}}%."`);
    },
  );

  test("The FAQ names the oldest year of first registration that is allowed on the given day.", () => {
    const listAnswers = (day: string) => getFaq(day).flatMap(({ questions }) => questions.map(({ answer }) => answer));
    expect(listAnswers("2026-12-31").join(" ")).toMatch(
      /arrives in 2026 must have been first registered in 2019 or later/,
    );
    expect(listAnswers("2027-01-01").join(" ")).toMatch(
      /arrives in 2027 must have been first registered in 2020 or later/,
    );
    expect(listAnswers("2099-01-01").filter((answer) => answer.includes("Check this rate with us"))).toHaveLength(3);
    expect(listAnswers(today).join()).not.toMatch(/[{}]/);
  });
});
