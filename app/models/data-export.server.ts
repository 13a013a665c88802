/** The data export is a ZIP file with all data about a client: JSON and CSV files, and the uploaded files. */
import { makeZip } from "client-zip";
import { z } from "zod";
import { ViewerRecord } from "../lib/auth/viewer.server.ts";
import { sortableTime } from "../lib/dates.ts";
import { byteOrderMark, csvLine } from "../lib/http/csv.server.ts";
import { toUserError, userErrorData, userErrorFromThrown } from "../lib/http/user-error.server.ts";
import type { AppSupabaseClient } from "../lib/supabase/client.server.ts";
import { describeChange } from "./audit-log.server.ts";
import { FILE_SOURCES } from "./desk-labels.ts";
import { openStoredFile } from "./document-file.server.ts";
import { getPaymentName, shortId, waitingOnLabels } from "./shipment.ts";
import { createSubject, ShipmentUpdate } from "./shipment-email.ts";
import {
  ChargeRecord,
  createShipmentColumns,
  DocumentRecord,
  ShipmentRecord,
  TrackingEventRecord,
  withdrawalColumns,
} from "./shipment-fields.server.ts";

const nullableText = z.string().nullable();

const storedFile = { sha256: nullableText, storage_path: nullableText, storage_version: nullableText };
const ExportedDocument = DocumentRecord.loose().extend(storedFile);
type ExportedDocument = z.infer<typeof ExportedDocument>;

const ExportedAuditEntry = z.looseObject({
  created_at: z.string(),
  action: z.string(),
  before: z.record(z.string(), z.unknown()).nullable(),
  after: z.record(z.string(), z.unknown()).nullable(),
  reason: nullableText,
});
type ExportedAuditEntry = z.infer<typeof ExportedAuditEntry>;

const ExportedShipment = ShipmentRecord.loose().extend({
  documents: z.array(ExportedDocument),
  charges: z.array(ChargeRecord.loose()),
  tracking_events: z.array(TrackingEventRecord.loose().extend({ stage: z.number() })),
  share_links: z.array(z.looseObject({ created_at: z.string(), expires_at: z.string() })),
  audit_entries: z.array(ExportedAuditEntry),
});
type ExportedShipment = z.infer<typeof ExportedShipment>;

const ExportPageSchema = z.object({
  viewer: ViewerRecord,
  account: z.looseObject({ audit_entries: z.array(ExportedAuditEntry) }).nullable(),
  shipments: z.array(ExportedShipment).nullable(),
});

type ExportPage = z.infer<typeof ExportPageSchema>;

type ExportColumn<Row> = [head: string, getCell: (row: Row, shipment: ExportedShipment) => unknown];

function createTable<Row>(name: string, getRows: (shipment: ExportedShipment) => Row[], columns: ExportColumn<Row>[]) {
  const formatCells = (row: Row, shipment: ExportedShipment) => columns.map(([, getCell]) => getCell(row, shipment));
  return {
    name,
    head: createHead(columns),
    formatRows: (shipment: ExportedShipment) => getRows(shipment).map((row) => formatRow(formatCells(row, shipment))),
  };
}

const createHead = (columns: readonly (readonly [head: string, getCell: unknown])[]) =>
  byteOrderMark + csvLine(columns.map(([head]) => head));

const shipmentColumn: ExportColumn<unknown> = ["Shipment number", (_, { id }) => id];

const toTime = (iso: string | null) => iso && sortableTime(iso);
type AccountRow = Record<string, unknown>;
type AccountColumn<Row> = [head: string, getCell: (row: Row) => unknown];

type AuditLabels = Readonly<Record<string, string>>;

const createAuditColumns = (auditLabels: AuditLabels): AccountColumn<ExportedAuditEntry>[] => [
  ["Time (EAT)", ({ created_at }) => sortableTime(created_at)],
  ["Action", ({ action }) => auditLabels[action] ?? action],
  ["Change", ({ before, after }) => describeChange(before, after)],
  ["Reason", ({ reason }) => reason],
];

