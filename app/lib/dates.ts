/** Dates and times as the site shows them. Times are East Africa Time (UTC+3, no summer time), with the zone named. */

const dateAndTime = new Intl.DateTimeFormat("en-GB", {
  day: "numeric",
  month: "short",
  year: "numeric",
  hour: "2-digit",
  minute: "2-digit",
  timeZone: "Africa/Nairobi",
});

const dateOnly = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "long", year: "numeric", timeZone: "UTC" });

/** "20 Nov 2026, 15:04 EAT" for an ISO 8601 time with offset. The zone stays on the line of its time: a no-break space. */
export function eastAfricaTime(iso: string): string {
  return `${dateAndTime.format(new Date(iso))}\u00a0EAT`;
}

// Marked pure: only the server uses it, and the browser's script then does without.
const dayAndMonth = /* @__PURE__ */ new Intl.DateTimeFormat("en-GB", {
  day: "numeric",
  month: "short",
  timeZone: "Africa/Nairobi",
});

/** "12 May" for an ISO 8601 time of this year in East Africa, "12 May 2025" for another one. */
export function shortDay(iso: string, now = new Date()): string {
  const year = dayInEastAfrica(new Date(iso)).slice(0, 4);
  const day = dayAndMonth.format(new Date(iso));
  return year === dayInEastAfrica(now).slice(0, 4) ? day : `${day} ${year}`;
}

/** "14:05 EAT" for an ISO 8601 time of today in East Africa, "12 May, 14:05 EAT" for another day. */
export function shortTime(iso: string, now = new Date()): string {
  const at = new Date(iso);
  const time = eastAfricaTime(iso).split(", ").at(-1);
  return dayInEastAfrica(at) === dayInEastAfrica(now) ? `${time}` : `${shortDay(iso, now)}, ${time}`;
}

/** "2026-11-23 14:05" in East Africa Time, as spreadsheets read and sort it, for an ISO 8601 time. */
export function sortableTime(iso: string): string {
  const here = new Date(Date.parse(iso) + 3 * 3_600_000).toISOString();
  return `${here.slice(0, 10)} ${here.slice(11, 16)}`;
}

/** The calendar day in East Africa at a moment, YYYY-MM-DD. */
export function dayInEastAfrica(moment: Date): string {
  return new Date(moment.valueOf() + 3 * 3_600_000).toISOString().slice(0, 10);
}

/** "15 October 2025" for the calendar date "2025-10-15". A calendar date has no zone: it is the same day everywhere. */
export function calendarDate(date: string): string {
  return dateOnly.format(new Date(`${date}T00:00:00Z`));
}

/** "October 2025" for the month "2025-10". */
export function monthName(month: string): string {
  return calendarDate(`${month}-01`).replace("1 ", "");
}
