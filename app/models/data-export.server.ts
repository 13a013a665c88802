/** All data about a client as one ZIP file, with JSON, CSV and uploaded files. */
import { makeZip } from "client-zip";
import { z } from "zod";
import { ViewerRecord } from "../lib/auth/viewer.server.ts";
import { byteOrderMark, csvLine } from "../lib/http/csv.server.ts";
import { toUserError, userErrorData, userErrorFromThrown } from "../lib/http/user-error.server.ts";
import type { AppSupabaseClient } from "../lib/supabase/client.server.ts";
import { readStoredFile } from "./document-file.server.ts";
import { waitingOnLabels } from "./labels.ts";
import { shortId } from "./shipment.ts";
import { createShipmentColumns, ShipmentRecord } from "./shipment-fields.server.ts";

const nullableText = z.string().nullable();

const ExportedDocument = z.looseObject({
  id: z.string(),
  name: z.string(),
  uploaded: z.boolean(),
  verified: z.boolean(),
  file_name: nullableText,
  file_size: z.number().nullable(),
  uploaded_at: nullableText,
  sha256: nullableText,
  storage_path: nullableText,
  storage_version: nullableText,
  rejected_at: nullableText,
  rejection_reason: nullableText,
});
type ExportedDocument = z.infer<typeof ExportedDocument>;

const ExportedAuditEntry = z.looseObject({
  created_at: z.string(),
  action: z.string(),
  before: z.unknown(),
  after: z.unknown(),
  reason: nullableText,
});

const ExportedShipment = ShipmentRecord.loose().extend({
  documents: z.array(ExportedDocument),
  charges: z.array(
    z.looseObject({
      item: z.string(),
      amount: z.number(),
      currency: z.string(),
      due_on: nullableText,
      note: nullableText,
      paid_at: nullableText,
    }),
  ),
  tracking_events: z.array(
    z.looseObject({
      created_at: z.string(),
      stage: z.number(),
      status: z.string(),
      location: nullableText,
      note: nullableText,
    }),
  ),
  share_links: z.array(z.looseObject({ created_at: z.string(), expires_at: z.string() })),
  audit_entries: z.array(ExportedAuditEntry),
});
type ExportedShipment = z.infer<typeof ExportedShipment>;

const ExportPageSchema = z.object({
  viewer: ViewerRecord,
  account: z.record(z.string(), z.unknown()).nullable(),
  shipments: z.array(ExportedShipment).nullable(),
});

type ExportPage = z.infer<typeof ExportPageSchema>;

const shipmentColumns = createShipmentColumns<ExportedShipment>(waitingOnLabels);

/** One CSV file for each table. `rows` returns the rows of one shipment, with times in ISO 8601 and UTC. */
const exportTables: { name: string; head: string[]; rows: (shipment: ExportedShipment) => unknown[][] }[] = [
  {
    name: "shipments.csv",
    head: shipmentColumns.map(([head]) => head),
    rows: (shipment) => [shipmentColumns.map(([, format]) => format(shipment))],
  },
  {
    name: "documents.csv",
    head: [
      "Shipment",
      "Document",
      "Uploaded",
      "Verified",
      "File",
      "Bytes",
      "At",
      "SHA-256",
      "Sent back",
      "Reason",
      "In this archive",
    ],
    rows: (one) =>
      one.documents.map((document) => [
        one.id,
        document.name,
        document.uploaded ? "yes" : "no",
        document.verified ? "yes" : "no",
        document.file_name,
        document.file_size,
        document.uploaded_at,
        document.sha256,
        document.rejected_at,
        document.rejection_reason,
        document.uploaded ? getArchivePath(one, document) : "",
      ]),
  },
  {
    name: "history.csv",
    head: ["Shipment", "At", "Stage", "Status", "Location", "Note"],
    rows: (one) =>
      one.tracking_events.map(({ created_at: at, stage, status, location, note }) => [
        one.id,
        at,
        stage,
        status,
        location,
        note,
      ]),
  },
  {
    name: "charges.csv",
    head: ["Shipment", "Item", "Amount", "Currency", "Due", "Note", "Paid"],
    rows: (one) =>
      one.charges.map(({ item, amount, currency, due_on, note, paid_at }) => [
        one.id,
        item,
        amount,
        currency,
        due_on,
        note,
        paid_at,
      ]),
  },
  {
    name: "links.csv",
    head: ["Shipment", "Made", "Ends"],
    rows: (one) => one.share_links.map(({ created_at, expires_at }) => [one.id, created_at, expires_at]),
  },
  {
    name: "log.csv",
    head: ["Shipment", "At", "Act", "Before", "After", "Reason"],
    rows: (one) =>
      one.audit_entries.map(({ created_at: at, action: act, before, after, reason }) => [
        one.id,
        at,
        act,
        before,
        after,
        reason,
      ]),
  },
];

