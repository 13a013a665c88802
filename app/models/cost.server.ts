import { z } from "zod";
import { calendarDate, monthName } from "../lib/dates.ts";
import { parseForm } from "../lib/forms/rejected-form.server.ts";
import { foldDigits } from "../lib/forms/text-fields.ts";
import {
  COST_FIELDS,
  estimateCost,
  formatAmount,
  getDutyRate,
  getOldestCarYear,
  IMPORT_CURRENCIES,
  IMPORT_KINDS,
  type Import,
  type ImportKind,
  isPastMonth,
  type NumberField,
  readNumber,
} from "./cost.ts";
import { cite, DatedFigure, datedFields } from "./dated-figure.ts";

const percent = z.number().min(0).max(100);
const DatedRate = z.strictObject({ percent, ...datedFields });
const importKinds = Object.keys(IMPORT_KINDS) as [ImportKind, ...ImportKind[]];

export const CostRates = z.strictObject({
  import_duty: DatedRate,
  car_import_duty: DatedRate,
  excise_duty: z.strictObject({ percents: z.array(percent).min(1), engine_sizes: z.string().min(1), ...datedFields }),
  vat: DatedRate,
  import_declaration_fee: DatedRate,
  railway_development_levy: DatedRate,
  no_certificate: DatedRate,
  car_age: z.strictObject({ years: z.number().int().positive(), ...datedFields }),
  car_price_list: DatedFigure,
  certificate_of_origin: DatedFigure,
  documents: z
    .array(
      z.strictObject({
        by: z.string().min(1),
        items: z
          .array(z.strictObject({ text: z.string().min(1), for: z.array(z.enum(importKinds)).optional() }))
          .min(1),
      }),
    )
    .min(1),
});
export type CostRates = z.infer<typeof CostRates>;

export type CitedRates = {
  [Name in keyof CostRates]: CostRates[Name] extends DatedFigure
    ? Omit<CostRates[Name], keyof DatedFigure> & { citation: string }
    : CostRates[Name];
};

export function citeRates(costRates: CostRates, today: string): CitedRates {
  const { documents, ...rates } = costRates;
  const cited = Object.entries(rates).map(([name, { date, source, note, check_by, ...values }]) => [
    name,
    { ...values, citation: cite([{ date, source, note, check_by }], today) },
  ]);
  return {
    ...Object.fromEntries(cited),
    documents: documents.map(({ by, items }) => ({
      by,
      items: items.map((item) => ({ ...item, text: insertFigures(item.text, costRates, today) })),
    })),
  };
}

/** Replaces names such as {vat} by their figures, and appends the figures' source. Throws if a name is unknown. */
export function insertFigures(text: string, rates: CostRates, today: string): string {
  const { documents: _, excise_duty: __, ...figures } = rates;
  const named = new Set<DatedFigure>();
  const filledText = text.replaceAll(/\{(\w+)\}/g, (_match, name: string) => {
    if (name === "this_year") return today.slice(0, 4);
    if (name === "oldest_car_year") {
      named.add(rates.car_age);
      return `${getOldestCarYear(today, rates.car_age.years)}`;
    }
    const figure = Object.hasOwn(figures, name) ? figures[name as keyof typeof figures] : undefined;
    if (!figure) throw new Error(`content/data/cost.yaml has no figure {${name}} for the text "${text}"`);
    named.add(figure);
    if ("percent" in figure) return `${figure.percent}`;
    return "years" in figure ? `${figure.years}` : calendarDate(figure.date);
  });
  return named.size > 0 ? `${filledText} ${cite([...named], today)}` : filledText;
}

const numberFieldTexts: Record<NumberField, { subject: string; missing: string; tooMuch?: string; like: string }> = {
  value: { subject: "The price", missing: "Enter the price of the goods.", like: "12,500.50" },
  freight: { subject: "The freight", missing: "Enter the freight, or 0 if the price includes it.", like: "1,200.50" },
  insurance: {
    subject: "The insurance",
    missing: "Enter the insurance, or 0 if the price includes it.",
    like: "150.50",
  },
  rate: {
    subject: "The exchange rate",
    missing: "Enter how many KES you pay for 1 unit of the invoice currency.",
    tooMuch: "The exchange rate is too high. Enter at most KES 10,000 for 1 unit of the invoice currency.",
    like: "129.50",
  },
  duty: {
    subject: "The import duty",
    missing: "Enter the import duty as a percentage, such as 25, or leave the field empty.",
    tooMuch: "The import duty must be at most 100%.",
    like: "25",
  },
};

