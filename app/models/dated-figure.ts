import { z } from "zod";
import { calendarDate } from "../lib/dates.ts";

/** The fields of a rate, tariff or rule that can change. `date` is the day for which `source` confirms the figure. */
export const datedFields = {
  date: z.iso.date(),
  source: z.string().min(1),
  note: z.string().min(1).optional(),
  check_by: z.iso.date(),
};
export const DatedFigure = z.strictObject(datedFields);
export type DatedFigure = z.infer<typeof DatedFigure>;

/** Returns text such as "Source, as of 1 October 2025: VAT Act." with the earliest date. `today` is YYYY-MM-DD. */
export function cite(figures: DatedFigure[], today: string, subject = "this rate"): string {
  const [date = ""] = figures.map((figure) => figure.date).sort();
  const [checkBy = ""] = figures.map((figure) => figure.check_by).sort();
  const sources = [...new Set(figures.map(({ source }) => source))].join("; ");
  const [{ note } = {}, ...others] = figures;
  const citation = `Source, as of ${calendarDate(date)}: ${sources}.`;
  const reminder = `Check ${subject} with us: we planned to check ${subject} by ${calendarDate(checkBy)}, but we are late.`;
  return [citation, others.length === 0 && note, checkBy < today && reminder].filter(Boolean).join(" ");
}
