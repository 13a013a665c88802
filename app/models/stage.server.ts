import { z } from "zod";
import { dayInEastAfrica } from "../lib/dates.ts";
import { readContent, storageTariff } from "./content.server.ts";
import { fileFieldId, sortDocuments } from "./document.ts";
import { describeFreeStorage, isStorageUrgent } from "./free-storage.ts";
import { WAITING_ON } from "./labels.ts";
import { type NextAction, nextAction, PAYMENTS, type ShipmentState, STAGES } from "./shipment.ts";

const Stage = z.object({
  name: z.string(),
  waitingOn: z.enum(WAITING_ON),
  text: z.string().min(1),
  ours: z.string().optional(),
});

/** Stage n is stages[n - 1]. */
export const stages = readContent(
  "stages",
  z
    .array(Stage)
    .refine(
      (all) => all.map(({ name }) => name).join() === STAGES.join(),
      "must have the names of the ten stages, in order",
    ),
);

export function getNextAction(shipment: ShipmentState): NextAction {
  return nextAction(shipment, stages[shipment.stage - 1] ?? (stages[0] as NextAction));
}

/** `at` is the part of the shipment's page where the client acts. Returns null if the client has nothing to do. */
export function getNextActionButton(
  shipment: ShipmentState & { documents: (ShipmentState["documents"][number] & { id: string })[] },
) {
  if (getNextAction(shipment).waitingOn !== "client") return null;
  const awaited = sortDocuments(shipment.documents).filter(({ uploaded }) => !uploaded);
  const [first] = [...awaited.filter(({ rejected_at }) => rejected_at), ...awaited];
  if (first) return { words: `Upload the ${first.name}`, at: `#${fileFieldId(first.id)}` };
  const due = PAYMENTS.find(({ id }) => shipment.charges.some(({ item, paid_at }) => item === id && paid_at === null));
  return due ? { words: `Pay the ${due.name}`, at: "#payments" } : null;
}

/** The cargo leaves storage before this stage. */
const cargoReleasedStage = 9;

export function describeStorage(shipment: {
  stage: number;
  arrival: { day: string; free_storage_ends_on: string; size: number } | null;
}) {
  const { stage, arrival } = shipment;
  if (!arrival || stage >= cargoReleasedStage) return null;
  const today = dayInEastAfrica(new Date());
  const at = { arrived: arrival.day, freeUntil: arrival.free_storage_ends_on, size: arrival.size };
  return { text: describeFreeStorage(at, storageTariff, today), isUrgent: isStorageUrgent(at, today) };
}
