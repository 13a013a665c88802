import { z } from "zod";
import { dayInEastAfrica } from "../lib/dates.ts";
import { oneLine, severalLines } from "../lib/forms/text-fields.ts";
import { CONTAINER_SIZES, STORAGE_LOCATIONS, type StorageLocation } from "../models/desk-labels.ts";
import { getLastFreeDay } from "../models/free-storage.ts";
import { maxLength } from "../models/limits.ts";
import { type AmountDue, formatAmountsDue, STAGES } from "../models/shipment.ts";
import { AmountsDue, numberHelp, ShipmentNumberFields, toNumberArguments } from "../models/shipment-fields.server.ts";
import { runStaffAction } from "../models/staff.server.ts";
import { dayField, defineStaffAction, reasonField, reasonMissing } from "./staff-action.server.ts";

const StageResult = z.object({ stage: z.number(), status: z.string() });
/**
 * If the database function returns `due` or `missing` instead of `stage`, the shipment has not changed. The team member
 * must confirm the action first.
 */
const DueResult = z.object({ due: AmountsDue });
const MissingResult = z.object({ missing: z.array(z.string()), due: AmountsDue.optional() });
const confirmation = z.literal("yes").optional();
const askToClose = (due: AmountDue[]) => `${formatAmountsDue(due)} Confirm that you want to close the shipment.`;
const confirmDueHelp = "required to close a shipment with an amount due";

export const move = defineStaffAction({
  name: "shipment move",
  label: "Shipment moved to the next stage",
  target: "shipment",
  schema: z.object({
    location: oneLine("")
      .max(...maxLength("location", " for the location"))
      .optional(),
    note: severalLines("")
      .max(...maxLength("note", " for the note"))
      .optional(),
    confirmMissing: confirmation,
    confirmDue: confirmation,
  }),
  async run({ supabase, options }, shipment_id, { confirmMissing, confirmDue, ...fields }) {
    const moved = await runStaffAction(supabase, "move_shipment", {
      shipment_id,
      ...fields,
      despite_missing: confirmMissing !== undefined,
      despite_due: confirmDue !== undefined,
      ...options,
    });
    if ("reason" in moved) return moved;
    const result = z.union([StageResult, MissingResult, DueResult]).parse(moved.result);
    if ("stage" in result) return { result };
    // If `reason` is empty, the page lists the missing documents and asks for confirmation. The page shows no error.
    return { reason: result.due ? askToClose(result.due) : "", status: 409 };
  },
  toast: ({ status }) => `Shipment moved to ${status}`,
  command: {
    description: "move a shipment to the next stage, even if documents are missing",
    options: {
      location: "the location that the client sees",
      note: "a note that the client sees",
      confirmDue: confirmDueHelp,
    },
    defaults: { confirmMissing: "yes" },
  },
});

const stageError = "Choose the stage.";

export const correct = defineStaffAction({
  name: "shipment correct",
  label: "Stage corrected",
  target: "shipment",
  schema: z.object({
    stage: z.coerce.number(stageError).int(stageError).min(1, stageError).max(10, stageError),
    reason: reasonField,
    confirmDue: confirmation,
  }),
  async run({ supabase, options }, shipment_id, { confirmDue, ...fields }) {
    const args = { shipment_id, ...fields, despite_due: confirmDue !== undefined, ...options };
    const corrected = await runStaffAction(supabase, "correct_stage", args);
    if ("reason" in corrected) return corrected;
    const result = z.union([StageResult, DueResult]).parse(corrected.result);
    if ("stage" in result) return { result };
    const reason = askToClose(result.due);
    return { reason, status: 409, fieldErrors: { stage: [reason] } };
  },
  toast: ({ status }) => `Stage corrected to ${status}`,
  command: {
    description: "correct the stage of a shipment, or reopen a closed shipment",
    options: { stage: "the correct stage", confirmDue: confirmDueHelp },
    labels: { stage: Object.fromEntries(STAGES.map((name, index) => [index + 1, name])) },
  },
});

export const saveNumbers = defineStaffAction({
  name: "shipment save-numbers",
  label: "AWB/BL and container numbers saved",
  target: "shipment",
  schema: ShipmentNumberFields.extend({ reason: reasonField.optional(), hasNumbers: z.string().optional() }),
  async run({ supabase, options }, shipment_id, { hasNumbers, reason, ...numbers }) {
    const { awb, containerNumbers: container_numbers } = numbers;
    // A form with `hasNumbers` has a field for every number. An empty field removes the stored number.
    const args = hasNumbers ? toNumberArguments(numbers) : { awb, container_numbers };
    const saved = await runStaffAction(supabase, "save_shipment_numbers", { shipment_id, ...args, reason, ...options });
    const isReasonMissing = "reason" in saved && saved.reason === reasonMissing;
    return isReasonMissing ? { ...saved, fieldErrors: { reason: [reasonMissing] } } : saved;
  },
  toast: () => "AWB/BL and container numbers saved",
  command: {
    description: 'save the AWB/BL and container numbers of a shipment; the empty text "" removes a number',
    options: { ...numberHelp, reason: "the reason; required to change or remove a number" },
  },
});

export const saveArrival = defineStaffAction({
  name: "shipment arrived",
  label: "Container arrival saved",
  target: "shipment",
  schema: z.object({
    storageLocation: z.enum(Object.keys(STORAGE_LOCATIONS) as StorageLocation[], "Choose the port or ICD."),
    day: dayField.pipe(
      z.string().refine((day) => day <= dayInEastAfrica(new Date()), "Enter today or an earlier date."),
    ),
    size: z.enum(["20", "40"], "Choose the container size."),
  }),
  run({ supabase, storageTariff, options }, shipment_id, { storageLocation, day, size }) {
    const free_storage_ends_on = getLastFreeDay(day, storageTariff());
    const arrival = { storage_location: storageLocation, day, size: Number(size), free_storage_ends_on };
    return runStaffAction(supabase, "save_arrival", { shipment_id, ...arrival, ...options });
  },
  toast: () => "Arrival saved",
  getAnchor: () => "#storage",
  command: {
    description: "save the arrival of a container, to calculate free storage",
    options: {
      storageLocation: "the port or ICD",
      day: "the arrival date, such as 2026-05-10",
      size: "the container size",
    },
    labels: { storageLocation: STORAGE_LOCATIONS, size: CONTAINER_SIZES },
  },
});

export const note = defineStaffAction({
  name: "shipment note",
  label: "Note sent",
  target: "shipment",
  schema: z.object({
    note: severalLines("Enter a note.")
      .min(1, "Enter a note.")
      .max(...maxLength("note")),
  }),
  run: ({ supabase, options: { idempotency_key, actor_name } }, shipment_id, { note }) =>
    runStaffAction(supabase, "send_note", { shipment_id, note, idempotency_key, actor_name }),
  toast: () => "Note sent",
  command: { description: "send the client a note", arguments: { note: "the text of the note" } },
});

export const extendRetention = defineStaffAction({
  name: "shipment extend-retention",
  label: "Retention period extended",
  target: "shipment",
  schema: z.object({ day: dayField }),
  run: ({ supabase, options: { actor_name } }, shipment_id, { day }) =>
    runStaffAction(supabase, "extend_shipment_retention", { shipment_id, day, actor_name }),
  toast: (_, { day }) => `Retention period extended to ${day}`,
  command: {
    description: "extend the retention period of a shipment, because of a dispute or a legal duty",
    arguments: { day: "the new last day of the retention period, such as 2040-12-31" },
  },
});