const createShipmentTables = (auditLabels: AuditLabels) => [
  createTable("shipments.csv", (shipment) => [shipment], createShipmentColumns(waitingOnLabels, withdrawalColumns)),
  createTable("documents.csv", ({ documents }) => documents, [
    shipmentColumn,
    ["Document", ({ name }) => name],
    ["Uploaded", ({ uploaded }) => (uploaded ? "yes" : "no")],
    ["Verified", ({ verified }) => (verified ? "yes" : "no")],
    ["File name", ({ file_name }) => file_name],
    ["Size (bytes)", ({ file_size }) => file_size],
    ["Uploaded at (EAT)", ({ uploaded_at }) => toTime(uploaded_at)],
    ["SHA-256", ({ sha256 }) => sha256],
    ["Added by", ({ uploaded, added_from }) => (uploaded ? (added_from ? "us" : "you") : "")],
    ["How we got the file", ({ added_from }) => added_from && FILE_SOURCES[added_from]],
    ["Note from us", ({ added_note }) => added_note],
    ["New file requested at (EAT)", ({ rejected_at }) => toTime(rejected_at)],
    ["Why a new file is needed", ({ rejection_reason }) => rejection_reason],
    ["File in this archive", (document, shipment) => (document.uploaded ? getArchivePath(shipment, document) : "")],
  ]),
  createTable("history.csv", ({ tracking_events }) => tracking_events, [
    shipmentColumn,
    ["Time (EAT)", ({ created_at }) => toTime(created_at)],
    ["Stage", ({ stage }) => stage],
    ["Status", ({ status }) => status],
    ["Location", ({ location }) => location],
    ["Note", ({ note }) => note],
  ]),
  createTable("charges.csv", ({ charges }) => charges, [
    shipmentColumn,
    ["Payment item", ({ item }) => getPaymentName(item)],
    ["Amount", ({ amount }) => amount],
    ["Currency", ({ currency }) => currency],
    ["Due on", ({ due_on }) => due_on],
    ["Note", ({ note }) => note],
    ["Paid at (EAT)", ({ paid_at }) => toTime(paid_at)],
  ]),
  createTable("links.csv", ({ share_links }) => share_links, [
    shipmentColumn,
    ["Created at (EAT)", ({ created_at }) => toTime(created_at)],
    ["Valid until (EAT)", ({ expires_at }) => toTime(expires_at)],
  ]),
  createTable("log.csv", ({ audit_entries }) => audit_entries, [shipmentColumn, ...createAuditColumns(auditLabels)]),
];

function* createAccountTables(account: AccountRow, auditLabels: AuditLabels) {
  const lists = Object.entries(account).filter((entry): entry is [string, AccountRow[]] => Array.isArray(entry[1]));
  const values = Object.entries(account).filter(([, value]) => !Array.isArray(value));
  const table = values.map(([name, value]) => formatRow([toHeading(name), toWords(name, value)]));
  yield { name: "account.csv", input: byteOrderMark + csvLine(["Field", "Value"]) + table.join("") };
  for (const [name, storedRows] of lists) {
    if (storedRows.length === 0) continue;
    const rows = name === "shipment_emails" ? storedRows.map(withNews) : storedRows;
    const createColumn = (key: string) => [toHeading(key), (row: AccountRow) => toWords(key, row[key])] as const;
    const columns: readonly Readonly<AccountColumn<never>>[] =
      name === "audit_entries" ? createAuditColumns(auditLabels) : Object.keys(rows[0] ?? {}).map(createColumn);
    const lines = rows.map((row) => formatRow(columns.map(([, getCell]) => getCell(row as never))));
    yield { name: `account-${name.replaceAll("_", "-")}.csv`, input: createHead(columns) + lines.join("") };
  }
}

/** Replaces `kind` and `detail` of a shipment email with `news`, the subject of the email. */
function withNews({ kind, detail, shipment_id, ...row }: AccountRow): AccountRow {
  const update = ShipmentUpdate.parse({ kind, detail, reason: null, note: null, previous_stage: null, opened: null });
  return { shipment_number: shipment_id, news: createSubject(update), ...row };
}

const toHeading = (name: string) =>
  `${name.charAt(0).toUpperCase()}${name.slice(1)}`
    .replace(/_id$/, "_ID")
    .replace(/_at$/, "_at_(EAT)")
    .replaceAll("_", " ");

function toWords(name: string, value: unknown): unknown {
  if (typeof value === "boolean") return value ? "yes" : "no";
  return name.endsWith("_at") && typeof value === "string" ? sortableTime(value) : value;
}

