import { z } from "zod";
import { read } from "../lib/content.server.ts";
import { STAGES, type Step, whoseMove } from "./shipment.ts";

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
export function moveOf(shipment: Parameters<typeof whoseMove>[0]): Step {
  return whoseMove(shipment, stages[shipment.stage - 1] ?? (stages[0] as Step));
}
