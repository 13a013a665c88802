/** Only the service-role client can access the storage bucket. The database must first allow each upload. */
import { hash, randomBytes } from "node:crypto";
import { transliterate } from "transliteration";
import type { z } from "zod";
import type { Viewer } from "../lib/auth/viewer.server.ts";
import { shortDay, shortTime } from "../lib/dates.ts";
import { formatFileSize } from "../lib/forms/file-size.ts";
import { toOneLine } from "../lib/forms/text-fields.ts";
import { toUserError, type UserError, userErrorFromThrown } from "../lib/http/user-error.server.ts";
import { type AppSupabaseClient, serviceRoleClient } from "../lib/supabase/client.server.ts";
import { dataOrThrow, dataOrUserError, getResultError } from "../lib/supabase/result.server.ts";
import { fileSourcePhrases } from "./desk-labels.ts";
import { type DEFAULT_DOCUMENTS, documentStateLabels, getDocumentState } from "./document.ts";
import { openStoredFile, recordedFileColumns } from "./document-file.server.ts";
import {
  acceptedLabels,
  detectFileType,
  FILE_TYPES,
  type FileType,
  getExtension,
  listExtensions,
  withExtension,
} from "./file-type.server.ts";
import type { DocumentRecord } from "./shipment-fields.server.ts";
import { runStaffAction, type StaffActionOptions, type StaffActionResult } from "./staff.server.ts";

/** Returns a name such as `ftwr-1.pdf` for `../فاتورة "1".PDF`, with at most 80 characters before the extension. */
export function safeFileName(fileName: string): string {
  const extension = getExtension(fileName);
  const stem = extension ? fileName.trim().slice(0, -extension.length - 1) : fileName;
  const safe = documentSlug(transliterate(stem)).slice(0, 80).replace(/-+$/, "");
  return `${safe || "file"}${extension ? `.${extension}` : ""}`;
}

/** private.document_slug in supabase/schemas/documents.sql has the same rule. */
export function documentSlug(name: string): string {
  return name
    .replace(/[^A-Za-z0-9]+/g, "-")
    .replace(/^-+|-+$/g, "")
    .toLowerCase();
}

/** Returns a new storage path for each upload, so that no stored file is overwritten. */
export function objectPath(document: { user_id: string; shipment_id: string; name: string }, fileName: string): string {
  const attempt = randomBytes(6).toString("hex");
  return `${document.user_id}/${document.shipment_id}/${documentSlug(document.name)}-${attempt}-${safeFileName(fileName)}`;
}

/** Returns a file name of at most 200 visible characters, without folders, with an extension of the type. */
export function toDisplayFileName(fileName: string, type: FileType): string {
  const baseName = toOneLine((fileName.split(/[\\/]/).at(-1) ?? "").replace(/\p{Cs}/gu, ""));
  const clean = withExtension(baseName, type);
  const characters = [...clean];
  if (characters.length <= 200) return clean;
  const ending = `.${getExtension(clean)}`;
  return characters.slice(0, 200 - ending.length).join("") + ending;
}

export type UploadFailure = UserError & { title: "Upload failed" | "Failed to update document status" };

export async function uploadDocument(
  client: Viewer,
  document: { id: string; name: string; shipmentId: string },
  file: { name: string; content: Uint8Array },
): Promise<UploadFailure | null> {
  const { content } = file;
  const type = detectFileType(file.name, content);
  if ("reason" in type) return { ...type, title: "Upload failed" };

  const rejection = await checkUploadAllowed(client, document.id);
  if (rejection) return { ...rejection, title: "Upload failed" };

  const target = { user_id: client.id, shipment_id: document.shipmentId, name: document.name };
  const record = createFileRecord(target, file, type);
  const serviceRole = serviceRoleClient();
  const notStored = await storeFile(serviceRole, record, content);
  if (notStored) return { ...notStored, title: "Upload failed" };
  const failure = await recordFile(serviceRole, client.id, document.id, record).catch(userErrorFromThrown);
  return failure && { ...failure, title: "Failed to update document status" };
}

type FileRecord = { storage_path: string; sha256: string; file_name: string; file_size: number; media_type: string };

export function createFileRecord(
  document: Parameters<typeof objectPath>[0],
  { name, content }: { name: string; content: Uint8Array },
  type: FileType,
): FileRecord {
  const file_name = toDisplayFileName(name, type);
  return {
    storage_path: objectPath(document, file_name),
    sha256: hash("sha256", content),
    file_name,
    file_size: content.length,
    media_type: type.mediaType,
  };
}

export async function storeFile(
  serviceRole: AppSupabaseClient,
  { storage_path, media_type }: FileRecord,
  content: Uint8Array,
): Promise<UserError | null> {
  const options = { contentType: media_type, upsert: false };
  const { error } = await serviceRole.storage.from("documents").upload(storage_path, content, options);
  return error && toUserError(error);
}

/** If the response was lost, the row may refer to the file. Only a definite rejection deletes the file. */
export const isRejected = (error: { code?: string }) => String(error.code).startsWith("PT");

/** Records a stored file in the row of its document. Deletes the file if the database rejects the record. */
async function recordFile(
  serviceRole: AppSupabaseClient,
  clientId: string,
  id: string,
  file: FileRecord,
): Promise<UserError | null> {
  const owner = { document_id: id, account_id: clientId };
  const { data, error, status } = await serviceRole.rpc("record_upload", { ...owner, ...file });
  if (!error && data === true) return null;
  const isTaken = !error && data === false;
  if (isTaken || (error && isRejected(error))) await serviceRole.storage.from("documents").remove([file.storage_path]);
  if (error) return toUserError({ ...error, status });
  return isTaken
    ? {
        reason: "This document already has a file. To upload another file, remove the current file first.",
        status: 409,
      }
    : userErrorFromThrown(data);
}