function formatRow(cells: unknown[]): string {
  return csvLine(
    cells.map((cell) => {
      if (typeof cell === "number") return cell;
      return typeof cell === "object" && cell ? JSON.stringify(cell) : String(cell ?? "");
    }),
  );
}

function getArchivePath(shipment: ExportedShipment, document: ExportedDocument): string {
  const clean = (document.file_name ?? document.name).replace(/[\\/:*?"<>|]|^\.+/g, "_");
  // File systems allow names of up to 255 bytes, and the document's name needs some of these bytes.
  let name = clean;
  while (Buffer.byteLength(name) > 180) name = [...name].slice(1).join("");
  return `files/${shortId(shipment.id)}/${document.name}, ${name}`;
}

/** Yields pages of 50 shipments. Only the first page has the account. Throws an error response if a call fails. */
async function* fetchExportPages(supabase: AppSupabaseClient): AsyncGenerator<ExportPage, undefined> {
  let after = {};
  for (;;) {
    const { data, error, status } = await supabase.rpc("data_export", after, { get: true }).retry(false);
    if (error) throw userErrorData(toUserError({ ...error, status }));
    const page = ExportPageSchema.parse(data);
    // Without `shipments`, the session has ended. The error prevents an incomplete archive that looks complete.
    if (!page.shipments) throw userErrorData(userErrorFromThrown(null));
    yield page;
    const last = page.shipments.at(-1);
    if (!last) return undefined;
    after = { before: last.created_at, before_id: last.id };
  }
}

/** Returns the ZIP archive. Throws an error response if the first call fails. */
export async function createDataExport(
  supabase: AppSupabaseClient,
  serviceRole: AppSupabaseClient,
  auditLabels: AuditLabels,
): Promise<ReadableStream<Uint8Array>> {
  const all = fetchExportPages(supabase);
  const first = await all.next();
  return first.done ? makeZip([]) : makeZip(createArchiveEntries(first.value, all, serviceRole, auditLabels));
}

async function* createArchiveEntries(
  first: ExportPage,
  more: AsyncGenerator<ExportPage>,
  serviceRole: AppSupabaseClient,
  auditLabels: AuditLabels,
) {
  const { account } = first;
  const tables = createShipmentTables(auditLabels);
  yield { name: "account.json", input: JSON.stringify(account, null, 2) };
  yield* createAccountTables(account ?? {}, auditLabels);
  const files: { document: ExportedDocument; name: string; at: string }[] = [];
  const lines = tables.map(({ head }) => [head]);
  const note = (shipment: ExportedShipment) => {
    for (const [index, { formatRows }] of tables.entries()) lines[index]?.push(...formatRows(shipment));
    for (const document of shipment.documents.filter(({ uploaded }) => uploaded)) {
      const at = document.uploaded_at ?? shipment.created_at;
      files.push({ document, name: getArchivePath(shipment, document), at });
    }
  };
  yield { name: "shipments.json", input: streamShipmentsJson(first, more, note) };
  for (const [index, { name }] of tables.entries()) yield { name, input: (lines[index] ?? []).join("") };
  const leftOut: string[] = [];
  for (const { document, name, at } of files) {
    const file = await openStoredFile(serviceRole, document);
    if ("reason" in file) leftOut.push(`${name}: ${file.reason}`);
    else yield { name, input: file.content, lastModified: new Date(at) };
  }
  if (leftOut.length > 0) yield { name: "left-out.txt", input: `${leftOut.join("\n")}\n` };
}

/** Yields the text of shipments.json without storage paths. Calls `note` for each shipment. */
async function* streamShipmentsJson(
  first: ExportPage,
  more: AsyncGenerator<ExportPage>,
  note: (shipment: ExportedShipment) => void,
) {
  let before = "[\n";
  for (let page: ExportPage | undefined = first; page; page = (await more.next()).value) {
    for (const shipment of page.shipments ?? []) {
      note(shipment);
      const documents = shipment.documents.map(({ storage_path: _, storage_version: __, ...document }) => document);
      yield `${before}${JSON.stringify({ ...shipment, documents }, null, 2)}`;
      before = ",\n";
    }
  }
  yield before === "[\n" ? "[]\n" : "\n]\n";
}
