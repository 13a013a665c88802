/** What an import costs in Kenya in duty, taxes and levies: an estimate, in whole shillings, by dated rates. */

export const IMPORT_KINDS = {
  car: "A car",
  container: "Goods in a container of their own",
  loose: "Goods in a shared container, or loose",
  air: "Goods by air",
} as const;
export type ImportKind = keyof typeof IMPORT_KINDS;

export const IMPORT_CURRENCIES = ["USD", "EUR", "GBP", "JPY", "CNY", "KES"] as const;
type ImportCurrency = (typeof IMPORT_CURRENCIES)[number];

/** The fields of the form, in its order; an address with one of them asks for an answer. */
export const COST_FIELDS = [
  ...["what", "registered", "excise", "currency", "value", "freight", "insurance", "rate", "duty"],
] as const;

/** An import as it was typed. Amounts are in `currency`, `rate` is KES for one of it, percents have at most two decimals. */
export type Import = {
  what: ImportKind;
  currency: ImportCurrency;
  value: number;
  freight: number;
  insurance: number;
  rate: number;
  duty: number;
  /** 0 unless it is a car. */
  excise: number;
  /** The month of a car's first registration, YYYY-MM. */
  registered?: string;
};

/** Rates in percent that the law sets for every import, and what goods without a certificate of conformity pay besides. */
export type Percents = { vat: number; fee: number; levy: number; penalty: number };

type PercentRate = { percent: number };

/** The rates of content/data/cost.yaml, by the names of the lines. */
export function getPercents(
  rates: Record<"vat" | "import_declaration_fee" | "railway_development_levy" | "no_certificate", PercentRate>,
): Percents {
  return {
    vat: rates.vat.percent,
    fee: rates.import_declaration_fee.percent,
    levy: rates.railway_development_levy.percent,
    penalty: rates.no_certificate.percent,
  };
}

export type CostEstimate = Record<
  "cif" | "duty" | "excise" | "vat" | "fee" | "levy" | "taxes" | "total" | "penalty",
  number
>;

/**
 * The lines of the sum in KES. Each is rounded to whole shillings, half a shilling up, and counts on with the lines above
 * it as they are printed: whoever adds them up gets the same. Halves are exact up to some 10^11 shillings.
 */
export function estimateCost({ value, freight, insurance, rate, ...percents }: Import, rates: Percents): CostEstimate {
  const cents = [value, freight, insurance].reduce((sum, amount) => sum + Math.round(amount * 100), 0);
  const cif = Math.round((cents * Math.round(rate * 10_000)) / 1_000_000);
  const duty = takePercent(percents.duty, cif);
  const excise = takePercent(percents.excise, cif + duty);
  const vat = takePercent(rates.vat, cif + duty + excise);
  const fee = takePercent(rates.fee, cif);
  const levy = takePercent(rates.levy, cif);
  const taxes = duty + excise + vat + fee + levy;
  return { cif, duty, excise, vat, fee, levy, taxes, total: cif + taxes, penalty: takePercent(rates.penalty, cif) };
}

/** So many percent of shillings. Counted in hundredths of a percent: a fraction such as 0.57% would miss some halves. */
function takePercent(percent: number, shillings: number): number {
  return Math.round((shillings * Math.round(percent * 100)) / 10_000);
}

/** What a number may be: at most so much, with so many decimals, and 0 or not. */
const numberLimits = {
  value: { most: 1e12, decimals: 2, zero: false },
  freight: { most: 1e12, decimals: 2, zero: true },
  insurance: { most: 1e12, decimals: 2, zero: true },
  rate: { most: 10_000, decimals: 4, zero: false },
  duty: { most: 100, decimals: 2, zero: true },
};
export type NumberField = keyof typeof numberLimits;

/** A number as people type it, such as "12,500.50" or "12 500"; or what is wrong with it. */
export function readNumber(name: NumberField, typed: string): number | "unreadable" | "negative" | "zero" | "too much" {
  const { most, decimals, zero } = numberLimits[name];
  const [, sign, whole = "", part = ""] = /^([-−]?)(\d{1,3}(?:[,\s]\d{3})+|\d+)(?:\.(\d+))?$/.exec(typed.trim()) ?? [];
  if (whole === "" || part.length > decimals) return "unreadable";
  if (sign) return "negative";
  const number = Number(`${whole.replace(/[,\s]/g, "")}.${part}`);
  if (number > most) return "too much";
  return number === 0 && !zero ? "zero" : number;
}

/** Whether it is a month of the calendar up to `today`, as YYYY-MM; `today` is YYYY-MM-DD. */
export function isPastMonth(typed: string, today: string): boolean {
  return /^(19|20)\d\d-(0[1-9]|1[0-2])$/.test(typed) && typed <= today.slice(0, 7);
}

/**
 * The import that a form holds, for counting while somebody types; null until nothing in it is missing or wrong. It agrees
 * with the schema of cost.server.ts. `classes` are the excise rates of cars, `today` is the day in East Africa.
 */
export function parseImport(typed: Partial<Record<string, string>>, classes: number[], today: string): Import | null {
  const what = Object.keys(IMPORT_KINDS).find((each) => each === typed.what) as ImportKind | undefined;
  const currency = IMPORT_CURRENCIES.find((each) => each === typed.currency);
  const read = (name: NumberField) => readNumber(name, typed[name] ?? "");
  const rate = currency === "KES" ? 1 : read("rate");
  const [value, freight, insurance, duty] = [read("value"), read("freight"), read("insurance"), read("duty")];
  const excise = what === "car" ? classes.find((each) => String(each) === typed.excise) : 0;
  const registered = what === "car" ? (typed.registered ?? "").trim() : undefined;
  if (!what || !currency || excise === undefined) return null;
  if (registered !== undefined && !isPastMonth(registered, today)) return null;
  const numbers = { value, freight, insurance, rate, duty };
  if (Object.values(numbers).some((number) => typeof number === "string")) return null;
  return { what, currency, excise, registered, ...(numbers as Record<NumberField, number>) };
}

/**
 * Whether a car is too old: `refused` from so many years on after the month of its first registration; `doubtful` when only
 * the years of the calendar are that many apart, as KEBS has counted in its notices. Source: KS 1515.
 */
export function checkCarAge(registered: string, today: string, years: number): "refused" | "doubtful" | "taken" {
  const [year = 0, month = 0] = registered.split("-").map(Number);
  const [thisYear = 0, thisMonth = 0] = today.split("-").map(Number);
  if ((thisYear - year) * 12 + thisMonth - month >= years * 12) return "refused";
  return thisYear - year >= years ? "doubtful" : "taken";
}

/** "12,500.5" for an amount of money. */
export function formatAmount(amount: number): string {
  return amount.toLocaleString("en-GB");
}
