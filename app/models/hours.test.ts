import { expect, test } from "vitest";
import { publicHolidays, workingHours } from "./content.server.ts";
import { describeHolidays, getOfficeStatus, type PublicHolidays, WorkingHours } from "./hours.ts";

/**
 * Returns a time in November 2026. `time` is the day and the East Africa Time, such as "07T13:00:00". 2 November is a
 * Monday.
 */
const at = (time: string) => new Date(`2026-11-${time}+03:00`);

const lines = [
  { days: "Mon-Fri", hours: "8:00 AM to 5:00 PM", weekdays: ["Mon", "Tue", "Wed", "Thu", "Fri"] },
  { days: "Sat", hours: "9:00 AM to 1:00 PM", weekdays: ["Sat"], opens: "09:00", closes: "13:00" },
  { days: "Sun", hours: "Closed", weekdays: ["Sun"] },
];
const [week, saturday, sunday] = lines;
const holidays: PublicHolidays = {
  ...{ date: "2026-11-01", source: "Sample Act", check_by: "2026-12-31" },
  days: [
    { date: "2026-11-12", name: "Sample Day" },
    { date: "2026-11-13", name: "Second Day" },
  ],
};
const times = { opens: "08:00", closes: "17:00" };
const parseHours = (...changed: object[]) => WorkingHours.safeParse(changed);

test.each([
  ["At the minute of opening", "02T08:00:00", true, "Open now, until 5:00 PM EAT", "02T17:00:00"],
  ["A second before opening", "02T07:59:59", false, "Closed now, opens today 8:00 AM EAT", "02T08:00:00"],
  ["A second before closing", "02T16:59:59", true, "Open now, until 5:00 PM EAT", "02T17:00:00"],
  ["At the minute of closing", "02T17:00:00", false, "Closed now, opens Tuesday 8:00 AM EAT", "03T00:00:00"],
  ["On a Friday evening", "06T20:00:00", false, "Closed now, opens Saturday 9:00 AM EAT", "07T00:00:00"],
  ["On a Saturday morning", "07T12:59:59", true, "Open now, until 1:00 PM EAT", "07T13:00:00"],
  ["At the closing time of a Saturday", "07T13:00:00", false, "Closed now, opens Monday 8:00 AM EAT", "08T00:00:00"],
  ["After midnight in East Africa", "04T00:30:00", false, "Closed now, opens today 8:00 AM EAT", "04T08:00:00"],
])(
  "%s (%s), the office status says whether the offices are open and when this changes.",
  (_when, now, isOpen, words, until) => {
    expect(getOfficeStatus(workingHours, holidays, at(now))).toEqual({ isOpen, words, until: at(until) });
  },
);

test.each([
  ["On the evening before two holidays", "11T18:00:00", "Closed now, opens Saturday 9:00 AM EAT", "12T00:00:00"],
  ["On the first of two holidays", "12T10:00:00", "Closed now, opens Saturday 9:00 AM EAT", "13T00:00:00"],
])(
  "%s (%s), the office status says that the offices are closed until the next working day.",
  (_when, now, words, until) => {
    expect(getOfficeStatus(workingHours, holidays, at(now))).toEqual({ isOpen: false, words, until: at(until) });
  },
);

const source = "Source, as of 1 November 2026: Sample Act.";
const reminder =
  "Check the list of holidays with us: we planned to check the list of holidays by 31 December 2026, but we are late.";
test.each([
  ["2026-11-11", `Next: 12 November 2026 (Sample Day). ${source}`],
  ["2026-11-13", `Next: 13 November 2026 (Second Day). ${source}`],
  ["2027-01-01", `${source} ${reminder}`],
])(
  "On %s, the text about public holidays names the next holiday and the date of the list of holidays.",
  (today, text) => {
    expect(describeHolidays(holidays, today)).toBe(`Closed on public holidays. ${text}`);
  },
);

test("The public holidays are sorted by date, and no public holiday is a Sunday.", () => {
  const dates = publicHolidays.days.map(({ date }) => date);
  expect(dates).toEqual([...new Set(dates)].sort());
  expect(dates.filter((date) => new Date(date).getUTCDay() === 0)).toEqual([]);
});

test("The office status names the next opening day, even if the offices open once a week or never.", () => {
  const sundays =
    parseHours({ ...week, hours: "Closed" }, { ...sunday, hours: "Closed" }, saturday as object).data ?? [];
  expect(getOfficeStatus(sundays, holidays, at("07T13:00:00")).words).toBe("Closed now, opens Saturday 9:00 AM EAT");
  const never = sundays.map((line) => ({ ...line, opens: undefined, closes: undefined }));
  expect(getOfficeStatus(never, holidays, at("07T13:00:00"))).toEqual({
    isOpen: false,
    words: "Closed now",
    until: null,
  });
});

test.each([
  ["a day twice", [{ ...week, ...times }, saturday, sunday, sunday], /each of Mon/],
  ["an unknown day", [{ ...week, ...times }, saturday, { ...sunday, weekdays: ["Sunday"] }], /Sun/],
  ["a time in 12-hour format", [{ ...week, ...times, opens: "8:00" }, saturday, sunday], /24-hour time/],
  ["no closing time", [{ ...week, opens: "08:00" }, saturday, sunday], /both "opens" and "closes"/],
  ["closing before opening", [{ ...week, opens: "17:00", closes: "08:00" }, saturday, sunday], /later than "opens"/],
  [
    "text for different hours",
    [{ ...week, ...times, closes: "16:00" }, saturday, sunday],
    /must be "8:00 AM to 4:00 PM"/,
  ],
])("Working hours with %s are invalid.", (_what, changed, reason) => {
  expect(parseHours({ ...week, ...times }, saturday as object, sunday as object).success).toBe(true);
  expect(parseHours(...(changed as object[])).error?.issues[0]?.message).toMatch(reason);
});
