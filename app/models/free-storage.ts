import { z } from "zod";
import { shortDay } from "../lib/dates.ts";
import { cite, datedFields } from "./dated-figure.ts";

/** `from_day` 1 is the day after arrival. `per_day` is in USD. `rates` is missing until the rates are confirmed. */
export const StorageTariff = z.strictObject({
  ...datedFields,
  free_days: z.int().positive(),
  rates: z
    .array(z.strictObject({ from_day: z.int().positive(), per_day: z.object({ "20": z.number(), "40": z.number() }) }))
    .min(1)
    .optional(),
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
  const citation = cite([tariff], today, "this tariff");
  if (daysLeft < 0) {
    const charge = getDailyCharge(Math.round((parseDay(today) - parseDay(arrived)) / dayMs), size, tariff);
    const chargeText = charge ? `Storage now costs ${charge}.` : "Ask us for the daily charge.";
    return `Free storage ended on ${until}. ${chargeText} ${citation}`;
  }
  const firstPaidDay = shortDay(new Date(parseDay(freeUntil) + dayMs).toISOString(), new Date(parseDay(today)));
  const charge = getDailyCharge(tariff.free_days + 1, size, tariff);
  const chargeText = charge
    ? `Storage costs ${charge} from ${firstPaidDay}.`
    : `You pay for storage from ${firstPaidDay}. Ask us for the daily charge.`;
  return `${describeDaysLeft(until, daysLeft)} ${chargeText} ${citation}`;
}

function describeDaysLeft(until: string, daysLeft: number): string {
  if (daysLeft === 0) return `Free at the port until ${until}. Today is the last day.`;
  return daysLeft === 1
    ? `Free at the port until ${until}, 1 day left.`
    : `Free at the port until ${until}, ${daysLeft} days left.`;
}

export function isStorageUrgent({ freeUntil }: { freeUntil: string }, today: string): boolean {
  return parseDay(freeUntil) - parseDay(today) <= 2 * dayMs;
}

function getDailyCharge(day: number, size: number, { rates }: StorageTariff): string | null {
  const rate = rates?.findLast(({ from_day }) => from_day <= day) ?? rates?.[0];
  return rate ? `about USD ${rate.per_day[size === 40 ? "40" : "20"]} a day` : null;
}
