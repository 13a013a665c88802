/** East Africa Time is UTC+3 all year. */
const utcOffsetMs = 3 * 3_600_000;

const dateAndTime = new Intl.DateTimeFormat("en-GB", {
  day: "numeric",
  month: "short",
  year: "numeric",
  hour: "2-digit",
  minute: "2-digit",
  timeZone: "Africa/Nairobi",
});

const dateOnly = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "long", year: "numeric", timeZone: "UTC" });

/** Returns a time such as "20 Nov 2026, 15:04 EAT", with a no-break space before "EAT". */
export function eastAfricaTime(iso: string): string {
  return `${dateAndTime.format(new Date(iso))}\u00a0EAT`;
}

// `@__PURE__` lets the bundler omit `dayAndMonth` from the browser's scripts, because only the server uses the format.
const dayAndMonth = /* @__PURE__ */ new Intl.DateTimeFormat("en-GB", {
  day: "numeric",
  month: "short",
  timeZone: "Africa/Nairobi",
});

/** Returns the day in East Africa Time: "12 May" in the current year, otherwise "12 May 2025". */
export function shortDay(iso: string, now = new Date()): string {
  const year = dayInEastAfrica(new Date(iso)).slice(0, 4);
  const day = dayAndMonth.format(new Date(iso));
  return year === dayInEastAfrica(now).slice(0, 4) ? day : `${day} ${year}`;
}

/** Returns "14:05 EAT" for a time today, otherwise "12 May, 14:05 EAT" or "12 May 2025, 14:05 EAT". */
export function shortTime(iso: string, now = new Date()): string {
  const date = new Date(iso);
  const time = eastAfricaTime(iso).split(", ").at(-1);
  return dayInEastAfrica(date) === dayInEastAfrica(now) ? `${time}` : `${shortDay(iso, now)}, ${time}`;
}

const relativeFormat = /* @__PURE__ */ new Intl.RelativeTimeFormat("en-GB", { style: "short" });

function relativeTime(iso: string, now: Date): string {
  const minutes = Math.floor((now.valueOf() - Date.parse(iso)) / 60_000);
  if (minutes < 1) return "just now";
  if (minutes < 60) return relativeFormat.format(-minutes, "minute");
  const hours = Math.floor(minutes / 60);
  if (hours < 24) return relativeFormat.format(-hours, "hour");
  const days = Math.floor(hours / 24);
  return days <= 30 ? relativeFormat.format(-days, "day") : shortDay(iso, now);
}

export type ShownTime = { text: string; full: string };

/** Only the server calls this function, because the text of the browser would differ from the HTML. */
export function showTime(iso: string, now = new Date()): ShownTime {
  return { text: relativeTime(iso, now), full: eastAfricaTime(iso) };
}

export function sortableTime(iso: string): string {
  return toShiftedIso(new Date(iso)).slice(0, 16).replace("T", " ");
}

export function dayInEastAfrica(moment: Date): string {
  return toShiftedIso(moment).slice(0, 10);
}

function toShiftedIso(moment: Date): string {
  return new Date(moment.valueOf() + utcOffsetMs).toISOString();
}

export function calendarDate(date: string): string {
  return dateOnly.format(new Date(`${date}T00:00:00Z`));
}

export function monthName(month: string): string {
  return calendarDate(`${month}-01`).replace("1 ", "");
}
