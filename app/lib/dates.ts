/** Dates and times for display. Times are in East Africa Time (UTC+3, no summer time). */

const dateAndTime = new Intl.DateTimeFormat("en-GB", {
  day: "numeric",
  month: "short",
  year: "numeric",
  hour: "2-digit",
  minute: "2-digit",
  timeZone: "Africa/Nairobi",
});

const dateOnly = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "long", year: "numeric", timeZone: "UTC" });

/** Returns an ISO 8601 time as "20 Nov 2026, 15:04 EAT". A no-break space keeps the zone next to the time. */
export function eastAfricaTime(iso: string): string {
  return `${dateAndTime.format(new Date(iso))}\u00a0EAT`;
}

// Only the server uses this. The mark removes it from the browser's script.
const dayAndMonth = /* @__PURE__ */ new Intl.DateTimeFormat("en-GB", {
  day: "numeric",
  month: "short",
  timeZone: "Africa/Nairobi",
});

/** Returns an ISO 8601 time of this year as "12 May", and of another year as "12 May 2025". */
export function shortDay(iso: string, now = new Date()): string {
  const year = dayInEastAfrica(new Date(iso)).slice(0, 4);
  const day = dayAndMonth.format(new Date(iso));
  return year === dayInEastAfrica(now).slice(0, 4) ? day : `${day} ${year}`;
}

/** Returns an ISO 8601 time of today as "14:05 EAT", and of another day as "12 May, 14:05 EAT". */
export function shortTime(iso: string, now = new Date()): string {
  const at = new Date(iso);
  const time = eastAfricaTime(iso).split(", ").at(-1);
  return dayInEastAfrica(at) === dayInEastAfrica(now) ? `${time}` : `${shortDay(iso, now)}, ${time}`;
}

/** Returns an ISO 8601 time as "2026-11-23 14:05", which spreadsheets can sort. */
export function sortableTime(iso: string): string {
  const here = new Date(Date.parse(iso) + 3 * 3_600_000).toISOString();
  return `${here.slice(0, 10)} ${here.slice(11, 16)}`;
}

/** Returns the calendar day in East Africa, YYYY-MM-DD. */
export function dayInEastAfrica(moment: Date): string {
  return new Date(moment.valueOf() + 3 * 3_600_000).toISOString().slice(0, 10);
}

/** Returns the calendar date "2025-10-15" as "15 October 2025". A calendar date has no time zone. */
export function calendarDate(date: string): string {
  return dateOnly.format(new Date(`${date}T00:00:00Z`));
}

/** Returns the month "2025-10" as "October 2025". */
export function monthName(month: string): string {
  return calendarDate(`${month}-01`).replace("1 ", "");
}
