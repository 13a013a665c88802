import { z } from "zod";
import { shortDay } from "../lib/dates.ts";
import { cite, datedFields } from "./dated-figure.ts";
import { CARGO_KINDS, type CargoKind } from "./desk-labels.ts";

export const CargoKindField = z.enum(Object.keys(CARGO_KINDS) as CargoKind[]);
const placeNames = z.record(z.string().regex(/^[a-z]+(-[a-z]+)*$/), z.string().min(1));

export const StorageLocationGroups = z
  .array(z.strictObject({ group: z.string().min(1), cargo: z.array(CargoKindField).min(1), places: placeNames }))
  .refine((groups) => {
    const all = groups.flatMap(({ places }) => Object.keys(places));
    return new Set(all).size === all.length;
  }, "must contain each place only once");
export type StorageLocationGroups = z.infer<typeof StorageLocationGroups>;

/**
 * `places` maps each covered storage location to its words after "Free at". `from_day` 1 is the day after arrival.
 * `per_day` is in USD. `rates` is missing until the rates are confirmed.
 */
export const StorageTariff = z
  .strictObject({
    ...datedFields,
    places: placeNames,
    cargo: z.array(CargoKindField).min(1),
    free_days: z.int().positive(),
    rates: z
      .array(
        z.strictObject({
          from_day: z.int().positive(),
          per_day: z.partialRecord(CargoKindField, z.number().positive()),
        }),
      )
      .min(1)
      .optional(),
  })
  .refine(
    ({ cargo, rates = [] }) => rates.every(({ per_day }) => cargo.every((kind) => per_day[kind] !== undefined)),
    "must have a daily charge for each kind of cargo in each of its rates",
  );
export type StorageTariff = z.infer<typeof StorageTariff>;

export const StorageTariffs = z.array(StorageTariff);

/** True if this kind of cargo can arrive at the storage location. private.can_arrive in SQL has the same rule. */
export function canArrive(groups: StorageLocationGroups, location: string, kind: CargoKind): boolean {
  return groups.some(({ places, cargo }) => location in places && cargo.includes(kind));
}

export function findStorageTariff(
  tariffs: StorageTariff[],
  location: string,
  kind: CargoKind,
): StorageTariff | undefined {
  return tariffs.find(({ places, cargo }) => location in places && cargo.includes(kind));
}

/** Throws if a tariff has a place where its cargo cannot arrive, or if two tariffs cover the same cargo at one place. */
export function checkStorageTariffs(tariffs: StorageTariff[], groups: StorageLocationGroups): StorageTariff[] {
  for (const tariff of tariffs)
    for (const location of Object.keys(tariff.places))
      for (const kind of tariff.cargo) {
        const problem = canArrive(groups, location, kind)
          ? findStorageTariff(tariffs, location, kind) !== tariff && "another tariff covers"
          : "storage-locations.yaml does not allow";
        if (problem)
          throw new Error(`content/data/storage.yaml: ${problem} the cargo ${kind} at the place ${location}`);
      }
  return tariffs;
}

const weekdayFormat = new Intl.DateTimeFormat("en-GB", {
  weekday: "short",
  day: "numeric",
  month: "short",
  timeZone: "UTC",
});
const dayMs = 86_400_000;
const parseDay = (day: string) => Date.parse(`${day}T00:00:00Z`);

export function getLastFreeDay(arrived: string, { free_days }: StorageTariff): string {
  return new Date(parseDay(arrived) + free_days * dayMs).toISOString().slice(0, 10);
}

type FreeStorage = { location: string; arrived: string; freeUntil: string; cargo: CargoKind };

/** Returns text such as "Free at the port until Thu 14 May, 2 days left." `today` is the day in East Africa. */
export function describeFreeStorage(
  { location, arrived, freeUntil, cargo }: FreeStorage,
  tariff: StorageTariff,
  today: string,
): string {
  const until = weekdayFormat.format(parseDay(freeUntil)).replace(",", "");
  const daysLeft = Math.round((parseDay(freeUntil) - parseDay(today)) / dayMs);
  const place = tariff.places[location];
  const citation = cite([tariff], today, "this tariff");
  if (daysLeft < 0) {
    const charge = getDailyCharge(Math.round((parseDay(today) - parseDay(arrived)) / dayMs), cargo, tariff);
    const chargeText = charge ? `Storage now costs ${charge}.` : "Ask us for the daily charge.";
    return `Free storage at ${place} ended on ${until}. ${chargeText} ${citation}`;
  }
  const firstPaidDay = shortDay(new Date(parseDay(freeUntil) + dayMs).toISOString(), new Date(parseDay(today)));
  const charge = getDailyCharge(tariff.free_days + 1, cargo, tariff);
  const chargeText = charge
    ? `Storage costs ${charge} from ${firstPaidDay}.`
    : `You pay for storage from ${firstPaidDay}. Ask us for the daily charge.`;
  return `Free at ${place} until ${until}${describeDaysLeft(daysLeft)} ${chargeText} ${citation}`;
}

function describeDaysLeft(daysLeft: number): string {
  if (daysLeft === 0) return ". Today is the last day.";
  return daysLeft === 1 ? ", 1 day left." : `, ${daysLeft} days left.`;
}

export function isStorageUrgent({ freeUntil }: { freeUntil: string }, today: string): boolean {
  return parseDay(freeUntil) - parseDay(today) <= 2 * dayMs;
}

function getDailyCharge(day: number, cargo: CargoKind, { rates }: StorageTariff): string | null {
  const rate = rates?.findLast(({ from_day }) => from_day <= day) ?? rates?.[0];
  return rate ? `about USD ${rate.per_day[cargo]} a day` : null;
}
