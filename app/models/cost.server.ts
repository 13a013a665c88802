/** What the address of "What will it cost?" asks for, judged, and the content that it is counted with. */
import { parseWithZod } from "@conform-to/zod/v4";
import { z } from "zod";
import { monthName } from "../lib/dates.ts";
import {
  COST_FIELDS,
  estimateCost,
  formatAmount,
  getPercents,
  IMPORT_CURRENCIES,
  IMPORT_KINDS,
  type Import,
  type ImportKind,
  isPastMonth,
  type NumberField,
  readNumber,
} from "./cost.ts";

const percent = z.number().min(0).max(100);
const sourceFields = {
  /** "October 2025", from the month in the file. */
  date: z
    .string()
    .regex(/^20\d\d-(0[1-9]|1[0-2])$/, "must be a month such as 2025-10")
    .transform(monthName),
  source: z.string().min(1),
  note: z.string().min(1).optional(),
};
const SourcedRate = z.strictObject({ percent, ...sourceFields });
const importKinds = Object.keys(IMPORT_KINDS) as [ImportKind, ...ImportKind[]];

/** The shape of content/data/cost.yaml. */
export const CostRates = z.strictObject({
  import_duty: SourcedRate,
  excise_duty: z.strictObject({ percents: z.array(percent).min(1), ...sourceFields }),
  vat: SourcedRate,
  import_declaration_fee: SourcedRate,
  railway_development_levy: SourcedRate,
  no_certificate: SourcedRate,
  car_age: z.strictObject({ years: z.number().int().positive(), ...sourceFields }),
  documents: z
    .array(
      z.strictObject({
        by: z.string().min(1),
        papers: z
          .array(z.strictObject({ text: z.string().min(1), for: z.array(z.enum(importKinds)).optional() }))
          .min(1),
      }),
    )
    .min(1),
});
export type CostRates = z.infer<typeof CostRates>;

const numberFieldTexts: Record<NumberField, { subject: string; missing: string; tooMuch: string; like: string }> = {
  value: {
    subject: "The price",
    missing: "Enter the price of the goods.",
    tooMuch: "The price is too high to be right. Write at most 1,000,000,000,000.",
    like: "12,500.50",
  },
  freight: {
    subject: "The freight",
    missing: "Enter the freight, or 0 if the price includes it.",
    tooMuch: "The freight is too high to be right. Write at most 1,000,000,000,000.",
    like: "1,200.50",
  },
  insurance: {
    subject: "The insurance",
    missing: "Enter the insurance, or 0 if the price includes it.",
    tooMuch: "The insurance is too high to be right. Write at most 1,000,000,000,000.",
    like: "150.50",
  },
  rate: {
    subject: "The exchange rate",
    missing: "Enter how many shillings one unit of the currency costs.",
    tooMuch: "The exchange rate is too high to be right. Write at most 10,000 shillings for one.",
    like: "129.50",
  },
  duty: {
    subject: "The import duty",
    missing: "Enter the import duty in percent, such as 25.",
    tooMuch: "The import duty cannot be more than 100 percent.",
    like: "25",
  },
};

/** A number that readNumber reads; else a sentence that says what to write. */
function numberField(name: NumberField) {
  const { subject, missing, tooMuch, like } = numberFieldTexts[name];
  return z.string(missing).transform((typed, context) => {
    const read = readNumber(name, typed);
    if (typeof read === "number") return read;
    const messages = {
      unreadable: typed.trim() === "" ? missing : `Write ${subject.toLowerCase()} in digits, such as ${like}.`,
      negative: `${subject} cannot be less than 0.`,
      zero: `${subject} must be more than 0.`,
      "too much": tooMuch,
    };
    context.addIssue({ code: "custom", message: messages[read] });
    return z.NEVER;
  });
}

/** What is not asked for here counts as this, whatever was sent. */
const fixedValue = <T>(value: T) =>
  z
    .unknown()
    .optional()
    .transform(() => value);

