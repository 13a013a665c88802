/** Working hours: the words shown, and whether the offices are open at a moment. */
import { z } from "zod";

/** In the order of Date's days of the week. */
const weekdays = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"] as const;
const dayNames = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];

const time = z.string().regex(/^([01]\d|2[0-3]):[0-5]\d$/, 'must be a time of 24 hours such as "08:00"');

const Line = z
  .object({
    days: z.string().min(1),
    hours: z.string().min(1),
    weekdays: z.array(z.enum(weekdays)).min(1),
    opens: time.optional(),
    closes: time.optional(),
  })
  .superRefine(({ hours, opens, closes }, issues) => {
    if (!opens !== !closes) issues.addIssue("needs both opens and closes, or neither");
    if (!opens || !closes) return;
    if (opens >= closes) issues.addIssue("closes must be later than opens");
    const words = `${inWords(opens)} to ${inWords(closes)}`;
    if (hours !== words) issues.addIssue(`hours must say "${words}", as opens and closes do`);
  });

/** The working hours of content/data/hours.yaml, in East Africa Time: each day of the week once. */
export const WorkingHours = z
  .array(Line)
  .refine(
    (lines) =>
      weekdays.every((day) => lines.flatMap((line) => line.weekdays).filter((one) => one === day).length === 1),
    "must name each of Mon, Tue, Wed, Thu, Fri, Sat and Sun once",
  );
export type WorkingHours = z.infer<typeof WorkingHours>;

/** Whether the offices are open, in words with the zone named, and until which moment that holds; null: for ever. */
export type Opening = { isOpen: boolean; words: string; until: Date | null };

const minute = 60_000;
const dayLength = 24 * 60 * minute;
/** East Africa Time is UTC+3, without summer time. */
const offset = 3 * 60 * minute;

/** Whether the offices are open at a moment. They open at the minute of `opens`, and close at that of `closes`. Knows no holidays. */
export function openingAt(hours: WorkingHours, now: Date): Opening {
  const here = now.valueOf() + offset;
  const midnight = Math.floor(here / dayLength) * dayLength;
  for (let day = 0; day <= 7; day++) {
    const start = midnight + day * dayLength;
    const weekday = new Date(start).getUTCDay();
    const { opens, closes } = hours.find((line) => line.weekdays.includes(weekdays[weekday] as "Sun")) ?? {};
    if (!opens || !closes || here >= start + minutesOf(closes) * minute) continue;
    const opening = start + minutesOf(opens) * minute;
    if (here >= opening)
      return {
        isOpen: true,
        words: `Open now, until ${inWords(closes)} EAT`,
        until: at(start + minutesOf(closes) * minute),
      };
    const next = day === 0 ? "today" : dayNames[weekday];
    // At midnight the day of the opening has another name.
    const until = at(day === 0 ? opening : midnight + dayLength);
    return { isOpen: false, words: `Closed now, opens ${next} ${inWords(opens)} EAT`, until };
  }
  return { isOpen: false, words: "Closed now", until: null };
}

/** The moment at which clocks in East Africa show this. */
const at = (here: number) => new Date(here - offset);

/** Minutes since midnight of "08:00". */
function minutesOf(clock: string): number {
  return Number(clock.slice(0, 2)) * 60 + Number(clock.slice(3));
}

/** "5:00 PM" for "17:00". */
function inWords(clock: string): string {
  const hour = Number(clock.slice(0, 2));
  return `${hour % 12 || 12}${clock.slice(2)} ${hour < 12 ? "AM" : "PM"}`;
}
