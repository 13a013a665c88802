import { z } from "zod";
import { shortDay } from "../lib/dates.ts";

/** `date` is YYYY-MM-DD. `from_day` counts from the day after arrival. Rates are USD per day. */
export const StorageTariff = z.object({
  date: z.iso.date(),
  source: z.string().min(1),
  free_days: z.int().positive(),
  rates: z
    .array(z.object({ from_day: z.int().positive(), per_day: z.object({ "20": z.number(), "40": z.number() }) }))
    .min(1),
});
export type StorageTariff = z.infer<typeof StorageTariff>;

const weekdayFormat = new Intl.DateTimeFormat("en-GB", {
  weekday: "short",
  day: "numeric",
  month: "short",
  timeZone: "UTC",
});
const dayMs = 86_400_000;
const parseDay = (day: string) => Date.parse(`${day}T00:00:00Z`);

export function getLastFreeDay(arrived: string, { free_days }: StorageTariff): string {
  return new Date(parseDay(arrived) + free_days * dayMs).toISOString().slice(0, 10);
}

/** Returns text such as "Free at the port until Thu 14 May, 2 days left." `today` is the day in East Africa. */
export function describeFreeStorage(
  { arrived, freeUntil, size }: { arrived: string; freeUntil: string; size: number },
  tariff: StorageTariff,
  today: string,
): string {
  const until = weekdayFormat.format(parseDay(freeUntil)).replace(",", "");
  const daysLeft = Math.round((parseDay(freeUntil) - parseDay(today)) / dayMs);
  const firstPaidDay = shortDay(new Date(parseDay(freeUntil) + dayMs).toISOString(), new Date(parseDay(today)));
  if (daysLeft >= 0) {
    const words = daysLeft === 0 ? "the last day" : daysLeft === 1 ? "1 day left" : `${daysLeft} days left`;
    return `Free at the port until ${until}, ${words}. From ${firstPaidDay} about USD ${getDailyRate(tariff.free_days + 1, size, tariff)} a day (estimate).`;
  }
  const day = Math.round((parseDay(today) - parseDay(arrived)) / dayMs);
  return `Free storage ended on ${until}. Storage now costs about USD ${getDailyRate(day, size, tariff)} a day (estimate).`;
}

export function isStorageUrgent({ freeUntil }: { freeUntil: string }, today: string): boolean {
  return parseDay(freeUntil) - parseDay(today) <= 2 * dayMs;
}

function getDailyRate(day: number, size: number, { rates }: StorageTariff): number {
  const rate = rates.findLast(({ from_day }) => from_day <= day) ?? rates[0];
  return rate?.per_day[size === 40 ? "40" : "20"] ?? 0;
}
