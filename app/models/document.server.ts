/**
 * Documents and their files. The upload is authorised as the signed-in client, but a checked file is stored with the
 * company's handle: no client's token can write to the bucket.
 */
import { createHash, randomBytes } from "node:crypto";
import { fileTypeFromBuffer } from "file-type";
import { transliterate } from "transliteration";
import { type Refusal, refusalOf, refusalOfThrown } from "../lib/refusal.server.ts";
import type { Client } from "../lib/session.server.ts";
import { type Backend, companyBackend } from "../lib/supabase.server.ts";
import { extensionOf, fileProblem } from "./document.ts";

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

/**
 * Where one attempt to upload a document's file is kept in the bucket: user-id/shipment-id/document-name-attempt-filename.
 * No two attempts share a name, so that nothing is ever overwritten. The database has the same rule.
 */
export function objectPath(document: { user_id: string; shipment_id: string; name: string }, fileName: string): string {
  const attempt = randomBytes(6).toString("hex");
  return `${document.user_id}/${document.shipment_id}/${documentSlug(document.name)}-${attempt}-${safeFileName(fileName)}`;
}

/**
 * The name of a person's own file, to be shown: its last part, without control and direction characters, at most 200
 * characters, its extension kept.
 */
export function shownFileName(fileName: string): string {
  const clean = (fileName.split(/[\\/]/).at(-1) ?? "")
    .replace(/[\p{Cc}\p{Cs}\u2028-\u202e\u2066-\u2069]+/gu, " ")
    .trim();
  const characters = [...clean];
  if (characters.length <= 200) return clean || "file";
  const ending = `.${extensionOf(clean)}`;
  return characters.slice(0, 200 - ending.length).join("") + ending;
}

/** Accepted files: media type by extension. The bucket accepts the same types. */
export const FILE_TYPES: Readonly<Record<string, string>> = {
  pdf: "application/pdf",
  jpg: "image/jpeg",
  jpeg: "image/jpeg",
  png: "image/png",
  webp: "image/webp",
  heic: "image/heic",
  tif: "image/tiff",
  tiff: "image/tiff",
  txt: "text/plain",
  csv: "text/csv",
  rtf: "application/rtf",
  doc: "application/msword",
  docx: "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
  xls: "application/vnd.ms-excel",
  xlsx: "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
  odt: "application/vnd.oasis.opendocument.text",
};

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

// biome-ignore lint/suspicious/noControlCharactersInRegex: they show that a file is not text
const notInText = /[\u0000-\u0008\u000b\u000e-\u001f]/;

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
    ? allowed.includes((await fileTypeFromBuffer(signed(content)))?.mime ?? "")
    : // Text has no signature, and its first letters may look like one: it is text if it has no control characters.
      !notInText.test(Buffer.from(content.buffer, content.byteOffset, content.length).toString("latin1"));
  if (fits) return { type };
  return {
    reason: `The content of this file is not what its ending .${extension} says. Choose another one.`,
    status: 400,
  };
}

/**
 * The part of a file that has its signature: the first 64 KiB, so that no file makes us search ten megabytes. The
 * directory of a TIFF may be anywhere.
 */
function signed(content: Uint8Array): Uint8Array {
  const isTiff = content[0] === content[1] && (content[0] === 0x49 || content[0] === 0x4d);
  return isTiff ? content : content.subarray(0, 64 * 1024);
}

/** Where an upload failed, by the row of the error catalogue. */
export type UploadFailure = Refusal & { title: "Upload failed" | "Failed to update document status" };

/**
 * Stores the file of a document of the client's and marks the document uploaded; null when both are done.
 * A document that has its file, or whose shipment is closed, is left as it is.
 */
