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

/** "20 Nov 2026, 15:04 EAT" for an ISO 8601 time with offset. */
export function eastAfricaTime(iso: string): string {
  return `${dateAndTime.format(new Date(iso))} EAT`;
}

/** The calendar day in East Africa at a moment, YYYY-MM-DD. */
export function dayInEastAfrica(moment: Date): string {
  return new Date(moment.valueOf() + 3 * 3_600_000).toISOString().slice(0, 10);
}

/** "15 October 2025" for the calendar date "2025-10-15". A calendar date has no zone: it is the same day everywhere. */
export function calendarDate(date: string): string {
  return dateOnly.format(new Date(`${date}T00:00:00Z`));
}