/** The form, by two of its answers: only a car has an age and pays excise duty here, and a shilling costs a shilling. */
function createCostSchema(isCar: boolean, isKes: boolean, classes: number[], today: string) {
  const oneClass = `Choose the excise duty of the car: ${classes.join(", ").replace(/, (\d+)$/, " or $1")} percent.`;
  const month = "Enter the month of first registration, such as 2021-04.";
  return z.object({
    what: z.enum(importKinds, "Choose what you bring in."),
    registered: isCar
      ? z
          .string(month)
          .trim()
          .regex(/^(19|20)\d\d-(0[1-9]|1[0-2])$/, { error: month, abort: true })
          .refine(
            (typed) => isPastMonth(typed, today),
            "This month is still to come. Enter when it was registered first.",
          )
      : fixedValue(undefined),
    excise: isCar ? z.enum(classes.map(String) as [string, ...string[]], oneClass).transform(Number) : fixedValue(0),
    currency: z.enum(IMPORT_CURRENCIES, "Choose one of the currencies."),
    value: numberField("value"),
    freight: numberField("freight"),
    insurance: numberField("insurance"),
    rate: isKes ? fixedValue(1) : numberField("rate"),
    duty: numberField("duty"),
  });
}

const monthNames = Array.from({ length: 12 }, (_, at) => monthName(`2000-${String(at + 1).padStart(2, "0")}`));

/** A month as people write it, such as "2021-4", "04/2021", "202104" or "Apr 2021", as YYYY-MM; another text as it is. */
function parseMonth(typed: string): string {
  const month = String.raw`(\d{1,2}|[a-z]{3,9})`;
  const year = String.raw`((?:19|20)\d\d)`;
  const [, first, second, third, fourth] =
    new RegExp(String.raw`^(?:${year}[\s,./-]*${month}|${month}[\s,./-]*${year})$`, "i").exec(typed.trim()) ?? [];
  const said = (second ?? third ?? "").toLowerCase();
  const named = monthNames.findIndex((name) => name.toLowerCase().startsWith(said)) + 1;
  const number = /\d/.test(said) ? Number(said) : named;
  return said && number >= 1 && number <= 12 ? `${first ?? fourth}-${String(number).padStart(2, "0")}` : typed;
}

/**
 * What an address asks for: the import, or null while something is wrong, and the result for the form. Null when it asks
 * for nothing. A duty that is not in the address is the one that the form begins with. `today` is the day in East Africa.
 */
export function parseCostQuery(search: URLSearchParams, rates: CostRates, today: string) {
  if (!COST_FIELDS.some((name) => search.has(name))) return null;
  // Other parameters, some of which have a meaning for Conform, are not passed on, and of each field one.
  const asked = new URLSearchParams({ duty: String(rates.import_duty.percent) });
  for (const name of COST_FIELDS) if (search.has(name)) asked.set(name, search.get(name) ?? "");
  if (asked.has("registered")) asked.set("registered", parseMonth(asked.get("registered") ?? ""));
  const schema = createCostSchema(
    asked.get("what") === "car",
    asked.get("currency") === "KES",
    rates.excise_duty.percents,
    today,
  );
  const submission = parseWithZod(asked, { schema });
  const cargo: Import | null = submission.status === "success" ? submission.value : null;
  const { error, initialValue } = submission.reply();
  return { cargo, result: { error, initialValue } };
}

/** The service and the message with which somebody asks for a quote for the import of their estimate. */
export function quoteForCost(cargo: Import, rates: CostRates): { service: string; message: string } {
  const { what, registered, currency, value, freight, insurance, rate, duty, excise } = cargo;
  const { cif, taxes } = estimateCost(cargo, getPercents(rates));
  const message = [
    "Send me a quote for this import.",
    "",
    `What: ${IMPORT_KINDS[what]}${registered ? `, first registered ${monthName(registered)}` : ""}`,
    `Price: ${currency} ${formatAmount(value)}`,
    `Freight: ${currency} ${formatAmount(freight)}`,
    `Insurance: ${currency} ${formatAmount(insurance)}`,
    ...(currency === "KES" ? [] : [`Exchange rate: KES ${rate} for ${currency} 1`]),
    `Import duty: ${duty}%`,
    ...(what === "car" ? [`Excise duty: ${excise}%`] : []),
    "",
    `Your site's estimate: CIF KES ${formatAmount(cif)}, taxes KES ${formatAmount(taxes)}.`,
  ];
  return { service: "Imports", message: message.join("\n") };
}
