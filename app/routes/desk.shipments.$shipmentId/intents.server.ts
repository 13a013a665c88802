import { z } from "zod";
import { reasonField } from "~/actions/staff";
import { defineIntent, type IntentDefinition, toIntentResult } from "~/lib/forms/intent-form.server";
import { oneLine, severalLines } from "~/lib/forms/text-fields";
import { serviceRoleClient } from "~/lib/supabase/client.server";
import { storageTariff } from "~/models/content.server";
import { CHARGE_CURRENCIES, STORAGE_LOCATIONS, type StorageLocation } from "~/models/desk-labels";
import { verifyDocument } from "~/models/document.server";
import { getLastFreeDay } from "~/models/free-storage";
import { maxLength } from "~/models/limits";
import { PAYMENTS } from "~/models/shipment";
import {
  correctStage,
  rejectDocument,
  saveArrival,
  saveAwb,
  sendNote,
  setCharge,
  setChargePaid,
  unverifyDocument,
} from "~/models/staff-action.server";

const Day = z
  .string()
  .regex(/^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])$/, "Give a day such as 2026-05-31.")
  .refine(
    // A text in the wrong form already has its own message, so it passes here.
    (day) => {
      const read = new Date(`${day}T00:00:00Z`);
      return Number.isNaN(read.valueOf()) || read.toISOString().startsWith(day);
    },
    "There is no such day.",
  );

/** Commas or blanks may separate thousands. */
const Amount = z
  .string("Enter the amount.")
  .transform((typed) => typed.replace(/[,\s]/g, ""))
  .pipe(z.string().regex(/^\d{1,11}(\.\d{1,2})?$/, "Enter an amount such as 12,500 or 12500.50."))
  .transform(Number)
  .refine((amount) => amount > 0, "Enter an amount above nothing.");

const ChargeItem = z.enum(PAYMENTS.map(({ id }) => id));
const DocumentFields = z.object({ document: z.uuid("Open this page again and send the form once more.") });
const DocumentReasonFields = DocumentFields.extend({ reason: reasonField });
const ChargeFields = z.object({
  item: ChargeItem,
  amount: Amount,
  currency: z.enum(CHARGE_CURRENCIES, "Choose the currency."),
  due: Day.optional(),
  note: oneLine("")
    .max(...maxLength("chargeNote"))
    .optional(),
});

const paymentsHash = "#payments";

export function createShipmentIntents(id: string): Readonly<Record<string, IntentDefinition>> {
  return {
    correct: defineIntent(
      z.object({
        stage: z.coerce
          .number("Choose the stage.")
          .int("Choose the stage.")
          .min(1, "Choose the stage.")
          .max(10, "Choose the stage."),
        reason: reasonField,
      }),
      async ({ supabase: backend }, to, sent) =>
        toIntentResult(
          await correctStage(backend, id, to, sent),
          (at) => `Stage corrected to ${(at as { status: string }).status}`,
        ),
    ),
    awb: defineIntent(
      z
        .object({
          awb: oneLine("")
            .max(...maxLength("awb", " for the AWB/BL"))
            .optional(),
          hasAwb: z.string().optional(),
          reason: reasonField.optional(),
        })
        .refine(({ hasAwb, reason }) => !hasAwb || reason !== undefined, {
          path: ["reason"],
          message: "Say why, in a few words.",
        }),
      async ({ supabase: backend }, { awb = "", reason }, sent) =>
        toIntentResult(await saveAwb(backend, id, { awb, reason }, sent), () => "AWB/BL saved"),
    ),
    arrival: defineIntent(
      z.object({
        place: z.enum(Object.keys(STORAGE_LOCATIONS) as StorageLocation[], "Choose the place."),
        day: z.string("Give the day.").pipe(Day),
        size: z.enum(["20", "40"], "Choose the size."),
      }),
      async ({ supabase: backend }, { place, day, size }, sent) =>
        toIntentResult(
          await saveArrival(
            backend,
            id,
            { place, day, size: size === "20" ? 20 : 40, free_storage_ends_on: getLastFreeDay(day, storageTariff) },
            sent,
          ),
          () => "Arrival saved",
          "#storage",
        ),
    ),
    note: defineIntent(
      z.object({
        note: severalLines("Write the note.")
          .min(1, "Write the note.")
          .max(...maxLength("note")),
      }),
      async ({ supabase: backend }, { note }, sent) =>
        toIntentResult(await sendNote(backend, id, note, sent), () => "Note sent"),
    ),
    charge: defineIntent(ChargeFields, async ({ supabase: backend }, { due, ...charge }, sent) =>
      toIntentResult(
        await setCharge(backend, id, { ...charge, due_on: due }, sent),
        () => "Charge saved",
        paymentsHash,
      ),
    ),
    "mark-paid": defineIntent(z.object({ item: ChargeItem }), async ({ supabase: backend }, { item }, sent) =>
      toIntentResult(
        await setChargePaid(backend, id, { item, paid: true }, sent),
        () => "Marked as paid",
        paymentsHash,
      ),
    ),
    "mark-unpaid": defineIntent(
      z.object({ item: ChargeItem, reason: reasonField }),
      async ({ supabase: backend }, { item, reason }, sent) =>
        toIntentResult(
          await setChargePaid(backend, id, { item, paid: false, reason }, sent),
          () => "Due again",
          paymentsHash,
        ),
    ),
    verify: defineIntent(DocumentFields, async ({ supabase: backend }, { document }, sent) => {
      const refused = await verifyDocument(backend, serviceRoleClient(), document, sent);
      return refused ?? { toast: "Verified", anchor: `#document-${document}` };
    }),
    reject: defineIntent(DocumentReasonFields, async ({ supabase: backend }, { document, reason }, sent) =>
      toIntentResult(await rejectDocument(backend, document, reason, sent), () => "Sent back", `#document-${document}`),
    ),
    unverify: defineIntent(DocumentReasonFields, async ({ supabase: backend }, { document, reason }, sent) =>
      toIntentResult(
        await unverifyDocument(backend, document, reason, sent),
        () => "Verification taken back",
        `#document-${document}`,
      ),
    ),
  };
}
