import { expect, test } from "vitest";
import { dayInEastAfrica, eastAfricaTime, shortDay, shortTime, showTime, sortableTime } from "./dates.ts";

test.each([
  ["2026-11-20T12:04:59.999Z", "20 Nov 2026, 15:04\u00a0EAT"],
  ["2026-11-20T21:00:00+00:00", "21 Nov 2026, 00:00\u00a0EAT"],
  ["2026-12-31T21:15:00+00:00", "1 Jan 2027, 00:15\u00a0EAT"],
  ["2028-02-28T22:00:00+00:00", "29 Feb 2028, 01:00\u00a0EAT"],
  ["2026-07-15T12:00:00Z", "15 Jul 2026, 15:00\u00a0EAT"],
  ["2026-11-20T01:04:00-11:00", "20 Nov 2026, 15:04\u00a0EAT"],
  ["2026-11-20T12:04:00.123456+00:00", "20 Nov 2026, 15:04\u00a0EAT"],
])("The time %s is displayed as %s.", (iso, shown) => {
  expect(eastAfricaTime(iso)).toBe(shown);
});

test.each([
  ["2026-11-20T20:59:59Z", "2026-11-20"],
  ["2026-11-20T21:00:00Z", "2026-11-21"],
])("At the time %s, the date in East Africa is %s.", (iso, day) => {
  expect(dayInEastAfrica(new Date(iso))).toBe(day);
});

test.each([
  ["2026-11-23T11:05:59.999999+00:00", "2026-11-23 14:05"],
  ["2026-01-02T00:04:00Z", "2026-01-02 03:04"],
  ["2028-02-28T21:00:00Z", "2028-02-29 00:00"],
  ["2026-07-15T14:05:00+03:00", "2026-07-15 14:05"],
])("The time %s has the sortable text %s in East Africa Time.", (iso, shown) => {
  expect(sortableTime(iso)).toBe(shown);
});

test("A short day or time leaves out the current year or day in East Africa, which starts before the UTC day.", () => {
  const now = new Date("2026-12-31T22:00:00Z");
  expect([shortDay("2026-12-31T21:00:00Z", now), shortDay("2026-12-31T20:59:00Z", now)]).toEqual([
    "1 Jan",
    "31 Dec 2026",
  ]);
  expect(shortTime("2026-12-31T21:00:00Z", now)).toBe("00:00\u00a0EAT");
  expect(shortTime("2026-12-31T20:59:00Z", now)).toBe("31 Dec 2026, 23:59\u00a0EAT");
});

test.each([
  ["2026-11-27T12:00:00Z", "just now"],
  ["2026-11-27T11:59:30Z", "just now"],
  ["2026-11-27T11:59:00Z", "1 min ago"],
  ["2026-11-27T11:00:01Z", "59 min ago"],
  ["2026-11-27T11:00:00Z", "1 hr ago"],
  ["2026-11-26T12:00:01Z", "23 hr ago"],
  ["2026-11-26T12:00:00Z", "1 day ago"],
  ["2026-10-28T12:00:00Z", "30 days ago"],
  ["2026-10-27T12:00:00Z", "27 Oct"],
  ["2025-10-27T12:00:00Z", "27 Oct 2025"],
  ["2026-11-27T12:05:00Z", "just now"],
])("At noon on 27 November 2026, the time %s is shown as %s.", (iso, text) => {
  expect(showTime(iso, new Date("2026-11-27T12:00:00Z"))).toEqual({ text, full: eastAfricaTime(iso) });
});
