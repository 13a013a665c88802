/** Documents, stored as the signed-in client; staff acts take the company's handle. */
import { fileTypeFromBuffer } from "file-type";
import { transliterate } from "transliteration";
import { type Refusal, refusalOf } from "../lib/refusal.server.ts";
import type { Client } from "../lib/session.server.ts";
import type { Backend } from "../lib/supabase.server.ts";
import { extensionOf, FILE_TYPES, fileProblem } from "./document.ts";

/**
 * A file name that is safe in a path: letters of any script become a-z, everything else a dash, at most 80 characters.
 * `../فاتورة "1".PDF` becomes `ftwr-1.pdf`. Without a letter or digit it is `file`.
 */
export function safeFileName(fileName: string): string {
  const extension = extensionOf(fileName);
  const stem = extension ? fileName.trim().slice(0, -extension.length - 1) : fileName;
  const safe = transliterate(stem)
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-+|-+$/g, "")
    .slice(0, 80)
    .replace(/-+$/, "");
  return `${safe || "file"}${extension ? `.${extension}` : ""}`;
}

/** "Bill of Lading" as the beginning of a file's name: bill-of-lading. The database has the same rule. */
export function documentSlug(name: string): string {
  return name
    .replace(/[^A-Za-z0-9]+/g, "-")
    .replace(/^-+|-+$/g, "")
    .toLowerCase();
}

/** Where a document's file is kept in the bucket: user-id/shipment-id/document-name-filename. */
export function objectPath(document: { user_id: string; shipment_id: string; name: string }, fileName: string): string {
  return `${document.user_id}/${document.shipment_id}/${documentSlug(document.name)}-${safeFileName(fileName)}`;
}

/** What the signature of a file with this extension may be. Text has none. */
const signatures: Readonly<Record<string, readonly string[]>> = {
  pdf: ["application/pdf"],
  jpg: ["image/jpeg"],
  jpeg: ["image/jpeg"],
  png: ["image/png"],
  webp: ["image/webp"],
  heic: ["image/heic", "image/heif", "image/heic-sequence", "image/heif-sequence"],
  tif: ["image/tiff"],
  tiff: ["image/tiff"],
  rtf: ["application/rtf"],
  doc: ["application/x-cfb"],
  xls: ["application/x-cfb"],
  docx: ["application/vnd.openxmlformats-officedocument.wordprocessingml.document", "application/zip"],
  xlsx: ["application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", "application/zip"],
  odt: ["application/vnd.oasis.opendocument.text", "application/zip"],
};

/**
 * The media type of a document's file, by its extension and checked against its signature; a refusal when it is empty
 * or of a kind we do not take.
 */
export async function mediaTypeOf(fileName: string, content: Uint8Array): Promise<{ type: string } | Refusal> {
  const problem = fileProblem({ name: fileName, size: content.length });
  if (problem) return { reason: problem, status: 400 };
  const extension = extensionOf(fileName);
  const type = FILE_TYPES[extension] ?? "";
  const allowed = signatures[extension];
  const fits = allowed
    ? allowed.includes((await fileTypeFromBuffer(content))?.mime ?? "")
    : // Text has no signature, and its first letters may look like one: it has no control characters but blanks.
      !content.some((byte) => byte < 0x20 && ![0x09, 0x0a, 0x0c, 0x0d].includes(byte));
  if (fits) return { type };
  return {
    reason: `The content of this file is not what its ending .${extension} says. Choose another one.`,
    status: 400,
  };
}

/** Where an upload failed, by the row of the error catalogue. */
export type UploadFailure = Refusal & { title: "Upload failed" | "Failed to update document status" };

/**
 * Stores the file of a document of the client's and marks the document uploaded; null when both are done.
 * A file whose document could not be marked is taken back, so that the same form can be sent again. A document that
 * has its file already is left as it is.
 */
export async function uploadDocument(
  client: Client,
  document: { id: string; name: string; shipmentId: string },
  file: File,
): Promise<UploadFailure | null> {
  const content = new Uint8Array(await file.arrayBuffer());
  const media = await mediaTypeOf(file.name, content);
  if ("reason" in media) return { ...media, title: "Upload failed" };

  const bucket = client.backend.storage.from("documents");
  const path = objectPath({ user_id: client.id, shipment_id: document.shipmentId, name: document.name }, file.name);
  const stored = await bucket.upload(path, content, { contentType: media.type, upsert: true });
  if (stored.error) return { ...storageRefusal(stored.error), title: "Upload failed" };

  const { data, error, status } = await client.backend
    .from("documents")
    .update({ uploaded: true, storage_path: path })
    .eq("shipment_id", document.shipmentId)
    .eq("name", document.name)
    .select("id");
  if (!error && data.length === 1) return null;
  await bucket.remove([path]);
  const refusal = error ? refusalOf({ ...error, status }) : { reason: "There is no such document.", status: 404 };
  return { ...refusal, title: "Failed to update document status" };
}

function storageRefusal(error: { name: string; message: string; status?: number; statusCode?: string }): Refusal {
  const refusal = refusalOf(error);
  return refusal.status === 403 ? { reason: "This document has been uploaded already.", status: 409 } : refusal;
}

/**
 * Staff: marks an uploaded document as verified. Throws when the shipment has no document of this name or its file is
 * still awaited.
 */
export async function verifyDocument(company: Backend, shipmentId: string, name: string): Promise<void> {
  const { data, error, status } = await company
    .from("documents")
    .select("id, name, uploaded")
    .eq("shipment_id", shipmentId)
    .retry(false);
  if (error) throw new Error(refusalOf({ ...error, status }).reason);
  const document = data.find((one) => one.name.toLowerCase() === name.toLowerCase());
  if (!document)
    throw new Error(`This shipment has no document "${name}". It has: ${data.map((d) => d.name).join(", ")}.`);
  if (!document.uploaded) throw new Error(`The ${document.name} has not been uploaded yet.`);
  const marked = await company
    .from("documents")
    .update({ verified: true })
    .eq("id", document.id)
    .eq("uploaded", true)
    .select("id");
  if (marked.error) throw new Error(refusalOf({ ...marked.error, status: marked.status }).reason);
}
