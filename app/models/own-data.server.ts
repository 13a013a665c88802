/** Everything that is kept about a client, as one .zip for them to take away: JSON, CSV, and their files. */
import { makeZip } from "client-zip";
import { z } from "zod";
import { csvLine, csvMark } from "../lib/csv.server.ts";
import { refusalOf, refusalOfThrown, thrown } from "../lib/refusal.server.ts";
import { Caller } from "../lib/session.server.ts";
import type { Backend } from "../lib/supabase.server.ts";
import { openFile } from "./document-file.server.ts";
import { shortId } from "./shipment.ts";

const text = z.string().nullable();

const Document = z.looseObject({
  id: z.string(),
  name: z.string(),
  uploaded: z.boolean(),
  verified: z.boolean(),
  file_name: text,
  file_size: z.number().nullable(),
  uploaded_at: text,
  sha256: text,
  storage_path: text,
  storage_version: text,
  sent_back_at: text,
  sent_back_reason: text,
});
type Document = z.infer<typeof Document>;

const Entry = z.looseObject({ at: z.string(), act: z.string(), before: z.unknown(), after: z.unknown(), reason: text });

const Shipment = z.looseObject({
  id: z.string(),
  name: z.string(),
  awb: text,
  stage: z.number(),
  status: z.string(),
  created_at: z.string(),
  changed_at: z.string(),
  documents: z.array(Document),
  charges: z.array(
    z.looseObject({
      item: z.string(),
      amount: z.number(),
      currency: z.string(),
      due_on: text,
      note: text,
      paid_at: text,
    }),
  ),
  history: z.array(z.looseObject({ at: z.string(), status: z.string(), location: text, note: text })),
  links: z.array(z.looseObject({ made_at: z.string(), expires_at: z.string() })),
  log: z.array(Entry),
});
type Shipment = z.infer<typeof Shipment>;

const Data = z.object({
  caller: Caller,
  account: z.record(z.string(), z.unknown()).nullable(),
  shipments: z.array(Shipment).nullable(),
});

type Page = z.infer<typeof Data>;

/** The tables: a file each, with the columns and the rows of one shipment. Times are ISO 8601, UTC. */
const tables: { name: string; head: string[]; rows: (shipment: Shipment) => unknown[][] }[] = [
  {
    name: "shipments.csv",
    head: ["Shipment", "Name", "AWB/BL", "Stage", "Status", "Opened", "Last change"],
    rows: (one) => [[one.id, one.name, one.awb, one.stage, one.status, one.created_at, one.changed_at]],
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
        document.sent_back_at,
        document.sent_back_reason,
        document.uploaded ? pathOf(one, document) : "",
      ]),
  },
  {
    name: "history.csv",
    head: ["Shipment", "At", "Status", "Location", "Note"],
    rows: (one) => one.history.map(({ at, status, location, note }) => [one.id, at, status, location, note]),
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
    rows: (one) => one.links.map(({ made_at, expires_at }) => [one.id, made_at, expires_at]),
  },
  {
    name: "log.csv",
    head: ["Shipment", "At", "Act", "Before", "After", "Reason"],
    rows: (one) => one.log.map(({ at, act, before, after, reason }) => [one.id, at, act, before, after, reason]),
  },
];

/** What is kept about the account as tables: what has one value, and a file for each list. */
function* accountTables(account: Record<string, unknown>): Generator<{ name: string; input: string }> {
  const lists = Object.entries(account).filter((one): one is [string, Record<string, unknown>[]] =>
    Array.isArray(one[1]),
  );
  const values = Object.entries(account).filter(([, value]) => !Array.isArray(value));
  yield { name: "account.csv", input: csvMark + csvLine(["What", "Value"]) + values.map(lineOf).join("") };
  for (const [name, rows] of lists) {
    const head = Object.keys(rows[0] ?? {});
    const lines = rows.map((row) => lineOf(head.map((key) => row[key])));
    if (lines.length > 0)
      yield { name: `account-${name.replaceAll("_", "-")}.csv`, input: csvMark + csvLine(head) + lines.join("") };
  }
}

