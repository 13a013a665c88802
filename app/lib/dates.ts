/** Times for display are in East Africa Time (UTC+3, no summer time). */

const dateAndTime = new Intl.DateTimeFormat("en-GB", {
  day: "numeric",
  month: "short",
  year: "numeric",
  hour: "2-digit",
  minute: "2-digit",
  timeZone: "Africa/Nairobi",
});

const dateOnly = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "long", year: "numeric", timeZone: "UTC" });

/** Returns "20 Nov 2026, 15:04 EAT" with a no-break space before the zone. */
export function eastAfricaTime(iso: string): string {
  return `${dateAndTime.format(new Date(iso))}\u00a0EAT`;
}

// Only the server uses this. The mark removes it from the browser's script.
const dayAndMonth = /* @__PURE__ */ new Intl.DateTimeFormat("en-GB", {
  day: "numeric",
  month: "short",
  timeZone: "Africa/Nairobi",
});

/** Returns "12 May", or "12 May 2025" for another year. */
export function shortDay(iso: string, now = new Date()): string {
  const year = dayInEastAfrica(new Date(iso)).slice(0, 4);
  const day = dayAndMonth.format(new Date(iso));
  return year === dayInEastAfrica(now).slice(0, 4) ? day : `${day} ${year}`;
}

/** Returns "14:05 EAT" for today, or "12 May, 14:05 EAT". */
export function shortTime(iso: string, now = new Date()): string {
  const date = new Date(iso);
  const time = eastAfricaTime(iso).split(", ").at(-1);
  return dayInEastAfrica(date) === dayInEastAfrica(now) ? `${time}` : `${shortDay(iso, now)}, ${time}`;
}

/** Returns "2026-11-23 14:05", which spreadsheets can sort. */
export function sortableTime(iso: string): string {
  const shifted = new Date(Date.parse(iso) + 3 * 3_600_000).toISOString();
  return `${shifted.slice(0, 10)} ${shifted.slice(11, 16)}`;
}

/** Returns YYYY-MM-DD. */
export function dayInEastAfrica(moment: Date): string {
  return new Date(moment.valueOf() + 3 * 3_600_000).toISOString().slice(0, 10);
}

export function calendarDate(date: string): string {
  return dateOnly.format(new Date(`${date}T00:00:00Z`));
}

export function monthName(month: string): string {
  return calendarDate(`${month}-01`).replace("1 ", "");
}
