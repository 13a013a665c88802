import { z } from "zod";
import { read, storageTariff } from "../lib/content.server.ts";
import { dayInEastAfrica } from "../lib/dates.ts";
import { fileFieldId, inOrder } from "./document.ts";
import { PAYMENTS, STAGES, type Standing, type Step, whoseMove } from "./shipment.ts";
import { isStorageUrgent, storageWords } from "./storage.ts";

const Stage = z.object({
  name: z.string(),
  who: z.enum(["you", "us", "done"]),
  text: z.string().min(1),
  ours: z.string().optional(),
});

/** What happens at each of the ten stages and who acts; stage n is stages[n - 1]. */
export const stages = read(
  "stages",
  z
    .array(Stage)
    .refine(
      (all) => all.map(({ name }) => name).join() === STAGES.join(),
      "must have the names of the ten stages, in order",
    ),
);

/** Whose move a shipment is, and what happens next; at a stage that is none, the first one's words. */
export function moveOf(shipment: Standing): Step {
  return whoseMove(shipment, stages[shipment.stage - 1] ?? (stages[0] as Step));
}

/**
 * The button of a client's move: its words, and the place on the shipment's page where it is done. Null when the move is
 * not theirs.
 */
export function pressOf(shipment: Standing & { documents: (Standing["documents"][number] & { id: string })[] }) {
  if (moveOf(shipment).who !== "you") return null;
  const awaited = inOrder(shipment.documents).filter(({ uploaded }) => !uploaded);
  const [first] = [...awaited.filter((one) => one.sent_back_at), ...awaited];
  if (first) return { words: `Upload the ${first.name}`, at: `#${fileFieldId(first.id)}` };
  const due = PAYMENTS.find(({ id }) => shipment.charges.some((one) => one.item === id && one.paid_at === null));
  return due ? { words: `Pay the ${due.name}`, at: "#payments" } : null;
}

/** From this stage on the cargo is not in storage any more. */
const cargoLeft = 9;

/** What the free storage of a shipment is, and whether it ends or costs by now; null where nothing is known or it has left. */
export function storageOf(shipment: {
  stage: number;
  arrival: { day: string; free_until: string; size: number } | null;
}) {
  const { stage, arrival } = shipment;
  if (!arrival || stage >= cargoLeft) return null;
  const today = dayInEastAfrica(new Date());
  const at = { arrived: arrival.day, freeUntil: arrival.free_until, size: arrival.size };
  return { text: storageWords(at, storageTariff, today), isUrgent: isStorageUrgent(at, today) };
}
