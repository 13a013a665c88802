import { readDecimal } from "../lib/forms/decimal.ts";

export const IMPORT_KINDS = {
  car: "A car",
  container: "Full container (FCL)",
  loose: "Shared container or loose cargo (LCL)",
  air: "Goods by air",
} as const;
export type ImportKind = keyof typeof IMPORT_KINDS;

export const IMPORT_CURRENCIES = ["USD", "EUR", "GBP", "JPY", "CNY", "KES"] as const;
type ImportCurrency = (typeof IMPORT_CURRENCIES)[number];

export const COST_FIELDS = [
  ...["what", "registered", "excise", "currency", "value", "freight", "insurance", "rate", "duty"],
] as const;

/** Amounts are in `currency`, and `rate` is KES for one unit of that currency. `duty` and `excise` are in percent. */
export type Import = {
  what: ImportKind;
  currency: ImportCurrency;
  value: number;
  freight: number;
  insurance: number;
  rate: number;
  duty: number;
  excise: number;
  registered?: string;
};

type PercentRate = { percent: number };

export function getDutyRate<Rate extends PercentRate>(
  what: string | undefined,
  rates: Record<"import_duty" | "car_import_duty", Rate>,
): Rate {
  return what === "car" ? rates.car_import_duty : rates.import_duty;
}

export type CostEstimate = ReturnType<typeof estimateCost>;

/** Returns amounts in KES. Rounds each amount before the addition, so that the amounts on the page add up. */
export function estimateCost(
  { value, freight, insurance, rate, ...percents }: Import,
  rates: Record<"vat" | "import_declaration_fee" | "railway_development_levy" | "no_certificate", PercentRate>,
) {
  const cents = [value, freight, insurance].reduce((sum, amount) => sum + Math.round(amount * 100), 0);
  const cif = Math.round((cents * Math.round(rate * 10_000)) / 1_000_000);
  const duty = takePercent(percents.duty, cif);
  const excise = takePercent(percents.excise, cif + duty);
  const vat = takePercent(rates.vat.percent, cif + duty + excise);
  const fee = takePercent(rates.import_declaration_fee.percent, cif);
  const levy = takePercent(rates.railway_development_levy.percent, cif);
  const taxes = duty + excise + vat + fee + levy;
  const penalty = takePercent(rates.no_certificate.percent, cif);
  return { cif, duty, excise, vat, fee, levy, taxes, total: cif + taxes, penalty };
}

/** Calculates in hundredths of a percent, because binary fractions such as 0.57 can round half a shilling down. */
function takePercent(percent: number, shillings: number): number {
  return Math.round((shillings * Math.round(percent * 100)) / 10_000);
}

const numberLimits = {
  value: { max: 1e12, decimals: 2, allowsZero: false },
  freight: { max: 1e12, decimals: 2, allowsZero: true },
  insurance: { max: 1e12, decimals: 2, allowsZero: true },
  rate: { max: 10_000, decimals: 4, allowsZero: false },
  duty: { max: 100, decimals: 2, allowsZero: true },
};
export type NumberField = keyof typeof numberLimits;

/** Returns the number, the key of an error message, or both meanings of an ambiguous text, such as "1250 or 1.25". */
export function readNumber(name: NumberField, input: string): number | string {
  const { max, decimals, allowsZero } = numberLimits[name];
  const number = readDecimal(input, decimals);
  if (typeof number === "string") return number || "unreadable";
  if (number < 0) return "negative";
  if (number > max) return "too much";
  return number === 0 && !allowsZero ? "zero" : number;
}

export function isPastMonth(input: string, today: string): boolean {
  return /^(19|20)\d\d-(0[1-9]|1[0-2])$/.test(input) && input <= today.slice(0, 7);
}

/** Returns null if a field is invalid. A test checks that parseCostQuery accepts and returns the same values. */
export function parseImport(
  input: Partial<Record<string, string>>,
  rates: Record<"import_duty" | "car_import_duty", PercentRate> & { excise_duty: { percents: number[] } },
  today: string,
): Import | null {
  const what = Object.keys(IMPORT_KINDS).find((option) => option === input.what) as ImportKind | undefined;
  const currency = IMPORT_CURRENCIES.find((option) => option === input.currency);
  const read = (name: NumberField) => readNumber(name, input[name] ?? "");
  const rate = currency === "KES" ? 1 : read("rate");
  const [value, freight, insurance] = [read("value"), read("freight"), read("insurance")];
  const duty = input.duty ? read("duty") : getDutyRate(what, rates).percent;
  const excise = what === "car" ? rates.excise_duty.percents.find((option) => String(option) === input.excise) : 0;
  const registered = what === "car" ? (input.registered ?? "").trim() : undefined;
  if (!what || !currency || excise === undefined) return null;
  if (registered !== undefined && !isPastMonth(registered, today)) return null;
  const numbers = { value, freight, insurance, rate, duty };
  if (Object.values(numbers).some((number) => typeof number === "string")) return null;
  return { what, currency, excise, registered, ...(numbers as Record<NumberField, number>) };
}

/** KEBS counts the age of a car in calendar years, so the result changes on every 1 January. */
export function getOldestCarYear(today: string, years: number): number {
  return Number(today.slice(0, 4)) - years + 1;
}

export function formatAmount(amount: number): string {
  return amount.toLocaleString("en-GB");
}
