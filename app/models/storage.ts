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

const weekday = new Intl.DateTimeFormat("en-GB", {
  weekday: "short",
  day: "numeric",
  month: "short",
  timeZone: "UTC",
});
const dayLength = 86_400_000;
const at = (day: string) => Date.parse(`${day}T00:00:00Z`);

/** The last day of free storage, YYYY-MM-DD, for a container that arrived on a day. */
export function freeUntil(arrived: string, { free_days }: StorageTariff): string {
  return new Date(at(arrived) + free_days * dayLength).toISOString().slice(0, 10);
}

/**
 * "Free at the port until Thu 14 May, 2 days left. From 15 May about USD 30 a day." for a container of 20 or 40 feet; after
 * that what a day costs now. Days are YYYY-MM-DD, `today` in East Africa Time.
 */
export function storageWords(
  { arrived, freeUntil, size }: { arrived: string; freeUntil: string; size: number },
  tariff: StorageTariff,
  today: string,
): string {
  const until = weekday.format(at(freeUntil)).replace(",", "");
  const left = Math.round((at(freeUntil) - at(today)) / dayLength);
  const next = shortDay(new Date(at(freeUntil) + dayLength).toISOString(), new Date(at(today)));
  if (left >= 0) {
    const words = left === 0 ? "the last day" : left === 1 ? "1 day left" : `${left} days left`;
    return `Free at the port until ${until}, ${words}. From ${next} about USD ${rateOn(tariff.free_days + 1, size, tariff)} a day (estimate).`;
  }
  const day = Math.round((at(today) - at(arrived)) / dayLength);
  return `Free storage ended on ${until}. It costs about USD ${rateOn(day, size, tariff)} a day now (estimate).`;
}

/** Whether free storage ends in two days, or has ended. */
export function isStorageUrgent({ freeUntil }: { freeUntil: string }, today: string): boolean {
  return at(freeUntil) - at(today) <= 2 * dayLength;
}

/** USD a day on a day of storage. */
function rateOn(day: number, size: number, { rates }: StorageTariff): number {
  const rate = rates.findLast(({ from_day }) => from_day <= day) ?? rates[0];
  return rate?.per_day[size === 40 ? "40" : "20"] ?? 0;
}
