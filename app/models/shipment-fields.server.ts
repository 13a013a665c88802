/**
 * The fields of a shipment for all forms, lists, CSV files, emails and the data export. supabase/schemas/shipments.sql
 * has the same fields in the table, in private.shipment_json and in the functions that change a shipment.
 */
import { z } from "zod";
import { sortableTime } from "../lib/dates.ts";
import { codeLine } from "../lib/forms/text-fields.ts";
import type { CsvColumn } from "../lib/http/csv.server.ts";
import { Arrival } from "./arrival.server.ts";
import { maxContainerCharacters, maxContainers, parseContainerNumbers } from "./container-number.ts";
import { FILE_SOURCES, type FileSource } from "./desk-labels.ts";
import { maxLength } from "./limits.ts";
import { STAGES, WAITING_ON, type WaitingOn } from "./shipment.ts";

/** A shipment in the result of a database function. Times are ISO 8601 in UTC. Days are YYYY-MM-DD. */
export const ShipmentRecord = z.object({
  id: z.string(),
  name: z.string(),
  awb: z.string().nullable(),
  container_numbers: z.array(z.string()),
  stage: z.number(),
  status: z.string(),
  waiting_on: z.enum(WAITING_ON),
  waiting_since: z.string(),
  changed_at: z.string(),
  created_at: z.string(),
  version: z.number(),
  retention_ends_on: z.string(),
  arrival: Arrival.nullable(),
  /** If the client has withdrawn the shipment, `reason` is null. */
  withdrawal: z.object({ at: z.string(), reason: z.string().nullable() }).nullable(),
});
export type ShipmentRecord = z.infer<typeof ShipmentRecord>;

export const DocumentRecord = z.object({
  id: z.string(),
  name: z.string(),
  uploaded: z.boolean(),
  verified: z.boolean(),
  rejected_at: z.string().nullable(),
  rejection_reason: z.string().nullable(),
  file_name: z.string().nullable(),
  file_size: z.number().nullable(),
  uploaded_at: z.string().nullable(),
  added_from: z.enum(Object.keys(FILE_SOURCES) as FileSource[]).nullable(),
  added_note: z.string().nullable(),
});

export const ChargeRecord = z.object({
  item: z.string(),
  amount: z.number(),
  currency: z.string(),
  due_on: z.string().nullable(),
  note: z.string().nullable(),
  paid_at: z.string().nullable(),
});

export const OpenItemsRecord = z.object({
  missing: z.array(z.string()).default([]),
  due: z.array(ChargeRecord.pick({ item: true, currency: true, amount: true })).default([]),
});

export const TrackingEventRecord = z.object({
  status: z.string(),
  location: z.string().nullable(),
  note: z.string().nullable(),
  created_at: z.string(),
});

/** The schema of content/data/stages.yaml. */
export const Stages = z
  .array(z.object({ name: z.string(), text: z.string().min(1), ours: z.string().optional() }))
  .refine(
    (all) => all.map(({ name }) => name).join() === STAGES.join(),
    "must have the names of the ten stages, in order",
  );
export type Stage = z.infer<typeof Stages>[number];

const containerNumbersField = z
  .string()
  .max(maxContainerCharacters, `Enter at most ${maxContainers} container numbers.`)
  .transform((text, context) => {
    const { numbers, problem } = parseContainerNumbers(text);
    const message = numbers.length > maxContainers ? `Enter at most ${maxContainers} container numbers.` : problem;
    if (message) context.addIssue(message);
    return numbers;
  })
  .optional();

/** Validates the AWB/BL and the container numbers of forms and staff commands. An empty field becomes undefined. */
export const ShipmentNumberFields = z.object({
  awb: codeLine("")
    .max(...maxLength("awb", " for the AWB/BL"))
    .optional(),
  containerNumbers: containerNumbersField,
});

/** Returns the arguments with which a database function sets all numbers. An empty value removes the stored number. */
export function toNumberArguments({ awb = "", containerNumbers = [] }: z.infer<typeof ShipmentNumberFields>) {
  return { awb, container_numbers: containerNumbers };
}