/** A line of cells; what has parts is JSON. */
function lineOf(cells: unknown[]): string {
  return csvLine(cells.map((cell) => (typeof cell === "object" && cell ? JSON.stringify(cell) : String(cell ?? ""))));
}

/** Where the file of a document lies in the archive: its shipment's number, its own, and its name. */
function pathOf(shipment: Shipment, document: Document): string {
  const clean = (document.file_name ?? document.name).replace(/[\\/:*?"<>|]|^\.+/g, "_");
  // File systems take names of 255 bytes.
  let name = clean;
  while (Buffer.byteLength(name) > 180) name = [...name].slice(1).join("");
  return `files/${shortId(shipment.id)}/${document.name}, ${name}`;
}

/** The calls in turn: the account with the first, 50 shipments each. Throws a refusal. */
async function* pages(person: Backend): AsyncGenerator<Page, undefined> {
  let after = {};
  for (;;) {
    const { data, error, status } = await person.rpc("own_data", after, { get: true }).retry(false);
    if (error) throw thrown(refusalOf({ ...error, status }));
    const page = Data.parse(data);
    // The session ended meanwhile: what is cut off must not look whole.
    if (!page.shipments) throw thrown(refusalOfThrown(null));
    yield page;
    const last = page.shipments.at(-1);
    if (!last) return undefined;
    after = { before: last.created_at, before_id: last.id };
  }
}

/**
 * The archive, made while it is sent: the shipments are asked for once, their tables are in memory, and one file at a time.
 * `person` reads what is the caller's, `company` the bytes of their files. A file that is missing or is not the one is left
 * out, and named in `left-out.txt`. The first page is asked for before the answer begins: throws a refusal when it is none.
 */
export async function dataArchive(person: Backend, company: Backend): Promise<ReadableStream<Uint8Array>> {
  const all = pages(person);
  const first = await all.next();
  return first.done ? makeZip([]) : makeZip(entries(first.value, all, company));
}

/** A file to pack: its name in the archive, when it came, and what it is checked by. */
type Packed = Pick<Document, "storage_path" | "storage_version" | "sha256"> & { name: string; at: string };

async function* entries(first: Page, more: AsyncGenerator<Page>, company: Backend) {
  const { account } = first;
  yield { name: "account.json", input: JSON.stringify(account, null, 2) };
  yield* accountTables(account ?? {});
  const files: Packed[] = [];
  const lines = tables.map(({ head }) => [csvMark + csvLine(head)]);
  const note = (shipment: Shipment) => {
    for (const [index, { rows }] of tables.entries()) lines[index]?.push(...rows(shipment).map(lineOf));
    for (const document of shipment.documents.filter(({ uploaded }) => uploaded)) {
      const { storage_path, storage_version, sha256, uploaded_at } = document;
      const at = uploaded_at ?? shipment.created_at;
      files.push({ storage_path, storage_version, sha256, name: pathOf(shipment, document), at });
    }
  };
  yield { name: "shipments.json", input: shipmentsJson(first, more, note) };
  for (const [index, { name }] of tables.entries()) yield { name, input: (lines[index] ?? []).join("") };
  const leftOut: string[] = [];
  for (const { name, at, ...counted } of files) {
    const file = await openFile(company, counted);
    if ("reason" in file) leftOut.push(`${name}: ${file.reason}`);
    else yield { name, input: file.content, lastModified: new Date(at) };
  }
  if (leftOut.length > 0) yield { name: "left-out.txt", input: `${leftOut.join("\n")}\n` };
}

/** All shipments as one JSON array, without where files are stored: that tells a person nothing. */
async function* shipmentsJson(first: Page, more: AsyncGenerator<Page>, note: (shipment: Shipment) => void) {
  let before = "[\n";
  for (let page: Page | undefined = first; page; page = (await more.next()).value) {
    for (const shipment of page.shipments ?? []) {
      note(shipment);
      const documents = shipment.documents.map(({ storage_path: _, storage_version: __, ...document }) => document);
      yield `${before}${JSON.stringify({ ...shipment, documents }, null, 2)}`;
      before = ",\n";
    }
  }
  yield before === "[\n" ? "[]\n" : "\n]\n";
}
