import { z } from "zod";
import type { IntentDefinition } from "../lib/forms/intent-form.server.ts";
import { severalLines } from "../lib/forms/text-fields.ts";
import { REJECTION_REASONS } from "../models/desk-labels.ts";
import { findNextDocument, getReviewPath } from "../models/document-review.server.ts";
import { textLimits } from "../models/limits.ts";
import { requestNewFile } from "./document.server.ts";
import { defineStaffAction } from "./staff-action.server.ts";

const separator = ": ";
const maxDetails = textLimits.reason - separator.length - Math.max(...REJECTION_REASONS.map(({ length }) => length));

/** The form of the review page has common reasons and a text. The client reads both as one reason. */
export const requestNewFileWithReason = defineStaffAction({
  ...requestNewFile,
  schema: z
    .object({
      choice: z.enum(REJECTION_REASONS).optional(),
      reason: severalLines("").max(maxDetails, `Use at most ${maxDetails} characters.`).optional(),
    })
    .refine(({ choice, reason }) => choice || reason, {
      path: ["reason"],
      message: "Choose a reason, or enter another reason.",
    }),
  run: (call, document, { choice, reason }) =>
    requestNewFile.run(call, document, { reason: [choice, reason].filter(Boolean).join(separator) }),
});

/** Adds to each action that checks a document the next document to check, where the browser goes after the action. */
export function leadToNextDocument(
  intents: Readonly<Record<string, IntentDefinition>>,
  shipment: string,
  document: string,
): Readonly<Record<string, IntentDefinition>> {
  const addNext = ({ schema, run }: IntentDefinition, isCheck: boolean): IntentDefinition => ({
    schema,
    async run(viewer, value, sent) {
      // Reads the next document before the action, because the order depends on the upload time of the file.
      const found = await findNextDocument(viewer.supabase, shipment, document);
      if ("reason" in found) return found;
      const result = await run(viewer, value, sent);
      if ("reason" in result) return result;
      if (!isCheck) return { ...result, anchor: undefined };
      const { next, shipmentName } = found;
      const description = next ? shipmentName : `${shipmentName}. No more documents to check.`;
      return { ...result, description, redirectTo: next ? getReviewPath(next.shipment_id, next.id) : "/desk" };
    },
  });
  const entries = Object.entries(intents).map(
    ([name, intent]) => [name, addNext(intent, name !== "unverify")] as const,
  );
  return Object.fromEntries(entries);
}
