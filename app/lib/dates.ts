/** Dates and times as the portal shows them: East Africa Time (UTC+3, no summer time), with the zone named. */

const dateAndTime = new Intl.DateTimeFormat("en-GB", {
  day: "numeric",
  month: "short",
  year: "numeric",
  hour: "2-digit",
  minute: "2-digit",
  timeZone: "Africa/Nairobi",
});

/** "20 Nov 2026, 15:04 EAT" for an ISO 8601 time with offset. */
export function eastAfricaTime(iso: string): string {
  return `${dateAndTime.format(new Date(iso))} EAT`;
}