function numberField(name: NumberField, emptyValue?: number) {
  const { subject, missing, tooMuch, like } = numberFieldTexts[name];
  const text: z.ZodType<string> = emptyValue === undefined ? z.string(missing) : z.string().default(`${emptyValue}`);
  return text.transform((input, context) => {
    const result = readNumber(name, input);
    if (typeof result === "number") return result;
    const messages: Record<string, string> = {
      unreadable: input.trim() === "" ? missing : `Enter ${subject.toLowerCase()} in digits, such as ${like}.`,
      negative: `${subject} must be 0 or more.`,
      zero: `${subject} must be more than 0.`,
      "too much": tooMuch ?? `${subject} is too high. Enter at most 1,000,000,000,000.`,
    };
    context.addIssue(messages[result] ?? `This number has two possible meanings. Enter ${result}.`);
    return z.NEVER;
  });
}

const fixedValue = <T>(value: T) =>
  z
    .unknown()
    .optional()
    .transform(() => value);

function createCostSchema(isCar: boolean, isKes: boolean, rates: CostRates, today: string) {
  const classes = rates.excise_duty.percents;
  const oneClass = `Choose the excise duty of the car: ${classes.join("%, ").replace(/, (\d+)$/, " or $1")}%.`;
  const month = "Enter the month of first registration, such as 04/2021.";
  return z.object({
    what: z.enum(importKinds, "Choose what you import."),
    registered: isCar
      ? z
          .string(month)
          .trim()
          .regex(/^(19|20)\d\d-(0[1-9]|1[0-2])$/, { error: month, abort: true })
          .refine(
            (input) => isPastMonth(input, today),
            "This month is in the future. Enter the month of first registration.",
          )
      : fixedValue(undefined),
    excise: isCar ? z.enum(classes.map(String) as [string, ...string[]], oneClass).transform(Number) : fixedValue(0),
    currency: z.enum(IMPORT_CURRENCIES, "Choose the currency."),
    value: numberField("value"),
    freight: numberField("freight"),
    insurance: numberField("insurance"),
    rate: isKes ? fixedValue(1) : numberField("rate"),
    duty: numberField("duty", getDutyRate(isCar ? "car" : undefined, rates).percent),
  });
}

const monthNames = Array.from({ length: 12 }, (_, index) => monthName(`2000-${String(index + 1).padStart(2, "0")}`));

/** Returns "2021-04" for "2021-4", "04/2021", "202104" or "Apr 2021". Returns other texts unchanged. */
function parseMonth(input: string): string {
  const month = String.raw`(\d{1,2}|[a-z]{3,9})`;
  const year = String.raw`((?:19|20)\d\d)`;
  const [, first, second, third, fourth] =
    new RegExp(String.raw`^(?:${year}[\s,./-]*${month}|${month}[\s,./-]*${year})$`, "i").exec(
      foldDigits(input).trim(),
    ) ?? [];
  const monthText = (second ?? third ?? "").toLowerCase();
  const namedMonth = monthNames.findIndex((name) => name.toLowerCase().startsWith(monthText)) + 1;
  const number = /\d/.test(monthText) ? Number(monthText) : namedMonth;
  return monthText && number >= 1 && number <= 12 ? `${first ?? fourth}-${String(number).padStart(2, "0")}` : input;
}

/** Returns null if the URL has no field of the cost calculator. `today` is YYYY-MM-DD in East Africa Time. */
export function parseCostQuery(search: URLSearchParams, rates: CostRates, today: string) {
  if (!COST_FIELDS.some((name) => search.has(name))) return null;
  // Passes only the first value of each known field, because Conform reads repeated fields as lists.
  const fields = new URLSearchParams();
  for (const name of COST_FIELDS) if (search.has(name)) fields.set(name, search.get(name) ?? "");
  if (fields.has("registered")) fields.set("registered", parseMonth(fields.get("registered") ?? ""));
  const schema = createCostSchema(fields.get("what") === "car", fields.get("currency") === "KES", rates, today);
  const submission = parseForm(fields, schema);
  const cargo: Import | null = submission.status === "success" ? submission.value : null;
  const { error, initialValue } = submission.reply();
  return { cargo, result: { error, initialValue } };
}

export function quoteForCost(cargo: Import, rates: CostRates): { service: string; message: string } {
  const { what, registered, currency, value, freight, insurance, rate, duty, excise } = cargo;
  const { cif, taxes } = estimateCost(cargo, rates);
  const message = [
    "Please send me a quote for this import.",
    "",
    registered
      ? `Import: ${IMPORT_KINDS[what]}, first registered ${monthName(registered)}`
      : `Import: ${IMPORT_KINDS[what]}`,
    `Price: ${currency} ${formatAmount(value)}`,
    `Freight: ${currency} ${formatAmount(freight)}`,
    `Insurance: ${currency} ${formatAmount(insurance)}`,
    ...(currency === "KES" ? [] : [`Exchange rate: KES ${rate} for ${currency} 1`]),
    `Import duty: ${duty}%`,
    ...(what === "car" ? [`Excise duty: ${excise}%`] : []),
    "",
    `Estimate on your website: CIF KES ${formatAmount(cif)}, taxes KES ${formatAmount(taxes)}.`,
  ];
  return { service: "Imports", message: message.join("\n") };
}