/** Returns null if the upload is allowed. If `get` is false, the check counts towards the rate limit on changes. */
export async function checkUploadAllowed({ supabase }: Viewer, id: string, get = false): Promise<UserError | null> {
  const result = await supabase.rpc("require_upload_allowed", { document_id: id }, { get });
  return getResultError(result) ?? (result.data === true ? null : userErrorFromThrown(result.data));
}

export async function hasFile({ supabase }: Viewer, id: string, sha256: string): Promise<boolean> {
  const { data } = await supabase.from("documents").select("sha256").eq("id", id).eq("uploaded", true).maybeSingle();
  return data?.sha256 === sha256;
}

/** If the stored file cannot be deleted now, the next `npm run staff -- retention` deletes the file. */
export async function removeFile(client: Viewer, id: string, expectedVersion: number): Promise<UserError | null> {
  const args = { document_id: id, expected_version: expectedVersion };
  const path = dataOrUserError(await client.supabase.rpc("remove_file", args));
  if (typeof path !== "string") return path;
  const bucket = serviceRoleClient().storage.from("documents");
  await bucket.remove([path]).catch(() => undefined);
  return null;
}

/** Verifies a document and returns its name. Rejects a stored file that differs from the uploaded file. */
export async function verifyDocument(
  supabase: AppSupabaseClient,
  serviceRole: AppSupabaseClient,
  id: string,
  staffOptions: StaffActionOptions,
): Promise<StaffActionResult<string> | UserError> {
  const { data, error, status } = await supabase
    .from("documents")
    .select(`name, uploaded, ${recordedFileColumns}`)
    .eq("id", id)
    .retry(false)
    .maybeSingle();
  if (error) return toUserError({ ...error, status });
  if (!data) return { reason: "Document not found.", status: 404 };
  if (!data.uploaded) return { reason: `The ${data.name} has no file yet.`, status: 409 };
  const file = await openStoredFile(serviceRole, data);
  if ("reason" in file) return { ...file, reason: `The ${data.name} was not verified. ${file.reason}` };
  const { sha256, version: storage_version } = file;
  return runStaffAction(supabase, "verify_document", { document_id: id, sha256, storage_version, ...staffOptions });
}

export async function findDocumentId(serviceRole: AppSupabaseClient, shipmentId: string, name: string) {
  const query = serviceRole.from("documents").select("id, name").eq("shipment_id", shipmentId);
  const documents = dataOrThrow(await query.retry(false));
  const document = documents.find((document) => document.name.toLowerCase() === name.toLowerCase());
  const names = documents.map(({ name }) => name).join(", ");
  if (!document) throw new Error(`This shipment has no document "${name}". The documents are: ${names}.`);
  return document.id;
}

export const fileLimits = `Maximum 10 MB per file. Accepted types: ${acceptedLabels}.`;

/** The page shows the company's email address after the text `limits`. */
export const uploadHints = {
  limits: `${fileLimits} Email larger documents to`,
  // Phones offer files without an extension only if `accept` contains application/octet-stream.
  accept: [...listExtensions(FILE_TYPES), "application/octet-stream"].join(),
  drop: "You can drag a file onto its document's row.",
};

const documentExplanations: Partial<Record<string, string>> = {
  "Commercial Invoice": "The commercial invoice from the seller lists the goods, their prices and the total.",
  "Packing List": "The packing list names all packages with their contents, weights and sizes.",
  "Insurance Certificate": "The insurance certificate proves that your cargo is insured for the journey.",
  "Bill of Lading":
    "The bill of lading, or the air waybill (AWB) for air cargo, is the carrier's receipt for your cargo.",
} satisfies Record<(typeof DEFAULT_DOCUMENTS)[number], string>;

type DescribedDocument = z.infer<typeof DocumentRecord>;

/** Returns a text such as "Added by us on 12 May (from WhatsApp)", or "" for a file that the client uploaded. */
export function describeAddedFile(
  { added_from, added_note, uploaded_at }: Pick<DescribedDocument, "added_from" | "added_note" | "uploaded_at">,
  by = "us",
): string {
  if (!added_from || !uploaded_at) return "";
  const added = `Added by ${by} on ${shortDay(uploaded_at)} (${fileSourcePhrases[added_from]})`;
  return added_note ? `${added}. Note: ${added_note}` : added;
}

/** Returns `words` such as "New file needed: page 2 is missing" and `file` such as "invoice.pdf, 212 KB, 14:05 EAT". */
export function describeDocument(document: DescribedDocument, shipment: string, timeOf = shortTime) {
  const { id, name, rejected_at, rejection_reason, file_name, file_size, uploaded_at } = document;
  const state = getDocumentState(document);
  const words = rejected_at ? `New file needed: ${rejection_reason}` : documentStateLabels[state];
  const file = [file_name ?? name, file_size && formatFileSize(file_size), uploaded_at && timeOf(uploaded_at)];
  const added = describeAddedFile(document);
  return {
    id,
    name,
    state,
    words,
    about: documentExplanations[name],
    file: document.uploaded ? [file.filter(Boolean).join(", "), added].filter(Boolean).join(". ") : null,
    address: `/portal/${shipment}/documents/${id}`,
  };
}
