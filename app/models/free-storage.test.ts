import { expect, test } from "vitest";
import { calculateFreeStorageEnd, describeStorage, findArrivalError, storageTariffs } from "./arrival.server.ts";
import type { CargoKind } from "./desk-labels.ts";
import {
  checkStorageTariffs,
  describeFreeStorage,
  isStorageUrgent,
  StorageLocationGroups,
  StorageTariff,
} from "./free-storage.ts";

const tariff: StorageTariff = {
  ...{ date: "2026-05-01", source: "Sample tariff", check_by: "2026-06-01", free_days: 4 },
  ...{ places: { mombasa: "the port", nairobi: "the Nairobi depot" }, cargo: ["container-20", "container-40"] },
  rates: [
    { from_day: 5, per_day: { "container-20": 30, "container-40": 60 } },
    { from_day: 22, per_day: { "container-20": 45, "container-40": 90 } },
  ],
};
const citation = "Source, as of 1 May 2026: Sample tariff.";
const container = (size: number, location = "mombasa") => ({
  ...{ location, arrived: "2026-05-10", freeUntil: "2026-05-14" },
  cargo: `container-${size}` as CargoKind,
});

test.each([
  ["2026-05-10", "2026-05-14"],
  ["2026-02-26", "2026-03-02"],
  ["2028-02-26", "2028-03-01"],
])("A container that arrived on %s has free storage until %s.", (arrived, last) => {
  for (const location of ["mombasa", "nairobi", "naivasha"])
    expect(calculateFreeStorageEnd(location, "container-40", arrived)).toBe(last);
});

test.each([
  ["mombasa", "transit-20"],
  ["mombasa", "vehicle"],
  ["nairobi", "loose"],
  ["mombasa-cfs", "container-20"],
  ["dar-es-salaam", "container-20"],
  ["nairobi-airport", "air"],
  ["malaba", "container-40"],
] as const)("No tariff covers the arrival at %s of the cargo %s.", (location, cargo) => {
  expect(findArrivalError(location, cargo)).toBeNull();
  expect(calculateFreeStorageEnd(location, cargo, "2026-05-10")).toBeNull();
});

test.each([
  [
    "malaba",
    "air",
    "Air freight arrives only at airports. Choose an airport, or choose the cargo that arrived at Malaba border post.",
  ],
  [
    "entebbe-airport",
    "vehicle",
    'Only air freight arrives at Entebbe airport. Choose "Air freight", or choose the place where this cargo arrived.',
  ],
] as const)("The arrival at %s of the cargo %s is impossible, with the reason: %s", (location, cargo, reason) => {
  expect(findArrivalError(location, cargo)).toBe(reason);
});

test.each([
  [
    "mombasa",
    "container-20",
    "2026-05-14",
    "Arrived at Mombasa port on 10 May 2026. Free at the port until Thu 14 May, 2 days left. ",
  ],
  [
    "nairobi",
    "container-40",
    "2026-05-14",
    "Arrived at Nairobi ICD on 10 May 2026. Free at the Nairobi depot until Thu 14 May, 2 days left. ",
  ],
  ["entebbe-airport", "air", null, "Arrived at Entebbe airport on 10 May 2026. Ask us for the free days."],
  ["mombasa", "vehicle", null, "Arrived at Mombasa port on 10 May 2026. Ask us for the free days."],
] as const)(
  "The client's text about the arrival at %s of the cargo %s with the last free day %s begins: %s",
  (storage_location, cargo, free_storage_ends_on, words) => {
    const arrival = { storage_location, day: "2026-05-10", cargo, free_storage_ends_on };
    const storage = describeStorage({ stage: 8, arrival }, "2026-05-12");
    expect(storage?.text.slice(0, words.length)).toBe(words);
    expect(storage?.isUrgent).toBe(free_storage_ends_on !== null);
    expect(describeStorage({ stage: 9, arrival }, "2026-05-12")).toBeNull();
  },
);

test.each([
  [20, "2026-05-12", "Free at the port until Thu 14 May, 2 days left. Storage costs about USD 30 a day from 15 May."],
  [40, "2026-05-13", "Free at the port until Thu 14 May, 1 day left. Storage costs about USD 60 a day from 15 May."],
  [
    20,
    "2026-05-14",
    "Free at the port until Thu 14 May. Today is the last day. Storage costs about USD 30 a day from 15 May.",
  ],
  [20, "2026-05-15", "Free storage at the port ended on Thu 14 May. Storage now costs about USD 30 a day."],
  [40, "2026-06-01", "Free storage at the port ended on Thu 14 May. Storage now costs about USD 90 a day."],
])("The text about free storage of a %i-foot container on %s is: %s", (size, today, words) => {
  expect(describeFreeStorage(container(size), tariff, today)).toBe(`${words} ${citation}`);
});

test.each([
  [
    "2026-05-12",
    "Free at the port until Thu 14 May, 2 days left. You pay for storage from 15 May. Ask us for the daily charge.",
  ],
  ["2026-05-15", "Free storage at the port ended on Thu 14 May. Ask us for the daily charge."],
])("Without confirmed storage rates, the text about free storage on %s is: %s", (today, words) => {
  expect(describeFreeStorage(container(20), { ...tariff, rates: undefined }, today)).toBe(`${words} ${citation}`);
});

test("The storage tariff of the tariff book 2025 has four free days and no confirmed rates.", () => {
  expect(storageTariffs).toMatchObject([{ date: "2025-12-22", free_days: 4 }]);
  expect(storageTariffs[0]?.rates).toBeUndefined();
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

test.each([
  ...[{ date: "15 September 2023" }, { free_days: 0 }, { rates: [] }, { source: "" }, { check_by: undefined }],
  ...[{ cargo: [] }, { cargo: ["crate"] }, { rates: [{ from_day: 5, per_day: { "container-20": 30 } }] }],
])("A storage tariff with %j is invalid.", (fields) => {
  expect(StorageTariff.safeParse({ ...tariff, ...fields }).success).toBe(false);
});

test("A tariff must not cover cargo that cannot arrive, or cargo that another tariff covers.", () => {
  const groups = StorageLocationGroups.parse([
    {
      group: "Ports",
      cargo: ["container-20", "container-40"],
      places: { mombasa: "Mombasa port", nairobi: "Nairobi" },
    },
  ]);
  expect(checkStorageTariffs([tariff], groups)).toEqual([tariff]);
  const vehicles: StorageTariff = { ...tariff, cargo: ["vehicle"], rates: undefined };
  const elsewhere: StorageTariff = { ...tariff, places: { lamu: "Lamu port" } };
  for (const wrong of [vehicles, elsewhere])
    expect(() => checkStorageTariffs([wrong], groups)).toThrow("storage-locations.yaml does not allow");
  expect(() => checkStorageTariffs([tariff, { ...tariff }], groups)).toThrow("another tariff covers");
});

test("A place in two groups of the list of places is invalid.", () => {
  const group = { group: "Ports", cargo: ["vehicle"], places: { mombasa: "Mombasa port" } };
  expect(StorageLocationGroups.safeParse([group]).success).toBe(true);
  expect(StorageLocationGroups.safeParse([group, { ...group, group: "Depots" }]).success).toBe(false);
});
