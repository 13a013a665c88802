import { z } from "zod";
import { calendarDate, dayInEastAfrica } from "../lib/dates.ts";
import { readContentFile } from "./content-file.server.ts";
import { CARGO_KINDS, type CargoKind } from "./desk-labels.ts";
import {
  CargoKindField,
  canArrive,
  checkStorageTariffs,
  describeFreeStorage,
  findStorageTariff,
  getLastFreeDay,
  isStorageUrgent,
  StorageLocationGroups,
  StorageTariffs,
} from "./free-storage.ts";

export const storageLocationGroups = readContentFile("storage-locations", StorageLocationGroups);
export const storageTariffs = checkStorageTariffs(readContentFile("storage", StorageTariffs), storageLocationGroups);

export const STORAGE_LOCATIONS: Readonly<Record<string, string>> = Object.fromEntries(
  storageLocationGroups.flatMap(({ places }) => Object.entries(places)),
);

export const Arrival = z.object({
  storage_location: z.enum(Object.keys(STORAGE_LOCATIONS)),
  day: z.string(),
  cargo: CargoKindField,
  free_storage_ends_on: z.string().nullable(),
});
export type Arrival = z.infer<typeof Arrival>;

/** Returns why this cargo cannot arrive at the storage location, or null if it can. */
export function findArrivalError(location: string, cargo: CargoKind): string | null {
  if (canArrive(storageLocationGroups, location, cargo)) return null;
  const name = STORAGE_LOCATIONS[location];
  return cargo === "air"
    ? `Air freight arrives only at airports. Choose an airport, or choose the cargo that arrived at ${name}.`
    : `Only air freight arrives at ${name}. Choose "${CARGO_KINDS.air}", or choose the place where this cargo arrived.`;
}

export function calculateFreeStorageEnd(location: string, cargo: CargoKind, day: string): string | null {
  const tariff = findStorageTariff(storageTariffs, location, cargo);
  return tariff ? getLastFreeDay(day, tariff) : null;
}

const cargoReleasedStage = 9;
const askForFreeDays = "Ask us for the free days.";

type StoredCargo = { stage: number; arrival: Arrival | null };

/** Returns null before the arrival and after the release of the cargo. */
export function describeStorage({ stage, arrival }: StoredCargo, today = dayInEastAfrica(new Date())) {
  if (!arrival || stage >= cargoReleasedStage) return null;
  const { storage_location: location, day: arrived, cargo, free_storage_ends_on: freeUntil } = arrival;
  const arrivalText = `Arrived at ${STORAGE_LOCATIONS[location]} on ${calendarDate(arrived)}.`;
  const tariff = findStorageTariff(storageTariffs, location, cargo);
  if (!tariff || !freeUntil) return { text: `${arrivalText} ${askForFreeDays}`, isUrgent: false };
  const storageText = describeFreeStorage({ location, arrived, freeUntil, cargo }, tariff, today);
  return { text: `${arrivalText} ${storageText}`, isUrgent: isStorageUrgent({ freeUntil }, today) };
}

export function asksForFreeDays({ stage, arrival }: StoredCargo): boolean {
  return stage < cargoReleasedStage && arrival?.free_storage_ends_on === null;
}

/** Returns the sentence about free storage in the email about an arrival, or null after the release of the cargo. */
export function describeStorageForEmail(shipment: StoredCargo): string | null {
  if (asksForFreeDays(shipment)) return askForFreeDays;
  const lastDay = shipment.stage < cargoReleasedStage && shipment.arrival?.free_storage_ends_on;
  return lastDay ? `Last day of free storage: ${calendarDate(lastDay)}.` : null;
}

export function describeArrivalForDesk({
  storage_location,
  day,
  cargo,
  free_storage_ends_on: lastDay,
}: Arrival): string {
  const arrival = `${CARGO_KINDS[cargo]}: arrived at ${STORAGE_LOCATIONS[storage_location]} on ${calendarDate(day)}.`;
  return lastDay
    ? `${arrival} Free storage until ${calendarDate(lastDay)}.`
    : `${arrival} The client reads: "${askForFreeDays}"`;
}
