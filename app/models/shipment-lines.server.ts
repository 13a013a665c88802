/** Reads pasted lines with one shipment each, and opens shipments for a client. */
import { parse } from "csv-parse/sync";
import { z } from "zod";
import { normalizeLineBreaks, toOneLine } from "../lib/forms/text-fields.ts";
import type { UserError } from "../lib/http/user-error.server.ts";
import type { AppSupabaseClient } from "../lib/supabase/client.server.ts";
import { parseOrUserError } from "../lib/supabase/result.server.ts";
import { maxContainers } from "./container-number.ts";
import { ChangeShipmentFields } from "./shipment.server.ts";
import { ShipmentNumberFields, toNumberArguments } from "./shipment-fields.server.ts";
import { runStaffAction, type StaffActionOptions, type StaffActionResult } from "./staff.server.ts";

export const maxOpenedShipments = 100;
export const maxLinesCharacters = 40_000;

type Column = "name" | "awb" | "containers";
const columnOrder: readonly Column[] = ["name", "awb", "containers"];

const headings: Record<Column, readonly string[]> = {
  name: ["name", "shipment", "shipment name"],
  awb: ["awb", "bl", "b l", "awb bl", "awb b l", "bill of lading", "air waybill"],
  containers: ["container", "containers"],
};

const separators = [
  ["\t", "tabs"],
  [";", "semicolons"],
  [",", "commas"],
] as const;

export type ShipmentLine = {
  line: number;
  name: string;
  awb: string;
  containers: string;
  problems: string[];
  shipment?: NewShipment;
};
export type ShipmentLines = {
  lines: ShipmentLine[];
  headingLine?: number;
  separator?: string;
};

type NewShipment = { name: string; awb: string; container_numbers: string[] };

/** Returns the shipment in each line. Tabs, semicolons or commas separate the cells, whichever comes first here. */
export function readShipmentLines(text: string): ShipmentLines {
  const normalized = normalizeLineBreaks(text);
  const unquoted = normalized.replace(quotedCell, "");
  const [separator, words] = separators.find(([character]) => unquoted.includes(character)) ?? [","];
  const rows = parseRows(normalized, separator).filter(({ cells }) => cells.some((cell) => toOneLine(cell) !== ""));
  const columns = readHeadings(rows[0]?.cells ?? []);
  const headingLine = columns && rows.shift()?.line;
  const lines = rows.map(({ line, cells }) => ({ line, ...readShipment(cells, columns ?? columnOrder) }));
  return { lines, headingLine, separator: words };
}

const quotedCell = /(?<=^|[\t;,\n])"(?:[^"]|"")*"(?=[\t;,\n]|$)/g;

type CsvRecord = { record: string[]; info: { lines: number } };

function parseRows(text: string, delimiter: string): { line: number; cells: string[] }[] {
  const options = { delimiter, info: true, bom: true, relax_column_count: true, relax_quotes: true };
  let records: CsvRecord[];
  try {
    records = parse(text, options) as unknown as CsvRecord[];
  } catch {
    // The text has an opening quotation mark without a closing one, so quotation marks are part of the names.
    records = parse(text, { ...options, quote: null }) as unknown as CsvRecord[];
  }
  // A quoted cell can have line breaks. Each record begins after the last line of the previous record.
  return records.map(({ record }, index) => ({ line: (records[index - 1]?.info.lines ?? 0) + 1, cells: record }));
}

function readHeadings(cells: string[]): Column[] | undefined {
  const columns = cells.map((cell, index) => {
    const heading = normalizeHeading(cell);
    if (heading === "") return columnOrder[index] ?? "containers";
    return columnOrder.find((column) => headings[column].includes(heading));
  });
  const isHeading = cells.some((cell) => headings.name.includes(normalizeHeading(cell)));
  return isHeading && columns.every((column) => column !== undefined) ? columns : undefined;
}

/** Returns a heading such as "AWB/BL No." as "awb bl". */
function normalizeHeading(cell: string): string {
  const words = cell
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, " ")
    .trim();
  return words.replace(/ (no|nos|number|numbers)$/, "");
}

const LineFields = z.object({
  name: ChangeShipmentFields.shape.name,
  awb: ShipmentNumberFields.shape.awb,
  containers: z
    .array(ShipmentNumberFields.shape.containerNumbers)
    .transform((cells) => [...new Set(cells.flatMap((numbers) => numbers ?? []))])
    .refine((numbers) => numbers.length <= maxContainers, `Enter at most ${maxContainers} container numbers.`),
});

function readShipment(cells: string[], columns: readonly Column[]): Omit<ShipmentLine, "line"> {
  const list = (wanted: Column) =>
    cells.filter((cell, index) => (columns[index] ?? "containers") === wanted && toOneLine(cell) !== "");
  const [name = "", awb = "", containers] = [list("name")[0], list("awb")[0], list("containers")];
  const fields = LineFields.safeParse({ name, awb, containers });
  if (!fields.success) {
    const shown = { name: shorten(name), awb: shorten(awb), containers: shorten(containers.join(", ")) };
    return { ...shown, problems: fields.error.issues.map(({ message }) => message) };
  }
  const { containers: containerNumbers, ...texts } = fields.data;
  const shipment = { name: texts.name, ...toNumberArguments({ awb: texts.awb, containerNumbers }) };
  return { name: shipment.name, awb: shipment.awb, containers: containerNumbers.join(", "), problems: [], shipment };
}

function shorten(typed: string): string {
  const text = toOneLine(typed);
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}

/** `index` and `first_index` are positions in the list of new shipments, starting at 1. */
const RepeatedNumber = z.object({
  index: z.number(),
  number: z.string(),
  first_index: z.number().nullable(),
  shipment_id: z.string().nullable(),
  shipment_name: z.string().nullable(),
});
export type RepeatedNumber = z.infer<typeof RepeatedNumber>;

export async function findRepeatedNumbers(
  supabase: AppSupabaseClient,
  account_id: string,
  new_shipments: NewShipment[],
): Promise<RepeatedNumber[] | UserError> {
  const found = await runStaffAction(supabase, "find_repeated_numbers", { account_id, new_shipments });
  return "reason" in found ? found : parseOrUserError(z.array(RepeatedNumber), found.result);
}

const OpenedShipments = z.array(z.object({ id: z.string(), name: z.string() }));
export type OpenedShipment = z.infer<typeof OpenedShipments>[number];

const OpeningResult = z.union([OpenedShipments, z.object({ repeated: z.array(RepeatedNumber) })]);

/** Opens all shipments or none. Without `despiteRepeated`, opens none and returns the repeated numbers if there are any. */
export async function openShipments(
  supabase: AppSupabaseClient,
  account_id: string,
  new_shipments: NewShipment[],
  despiteRepeated: boolean,
  { idempotency_key, actor_name }: StaffActionOptions,
): Promise<StaffActionResult<z.infer<typeof OpeningResult>> | UserError> {
  const options = { despite_repeated: despiteRepeated, idempotency_key, actor_name };
  const opening = await runStaffAction(supabase, "open_shipments", { account_id, new_shipments, ...options });
  if ("reason" in opening) return opening;
  const result = parseOrUserError(OpeningResult, opening.result);
  return "reason" in result ? result : { result };
}