/** Yields one file for the single values of the account, and one for each list. */
function* createAccountTables(account: Record<string, unknown>): Generator<{ name: string; input: string }> {
  const lists = Object.entries(account).filter((one): one is [string, Record<string, unknown>[]] =>
    Array.isArray(one[1]),
  );
  const values = Object.entries(account).filter(([, value]) => !Array.isArray(value));
  yield { name: "account.csv", input: byteOrderMark + csvLine(["What", "Value"]) + values.map(formatRow).join("") };
  for (const [name, rows] of lists) {
    const head = Object.keys(rows[0] ?? {});
    const lines = rows.map((row) => formatRow(head.map((key) => row[key])));
    if (lines.length > 0)
      yield { name: `account-${name.replaceAll("_", "-")}.csv`, input: byteOrderMark + csvLine(head) + lines.join("") };
  }
}

function formatRow(cells: unknown[]): string {
  return csvLine(cells.map((cell) => (typeof cell === "object" && cell ? JSON.stringify(cell) : String(cell ?? ""))));
}

function getArchivePath(shipment: ExportedShipment, document: ExportedDocument): string {
  const clean = (document.file_name ?? document.name).replace(/[\\/:*?"<>|]|^\.+/g, "_");
  // File systems allow names of up to 255 bytes.
  let name = clean;
  while (Buffer.byteLength(name) > 180) name = [...name].slice(1).join("");
  return `files/${shortId(shipment.id)}/${document.name}, ${name}`;
}

/** Yields pages of 50 shipments, the first one with the account. Throws userErrorData. */
async function* fetchExportPages(supabase: AppSupabaseClient): AsyncGenerator<ExportPage, undefined> {
  let after = {};
  for (;;) {
    const { data, error, status } = await supabase.rpc("data_export", after, { get: true }).retry(false);
    if (error) throw userErrorData(toUserError({ ...error, status }));
    const page = ExportPageSchema.parse(data);
    // If the session ends, the archive must not look complete.
    if (!page.shipments) throw userErrorData(userErrorFromThrown(null));
    yield page;
    const last = page.shipments.at(-1);
    if (!last) return undefined;
    after = { before: last.created_at, before_id: last.id };
  }
}

/**
 * The archive is created while it is sent, with one file in memory. `left-out.txt` names files that are missing or changed.
 * `supabase` acts as the client, and `serviceRole` reads the uploaded files. Throws userErrorData if the first page fails.
 */
export async function createDataExport(
  supabase: AppSupabaseClient,
  serviceRole: AppSupabaseClient,
): Promise<ReadableStream<Uint8Array>> {
  const all = fetchExportPages(supabase);
  const first = await all.next();
  return first.done ? makeZip([]) : makeZip(createArchiveEntries(first.value, all, serviceRole));
}

type ExportedFile = Pick<ExportedDocument, "storage_path" | "storage_version" | "sha256"> & {
  name: string;
  at: string;
};

async function* createArchiveEntries(
  first: ExportPage,
  more: AsyncGenerator<ExportPage>,
  serviceRole: AppSupabaseClient,
) {
  const { account } = first;
  yield { name: "account.json", input: JSON.stringify(account, null, 2) };
  yield* createAccountTables(account ?? {});
  const files: ExportedFile[] = [];
  const lines = exportTables.map(({ head }) => [byteOrderMark + csvLine(head)]);
  const note = (shipment: ExportedShipment) => {
    for (const [index, { rows }] of exportTables.entries()) lines[index]?.push(...rows(shipment).map(formatRow));
    for (const document of shipment.documents.filter(({ uploaded }) => uploaded)) {
      const { storage_path, storage_version, sha256, uploaded_at } = document;
      const at = uploaded_at ?? shipment.created_at;
      files.push({ storage_path, storage_version, sha256, name: getArchivePath(shipment, document), at });
    }
  };
  yield { name: "shipments.json", input: streamShipmentsJson(first, more, note) };
  for (const [index, { name }] of exportTables.entries()) yield { name, input: (lines[index] ?? []).join("") };
  const leftOut: string[] = [];
  for (const { name, at, ...counted } of files) {
    const file = await readStoredFile(serviceRole, counted);
    if ("reason" in file) leftOut.push(`${name}: ${file.reason}`);
    else yield { name, input: file.content, lastModified: new Date(at) };
  }
  if (leftOut.length > 0) yield { name: "left-out.txt", input: `${leftOut.join("\n")}\n` };
}

/** Omits the storage paths, which mean nothing to a reader. */
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
