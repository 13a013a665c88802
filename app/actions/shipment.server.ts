import { z } from "zod";
import { dayInEastAfrica } from "../lib/dates.ts";
import { oneLine, severalLines } from "../lib/forms/text-fields.ts";
import type { UserError } from "../lib/http/user-error.server.ts";
import { calculateFreeStorageEnd, findArrivalError, STORAGE_LOCATIONS } from "../models/arrival.server.ts";
import { CARGO_KINDS, type CargoKind } from "../models/desk-labels.ts";
import { maxLength } from "../models/limits.ts";
import { describeOpenItems, type OpenItems, STAGES } from "../models/shipment.ts";
import {
  numberHelp,
  OpenItemsRecord,
  ShipmentNumberFields,
  toNumberArguments,
} from "../models/shipment-fields.server.ts";
import { runStaffAction } from "../models/staff.server.ts";
import {
  type ConfirmFields,
  confirmFields,
  dayField,
  defineStaffAction,
  reasonField,
  reasonMissing,
} from "./staff-action.server.ts";

/** Without `stage`, the shipment has not changed, because the team member must confirm the open items first. */
const StageResult = z.union([z.object({ stage: z.number(), status: z.string() }), OpenItemsRecord]);

function toStageOutcome(outcome: { result: unknown } | UserError) {
  if ("reason" in outcome) return outcome;
  const result = StageResult.parse(outcome.result);
  return "stage" in result ? { result } : askToConfirm(result);
}

function askToConfirm(items: OpenItems) {
  const question = describeOpenItems(items);
  return { reason: question, status: 409, fieldErrors: { confirmed: [question] } };
}

const toConfirmArguments = ({ confirm, confirmed }: ConfirmFields) => ({
  despite_missing: confirm !== undefined,
  despite_due: confirm !== undefined,
  confirmed,
});
const confirmHelp = "required if documents are missing or an amount is due";

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
    ...confirmFields,
  }),
  async run({ supabase, options }, shipment_id, { location, note, ...confirmation }) {
    const args = { shipment_id, location, note, ...toConfirmArguments(confirmation), ...options };
    return toStageOutcome(await runStaffAction(supabase, "move_shipment", args));
  },
  toast: ({ status }) => `Shipment moved to ${status}`,
  command: {
    description: "move a shipment to the next stage",
    options: {
      location: "the location that the client sees",
      note: "a note that the client sees",
      confirm: confirmHelp,
    },
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
    ...confirmFields,
  }),
  async run({ supabase, options }, shipment_id, { stage, reason, ...confirmation }) {
    const args = { shipment_id, stage, reason, ...toConfirmArguments(confirmation), ...options };
    return toStageOutcome(await runStaffAction(supabase, "correct_stage", args));
  },
  toast: ({ status }) => `Stage corrected to ${status}`,
  command: {
    description: "correct the stage of a shipment, or reopen a closed shipment",
    options: { stage: "the correct stage", confirm: confirmHelp },
    labels: { stage: Object.fromEntries(STAGES.map((name, index) => [index + 1, name])) },
  },
});

export const withdraw = defineStaffAction({
  name: "shipment withdraw",
  label: "Shipment withdrawn",
  target: "shipment",
  schema: z.object({ reason: reasonField, ...confirmFields }),
  async run({ supabase, options }, shipment_id, { reason, ...confirmation }) {
    const { despite_due, confirmed } = toConfirmArguments(confirmation);
    const args = { shipment_id, reason, despite_due, confirmed, ...options };
    const withdrawn = await runStaffAction(supabase, "withdraw_shipment", args);
    if ("reason" in withdrawn) return withdrawn;
    const items = OpenItemsRecord.parse(withdrawn.result);
    return items.due.length > 0 ? askToConfirm(items) : {};
  },
  toast: () => "Shipment withdrawn",
  command: {
    description: "withdraw a shipment that was created by mistake, at stages 1 to 3",
    options: {
      reason: "the reason, which the client sees",
      confirm: "required if an amount is due",
    },
  },
});

export const restore = defineStaffAction({
  name: "shipment restore",
  label: "Shipment restored",
  target: "shipment",
  schema: z.object({ reason: reasonField }),
  run: ({ supabase, options }, shipment_id, { reason }) =>
    runStaffAction(supabase, "restore_shipment", { shipment_id, reason, ...options }),
  toast: () => "Shipment restored",
  command: { description: "undo the withdrawal of a shipment" },
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
  label: "Arrival saved",
  target: "shipment",
  schema: z
    .object({
      storageLocation: z.enum(Object.keys(STORAGE_LOCATIONS), "Choose the place."),
      cargo: z.enum(Object.keys(CARGO_KINDS) as CargoKind[], "Choose the cargo."),
      day: dayField.pipe(
        z.string().refine((day) => day <= dayInEastAfrica(new Date()), "Enter today or an earlier date."),
      ),
    })
    .superRefine(({ storageLocation, cargo }, context) => {
      const message = findArrivalError(storageLocation, cargo);
      if (message) context.addIssue({ code: "custom", message, path: ["cargo"] });
    }),
  run({ supabase, options }, shipment_id, { storageLocation: storage_location, cargo, day }) {
    const free_storage_ends_on = calculateFreeStorageEnd(storage_location, cargo, day);
    const arrival = { storage_location, cargo, day, free_storage_ends_on };
    return runStaffAction(supabase, "save_arrival", { shipment_id, ...arrival, ...options });
  },
  toast: () => "Arrival saved",
  getAnchor: () => "#storage",
  command: {
    description: "save the arrival of the cargo, to calculate free storage",
    options: {
      storageLocation: "the place of arrival",
      cargo: "the kind of cargo",
      day: "the arrival date, such as 2026-05-10",
    },
    labels: { storageLocation: STORAGE_LOCATIONS, cargo: CARGO_KINDS },
  },
});

export const removeArrival = defineStaffAction({
  name: "shipment remove-arrival",
  label: "Arrival removed",
  target: "shipment",
  schema: z.object({ reason: reasonField }),
  run: ({ supabase, options }, shipment_id, { reason }) =>
    runStaffAction(supabase, "remove_arrival", { shipment_id, reason, ...options }),
  toast: () => "Arrival removed",
  getAnchor: () => "#storage",
  command: { description: "remove an arrival that was saved by mistake" },
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

export const handOver = defineStaffAction({
  name: "shipment hand-over",
  label: "Shipment handed over",
  target: "shipment",
  schema: z.object({
    handler: oneLine("Choose a team member.").min(1, "Choose a team member.").max(254, "Choose a team member."),
    note: severalLines("")
      .max(...maxLength("reason", " for the note"))
      .optional(),
    from: z.string().max(64).optional(),
  }),
  run: ({ supabase, options: { idempotency_key, actor_name } }, shipment_id, { handler, note, from }) => {
    const args = { shipment_id, handler, note, expected_handler: from, idempotency_key, actor_name };
    return runStaffAction(supabase, "change_shipment_handler", args);
  },
  toast: (name) => (name ? `Shipment handed over to ${name}` : "Nobody handles the shipment now"),
  command: {
    description: "hand a shipment over to a team member",
    arguments: { handler: 'the email address of the team member, or "nobody"' },
    options: { note: "a note for the team, which the client does not see" },
  },
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
