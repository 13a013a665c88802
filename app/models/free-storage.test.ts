import { expect, test } from "vitest";
import { storageTariff } from "./content.server.ts";
import { describeFreeStorage, getLastFreeDay, isStorageUrgent, StorageTariff } from "./free-storage.ts";

const tariff: StorageTariff = {
  ...{ date: "2026-05-01", source: "Sample tariff", check_by: "2026-06-01", free_days: 4 },
  rates: [
    { from_day: 5, per_day: { "20": 30, "40": 60 } },
    { from_day: 22, per_day: { "20": 45, "40": 90 } },
  ],
};
const citation = "Source, as of 1 May 2026: Sample tariff.";
const container = (size: number) => ({ arrived: "2026-05-10", freeUntil: "2026-05-14", size });

test.each([
  ["2026-05-10", "2026-05-14"],
  ["2026-02-26", "2026-03-02"],
  ["2028-02-26", "2028-03-01"],
])("A container that arrived on %s has free storage until %s.", (arrived, last) => {
  expect(getLastFreeDay(arrived, storageTariff)).toBe(last);
});

test.each([
  [20, "2026-05-12", "Free at the port until Thu 14 May, 2 days left. Storage costs about USD 30 a day from 15 May."],
  [40, "2026-05-13", "Free at the port until Thu 14 May, 1 day left. Storage costs about USD 60 a day from 15 May."],
  [
    20,
    "2026-05-14",
    "Free at the port until Thu 14 May. Today is the last day. Storage costs about USD 30 a day from 15 May.",
  ],
  [20, "2026-05-15", "Free storage ended on Thu 14 May. Storage now costs about USD 30 a day."],
  [40, "2026-06-01", "Free storage ended on Thu 14 May. Storage now costs about USD 90 a day."],
])("The text about free storage of a %i-foot container on %s is: %s", (size, today, words) => {
  expect(describeFreeStorage(container(size), tariff, today)).toBe(`${words} ${citation}`);
});

test.each([
  [
    "2026-05-12",
    "Free at the port until Thu 14 May, 2 days left. You pay for storage from 15 May. Ask us for the daily charge.",
  ],
  ["2026-05-15", "Free storage ended on Thu 14 May. Ask us for the daily charge."],
])("Without confirmed storage rates, the text about free storage on %s is: %s", (today, words) => {
  expect(describeFreeStorage(container(20), { ...tariff, rates: undefined }, today)).toBe(`${words} ${citation}`);
});

test("The storage tariff of the tariff book 2025 has four free days and no confirmed rates.", () => {
  expect([storageTariff.date, storageTariff.free_days, storageTariff.rates]).toEqual(["2025-12-22", 4, undefined]);
});

test("After the check-by day of the storage tariff, a client is asked to check the tariff with us.", () => {
  expect(describeFreeStorage(container(20), tariff, "2026-06-01")).not.toContain("Check this tariff with us");
  expect(describeFreeStorage(container(20), tariff, "2026-06-02")).toContain("Check this tariff with us");
});

test.each<[today: string, isUrgent: boolean, freeUntil?: string]>([
  ["2026-05-11", false],
  ["2026-05-12", true],
  ["2026-05-15", true],
  ["2026-02-27", false, "2026-03-02"],
  ["2026-02-28", true, "2026-03-02"],
])(
  "On %s, isStorageUrgent is %s, because only the last two free days and later days are urgent.",
  (today, isUrgent, freeUntil = "2026-05-14") => {
    expect(isStorageUrgent({ freeUntil }, today)).toBe(isUrgent);
  },
);

test.each([{ date: "15 September 2023" }, { free_days: 0 }, { rates: [] }, { source: "" }, { check_by: undefined }])(
  "A storage tariff with %j is invalid.",
  (fields) => {
    expect(StorageTariff.safeParse({ ...tariff, ...fields }).success).toBe(false);
  },
);
