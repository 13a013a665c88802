/** The forms of a shipment's page at the desk: what each asks for and does. */
import { z } from "zod";
import { type FormOfPage, formOf, toastOf } from "~/lib/act-form.server";
import { storageTariff } from "~/lib/content.server";
import { companyBackend } from "~/lib/supabase.server";
import { Reason } from "~/models/colleague";
import { PLACES, type Place } from "~/models/desk";
import {
  correctStage,
  markCharge,
  saveArrival,
  saveAwb,
  sendBackDocument,
  sendNote,
  setCharge,
  unverifyDocument,
} from "~/models/desk-act.server";
import { verifyDocument } from "~/models/document.server";
import { CURRENCIES, PAYMENTS } from "~/models/shipment";
import { freeUntil } from "~/models/storage";
import { oneLine, severalLines } from "~/models/text";

const Day = z
  .string()
  .regex(/^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])$/, "Give a day such as 2026-05-31.")
  .refine(
    // The pattern is judged too when this is, and told alone.
    (day) => {
      const read = new Date(`${day}T00:00:00Z`);
      return Number.isNaN(read.valueOf()) || read.toISOString().startsWith(day);
    },
    "There is no such day.",
  );

/** What a clerk types as an amount: thousands may be parted by commas or blanks. */
const Amount = z
  .string("Enter the amount.")
  .transform((typed) => typed.replace(/[,\s]/g, ""))
  .pipe(z.string().regex(/^\d{1,11}(\.\d{1,2})?$/, "Enter an amount such as 12,500 or 12500.50."))
  .transform(Number)
  .refine((amount) => amount > 0, "Enter an amount above nothing.");

const Item = z.enum(PAYMENTS.map(({ id }) => id));
const Document = z.object({ document: z.uuid("Open this page again and send the form once more.") });
const DocumentAndReason = Document.extend({ reason: Reason });
const Charge = z.object({
  item: Item,
  amount: Amount,
  currency: z.enum(CURRENCIES, "Choose the currency."),
  due: Day.optional(),
  note: oneLine("").max(300, "Use at most 300 characters.").optional(),
});

const payments = "#payments";

/** The forms of the page of a shipment, by their `act`. */
export function formsOf(id: string): Readonly<Record<string, FormOfPage>> {
  return {
    correct: formOf(
      z.object({
        stage: z.coerce
          .number("Choose the stage.")
          .int("Choose the stage.")
          .min(1, "Choose the stage.")
          .max(10, "Choose the stage."),
        reason: Reason,
      }),
      async ({ backend }, to, sent) =>
        toastOf(
          await correctStage(backend, id, to, sent),
          (at) => `Stage corrected to ${(at as { status: string }).status}`,
        ),
    ),
    awb: formOf(
      z
        .object({
          awb: oneLine("").max(64, "Use at most 64 characters for the AWB/BL.").optional(),
          stands: z.string().optional(),
          reason: Reason.optional(),
        })
        .refine(({ stands, reason }) => !stands || reason !== undefined, {
          path: ["reason"],
          message: "Say why, in a few words.",
        }),
      async ({ backend }, { awb = "", reason }, sent) =>
        toastOf(await saveAwb(backend, id, { awb, reason }, sent), () => "AWB/BL saved"),
    ),
    arrival: formOf(
      z.object({
        place: z.enum(Object.keys(PLACES) as Place[], "Choose the place."),
        day: z.string("Give the day.").pipe(Day),
        size: z.enum(["20", "40"], "Choose the size."),
      }),
      async ({ backend }, { place, day, size }, sent) =>
        toastOf(
          await saveArrival(
            backend,
            id,
            { place, day, size: size === "20" ? 20 : 40, free_until: freeUntil(day, storageTariff) },
            sent,
          ),
          () => "Arrival saved",
          "#storage",
        ),
    ),
    note: formOf(
      z.object({
        note: severalLines("Write the note.").min(1, "Write the note.").max(1000, "Use at most 1,000 characters."),
      }),
      async ({ backend }, { note }, sent) => toastOf(await sendNote(backend, id, note, sent), () => "Note sent"),
    ),
    charge: formOf(Charge, async ({ backend }, { due, ...charge }, sent) =>
      toastOf(await setCharge(backend, id, { ...charge, due_on: due }, sent), () => "Charge saved", payments),
    ),
    paid: formOf(z.object({ item: Item }), async ({ backend }, { item }, sent) =>
      toastOf(await markCharge(backend, id, { item, paid: true }, sent), () => "Marked as paid", payments),
    ),
    unpaid: formOf(z.object({ item: Item, reason: Reason }), async ({ backend }, { item, reason }, sent) =>
      toastOf(await markCharge(backend, id, { item, paid: false, reason }, sent), () => "Due again", payments),
    ),
    verify: formOf(Document, async ({ backend }, { document }, sent) => {
      const refused = await verifyDocument(backend, companyBackend(), document, sent);
      return refused ?? { toast: "Verified", at: `#document-${document}` };
    }),
    "send-back": formOf(DocumentAndReason, async ({ backend }, { document, reason }, sent) =>
      toastOf(await sendBackDocument(backend, document, reason, sent), () => "Sent back", `#document-${document}`),
    ),
    unverify: formOf(DocumentAndReason, async ({ backend }, { document, reason }, sent) =>
      toastOf(
        await unverifyDocument(backend, document, reason, sent),
        () => "Verification taken back",
        `#document-${document}`,
      ),
    ),
  };
}
