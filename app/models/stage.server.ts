import { z } from "zod";
import { read } from "../lib/content.server.ts";
import { STAGES } from "./shipment.ts";

const Stage = z.object({ name: z.string(), who: z.enum(["you", "us", "done"]), text: z.string().min(1) });

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
