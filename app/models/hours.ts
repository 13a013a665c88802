import { z } from "zod";
import { calendarDate } from "../lib/dates.ts";
import { cite, datedFields } from "./dated-figure.ts";

/** The weekdays have the order of Date.getUTCDay(), where Sunday is 0. */
const weekdays = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"] as const;
const dayNames = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];

const clockTime = z.string().regex(/^([01]\d|2[0-3]):[0-5]\d$/, 'must be a 24-hour time such as "08:00"');

const HoursLine = z
  .object({
    days: z.string().min(1),
    hours: z.string().min(1),
    weekdays: z.array(z.enum(weekdays)).min(1),
    opens: clockTime.optional(),
    closes: clockTime.optional(),
  })
  .superRefine(({ hours, opens, closes }, issues) => {
    if (!opens !== !closes) issues.addIssue('must have both "opens" and "closes", or neither');
    if (!opens || !closes) return;
    if (opens >= closes) issues.addIssue('"closes" must be later than "opens"');
    const words = `${formatClock(opens)} to ${formatClock(closes)}`;
    if (hours !== words) issues.addIssue(`"hours" must be "${words}", to match "opens" and "closes"`);
  });

export const WorkingHours = z
  .array(HoursLine)
  .refine(
    (lines) =>
      weekdays.every((day) => lines.flatMap((line) => line.weekdays).filter((weekday) => weekday === day).length === 1),
    "must contain each of Mon, Tue, Wed, Thu, Fri, Sat and Sun exactly once",
  );
export type WorkingHours = z.infer<typeof WorkingHours>;

export const PublicHolidays = z.strictObject({
  ...datedFields,
  days: z
    .array(z.strictObject({ date: z.iso.date(), name: z.string().min(1) }))
    .transform((days) => days.toSorted((first, second) => first.date.localeCompare(second.date))),
});
export type PublicHolidays = z.infer<typeof PublicHolidays>;

export function describeHolidays(holidays: PublicHolidays, today: string): string {
  const next = holidays.days.find(({ date }) => date >= today);
  const nextText = next ? ` Next: ${calendarDate(next.date)} (${next.name}).` : "";
  return `Closed on public holidays.${nextText} ${cite([holidays], today, "the list of holidays")}`;
}

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
/** East Africa Time is UTC+3 without summer time. */
const eatOffsetMs = 3 * hourMs;

/** `until` is the time at which `words` change, or null if the office stays closed for a week. */
export function getOfficeStatus(hours: WorkingHours, holidays: PublicHolidays, now: Date) {
  const localTime = now.valueOf() + eatOffsetMs;
  const midnight = Math.floor(localTime / dayMs) * dayMs;
  for (let day = 0; day <= 7; day++) {
    const start = midnight + day * dayMs;
    const date = new Date(start).toISOString().slice(0, 10);
    if (holidays.days.some((holiday) => holiday.date === date)) continue;
    const weekday = new Date(start).getUTCDay();
    const { opens, closes } = hours.find((line) => line.weekdays.includes(weekdays[weekday] as "Sun")) ?? {};
    if (!opens || !closes || localTime >= start + toMs(closes)) continue;
    const opening = start + toMs(opens);
    if (localTime >= opening)
      return {
        isOpen: true,
        words: `Open now, until ${formatClock(closes)} EAT`,
        until: fromEastAfricaTime(start + toMs(closes)),
      };
    const dayName = day === 0 ? "today" : dayNames[weekday];
    // At midnight the opening day changes from a name such as "Monday" to "today".
    const until = fromEastAfricaTime(day === 0 ? opening : midnight + dayMs);
    return { isOpen: false, words: `Closed now, opens ${dayName} ${formatClock(opens)} EAT`, until };
  }
  return { isOpen: false, words: "Closed now", until: null };
}

const fromEastAfricaTime = (localTime: number) => new Date(localTime - eatOffsetMs);

const toMs = (clock: string) => Date.parse(`1970-01-01T${clock}Z`);

function formatClock(clock: string): string {
  const hour = Number(clock.slice(0, 2));
  return `${hour % 12 || 12}${clock.slice(2)} ${hour < 12 ? "AM" : "PM"}`;
}