export async function uploadDocument(
  client: Client,
  document: { id: string; name: string; shipmentId: string },
  file: File,
): Promise<UploadFailure | null> {
  const content = new Uint8Array(await file.arrayBuffer());
  const media = await mediaTypeOf(file.name, content);
  if ("reason" in media) return { ...media, title: "Upload failed" };

  const awaited = await client.backend.rpc("require_awaited_file", { document_id: document.id });
  if (awaited.error) return { ...refusalOf({ ...awaited.error, status: awaited.status }), title: "Upload failed" };
  if (awaited.data !== true) return { ...refusalOfThrown(awaited.data), title: "Upload failed" };

  const company = companyBackend();
  const bucket = company.storage.from("documents");
  const path = objectPath({ user_id: client.id, shipment_id: document.shipmentId, name: document.name }, file.name);
  const stored = await bucket.upload(path, content, { contentType: media.type, upsert: false });
  if (stored.error) return { ...refusalOf(stored.error), title: "Upload failed" };

  const { data, error, status } = await company
    .from("documents")
    .update({
      uploaded: true,
      storage_path: path,
      sha256: sha256Of(content),
      file_name: shownFileName(file.name),
      file_size: content.length,
      media_type: media.type,
    })
    .eq("id", document.id)
    .eq("user_id", client.id)
    .eq("uploaded", false)
    .select("id");
  if (!error && data.length === 1) return null;
  // Removes the file on a clear refusal only: after a lost answer the row may refer to it (see `staff retention`).
  const isNo = error ? error.code?.startsWith("PT") : data.length === 0;
  if (isNo) await bucket.remove([path]);
  const refusal = error
    ? refusalOf({ ...error, status })
    : isNo
      ? { reason: "This document has been uploaded already.", status: 409 }
      : refusalOfThrown(data);
  return { ...refusal, title: "Failed to update document status" };
}

/** A document's file: its path, and what was recorded to detect a changed file. */
type CountedFile = { storage_path: string | null; storage_version: string | null; sha256: string | null };

/** The columns of CountedFile. */
const countedFile = "storage_path, storage_version, sha256";

/**
 * The bytes of a document's file, checked against the recorded hash or, without one, the stored object's version. A
 * refusal when the file differs or is gone.
 */
export async function openFile(
  backend: Backend,
  { storage_path, storage_version, sha256 }: CountedFile,
): Promise<{ content: Uint8Array; sha256: string; version: string } | Refusal> {
  const bucket = backend.storage.from("documents");
  // Read before the bytes, which have this version if the object still has it later.
  const object = await bucket.info(storage_path ?? "");
  if (object.error) return fileRefusal(object.error);
  const file = await bucket.download(storage_path ?? "");
  if (file.error) return fileRefusal(file.error);
  const content = new Uint8Array(await file.data.arrayBuffer());
  const { version } = object.data;
  const hash = sha256Of(content);
  if (sha256 ? hash !== sha256 : version !== storage_version) return notTheFile;
  return { content, sha256: hash, version };
}

const notTheFile: Refusal = { reason: "The stored file is not the one that was uploaded.", status: 409 };

function fileRefusal(error: { name: string; message: string; statusCode?: string }): Refusal {
  return error.statusCode === "404" ? notTheFile : refusalOf(error);
}

function sha256Of(content: Uint8Array): string {
  return createHash("sha256").update(content).digest("hex");
}

/**
 * Staff: marks an uploaded document as verified, after checking that its file is the one uploaded. Returns its id.
 * Throws when the file differs, when there is no such document, or when it is not uploaded, verified already, or has
 * changed meanwhile.
 */
export async function verifyDocument(company: Backend, shipmentId: string, name: string): Promise<string> {
  const { data, error, status } = await company
    .from("documents")
    .select(`id, name, uploaded, verified, ${countedFile}`)
    .eq("shipment_id", shipmentId)
    .retry(false);
  if (error) throw new Error(refusalOf({ ...error, status }).reason);
  const document = data.find((one) => one.name.toLowerCase() === name.toLowerCase());
  if (!document)
    throw new Error(`This shipment has no document "${name}". It has: ${data.map((d) => d.name).join(", ")}.`);
  if (!document.uploaded) throw new Error(`The ${document.name} has not been uploaded yet.`);
  // Verifying again records the hash of one verified before there were any.
  if (document.verified && document.sha256) throw new Error(`The ${document.name} is verified already.`);
  const file = await openFile(company, document);
  if ("reason" in file) throw new Error(`The ${document.name} is not verified: ${file.reason}`);
  const marked = await company
    .from("documents")
    .update({ verified: true, sha256: file.sha256, storage_version: file.version })
    .eq("id", document.id)
    .eq("verified", document.verified)
    .eq("storage_path", document.storage_path ?? "")
    .select("id");
  if (marked.error) throw new Error(refusalOf({ ...marked.error, status: marked.status }).reason);
  if (marked.data.length === 0) throw new Error(`The ${document.name} has changed meanwhile: look at it again.`);
  return document.id;
}
