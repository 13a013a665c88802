/** Free storage of containers, and what a day costs after it: an estimate by the tariff of content/data/storage.yaml. */
import { z } from "zod";
import { shortDay } from "../lib/dates.ts";

/** The tariff: `date` is the day of the tariff (YYYY-MM-DD), days of storage count from the one after arrival, USD a day. */
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

/** The last day of free storage, YYYY-MM-DD, for a container that arrived on a day. */
export function getLastFreeDay(arrived: string, { free_days }: StorageTariff): string {
  return new Date(parseDay(arrived) + free_days * dayMs).toISOString().slice(0, 10);
}

/**
 * "Free at the port until Thu 14 May, 2 days left. From 15 May about USD 30 a day." for a container of 20 or 40 feet; after
 * that what a day costs now. Days are YYYY-MM-DD, `today` in East Africa Time.
 */
export function describeFreeStorage(
  { arrived, freeUntil, size }: { arrived: string; freeUntil: string; size: number },
  tariff: StorageTariff,
  today: string,
): string {
  const until = weekdayFormat.format(parseDay(freeUntil)).replace(",", "");
  const left = Math.round((parseDay(freeUntil) - parseDay(today)) / dayMs);
  const next = shortDay(new Date(parseDay(freeUntil) + dayMs).toISOString(), new Date(parseDay(today)));
  if (left >= 0) {
    const words = left === 0 ? "the last day" : left === 1 ? "1 day left" : `${left} days left`;
    return `Free at the port until ${until}, ${words}. From ${next} about USD ${getDailyRate(tariff.free_days + 1, size, tariff)} a day (estimate).`;
  }
  const day = Math.round((parseDay(today) - parseDay(arrived)) / dayMs);
  return `Free storage ended on ${until}. It costs about USD ${getDailyRate(day, size, tariff)} a day now (estimate).`;
}

/** Whether free storage ends in two days, or has ended. */
export function isStorageUrgent({ freeUntil }: { freeUntil: string }, today: string): boolean {
  return parseDay(freeUntil) - parseDay(today) <= 2 * dayMs;
}

/** USD a day on a day of storage. */
function getDailyRate(day: number, size: number, { rates }: StorageTariff): number {
  const rate = rates.findLast(({ from_day }) => from_day <= day) ?? rates[0];
  return rate?.per_day[size === 40 ? "40" : "20"] ?? 0;
}