type ShipmentNumbers = Pick<ShipmentRecord, "awb" | "container_numbers">;

/** `none` is shown if the shipment does not have this number. `rows` is the height of the form field in lines. */
type NumberField = {
  label: string;
  hint: string;
  rows?: number;
  none?: string;
  format: (shipment: ShipmentNumbers) => string;
};

const numbers: Record<keyof typeof ShipmentNumberFields.shape, NumberField> = {
  awb: {
    label: "AWB/BL",
    hint: "Optional. The air waybill (AWB) or bill of lading (BL) number, printed on the carrier's document",
    none: "N/A",
    format: ({ awb }) => awb ?? "",
  },
  containerNumbers: {
    label: "Containers",
    hint: `Optional. Up to ${maxContainers} container numbers, such as MSKU9070323`,
    rows: 4,
    format: ({ container_numbers }) => container_numbers.join(", "),
  },
};
const numberNames = Object.keys(numbers) as (keyof typeof numbers)[];

export const numberHelp = Object.fromEntries(numberNames.map((name) => [name, numbers[name].hint]));

export function describeNumberFields(shipment?: ShipmentNumbers) {
  return numberNames.map((name) => {
    const { label, hint, rows, none, format } = numbers[name];
    return { name, label, hint, rows, none, stored: shipment && format(shipment) };
  });
}

export function listNumbers(shipment: ShipmentNumbers): [label: string, text: string][] {
  return numberNames.flatMap((name): [string, string][] => {
    const { label, none, format } = numbers[name];
    const text = format(shipment) || none;
    return text ? [[label, text]] : [];
  });
}

/** Returns text such as "BL-778421 MSKU9070323 and 2 more". Prefers a container number that matches `search`. */
export function joinNumbers({ awb, container_numbers }: ShipmentNumbers, search = ""): string {
  const code = search.toUpperCase().replace(/[^A-Z\d]/g, "");
  const container = container_numbers.find((number) => number.includes(code)) ?? container_numbers[0];
  const more = container_numbers.length - 1;
  return [awb, container, more > 0 && `and ${more} more`].filter(Boolean).join(" ");
}

/** Returns an air waybill number with its hyphen, such as 071-12345675. Returns other texts unchanged. */
function hyphenateAirWaybill(text: string): string {
  const [, prefix, serial, checkDigit] = /^(\d{3})(\d{7})(\d)$/.exec(text) ?? [];
  return serial && Number(serial) % 7 === Number(checkDigit) ? `${prefix}-${serial}${checkDigit}` : text;
}

type ShipmentTableRow = Pick<
  ShipmentRecord,
  "id" | "name" | keyof ShipmentNumbers | "stage" | "status" | "waiting_on" | "created_at" | "changed_at"
>;

export const withdrawalColumns: CsvColumn<ShipmentRecord>[] = [
  ["Withdrawn (EAT)", ({ withdrawal }) => (withdrawal ? sortableTime(withdrawal.at) : "")],
  ["Why withdrawn", ({ withdrawal }) => withdrawal?.reason ?? ""],
];

export function createShipmentColumns<Row extends ShipmentTableRow>(
  waitingOnLabels: Record<WaitingOn, string>,
  ownerColumns: CsvColumn<Row>[] = [],
): CsvColumn<Row>[] {
  return [
    ["Shipment number", ({ id }) => id],
    ["Name", ({ name }) => name],
    ...ownerColumns,
    ...numberNames.map((name): CsvColumn<Row> => {
      const { label, format } = numbers[name];
      return [label, (row) => hyphenateAirWaybill(format(row))];
    }),
    ["Stage", ({ stage }) => stage],
    ["Status", ({ status }) => status],
    ["Who acts next", ({ waiting_on }) => waitingOnLabels[waiting_on]],
    ["Opened (EAT)", ({ created_at }) => sortableTime(created_at)],
    ["Last change (EAT)", ({ changed_at }) => sortableTime(changed_at)],
  ];
}
