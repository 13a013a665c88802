import { createHash } from "node:crypto";
import { z } from "zod";
import { type Download, filePieceBytes } from "../lib/http/transfer-slots.server.ts";
import { toUserError, type UserError, userErrorFromThrown } from "../lib/http/user-error.server.ts";
import type { AppSupabaseClient } from "../lib/supabase/client.server.ts";
import { parseOrUserError } from "../lib/supabase/result.server.ts";
import { runStaffAction } from "./staff.server.ts";

type RecordedFile = { storage_path: string | null; storage_version: string | null; sha256: string | null };

export const recordedFileColumns = "storage_path, storage_version, sha256";

type StoredFile = {
  size: number;
  sha256: string;
  version: string;
  start: Uint8Array;
  content: AsyncIterable<Uint8Array>;
};

/** Returns the stored file if its hash equals the recorded hash. If no hash is recorded, compares versions instead. */
export async function openStoredFile(
  supabase: AppSupabaseClient,
  { storage_path, storage_version, sha256 }: RecordedFile,
): Promise<StoredFile | UserError> {
  const path = storage_path ?? "";
  // Reads the version before the content, so that the database rejects a verification if the object changes in between.
  const object = await supabase.storage.from("documents").info(path);
  if (object.error) return toFileError(object.error);
  const { version, size } = object.data;
  if (size === undefined) return userErrorFromThrown(null);
  const hash = createHash("sha256");
  let firstPiece: Uint8Array | undefined;
  try {
    for await (const piece of readPieces(supabase, path, 0, size)) {
      firstPiece ??= piece;
      hash.update(piece);
    }
  } catch (error) {
    return error instanceof Error ? toFileError(error) : userErrorFromThrown(error);
  }
  const actualHash = hash.digest("hex");
  if (sha256 ? actualHash !== sha256 : version !== storage_version) return changedFileError;
  const start = firstPiece ?? new Uint8Array();
  const content = readCheckedPieces(supabase, path, start, size, actualHash);
  return { size, sha256: actualHash, version, start, content };
}

/** Yields the file in pieces. Throws before the last piece if the file has changed since its hash was calculated. */
async function* readCheckedPieces(
  supabase: AppSupabaseClient,
  path: string,
  firstPiece: Uint8Array,
  size: number,
  sha256: string,
): AsyncGenerator<Uint8Array> {
  const hash = createHash("sha256");
  let piece = firstPiece;
  for await (const next of readPieces(supabase, path, firstPiece.length, size)) {
    hash.update(piece);
    yield piece;
    piece = next;
  }
  if (hash.update(piece).digest("hex") !== sha256) throw new ChangedFileError();
  yield piece;
}

/** Requests a piece only when the reader is ready, so that a slow reader occupies no connection of the backend. */
async function* readPieces(supabase: AppSupabaseClient, path: string, start: number, size: number) {
  for (let from = start; from < size; from += filePieceBytes) {
    const to = Math.min(from + filePieceBytes, size);
    const piece = await readFilePart(supabase, path, from, to - from);
    if (piece.length !== to - from) throw new ChangedFileError();
    yield piece;
  }
}

export async function readFilePart(supabase: AppSupabaseClient, path: string, start: number, length: number) {
  const bucket = supabase.storage.from("documents").setHeader("Range", `bytes=${start}-${start + length - 1}`);
  const { data, error } = await bucket.download(path);
  if (error) throw error;
  return Buffer.from(await data.arrayBuffer());
}

const changedFileError: UserError = { reason: "This file is damaged or missing.", status: 409 };

class ChangedFileError extends Error {
  override message = changedFileError.reason;
}

export function toFileError(error: { name: string; message: string; statusCode?: string }): UserError {
  return error instanceof ChangedFileError || error.statusCode === "404" ? changedFileError : toUserError(error);
}

export const DownloadableFile = z.object({
  name: z.string(),
  storage_path: z.string(),
  storage_version: z.string().nullable(),
  sha256: z.string().nullable(),
  file_name: z.string().nullable(),
  media_type: z.string().nullable(),
});
export type DownloadableFile = z.infer<typeof DownloadableFile>;

export function createFileDownload(
  { name, file_name, media_type }: DownloadableFile,
  file: Pick<StoredFile, "size" | "content"> | UserError,
): Download | UserError {
  if ("reason" in file) return file;
  const { size, content } = file;
  return { name: file_name ?? name, mediaType: media_type ?? "application/octet-stream", size, content };
}

/** Records the access in the audit log, then opens the file. Only the service-role client can read the bucket. */
export async function openFileForStaff(
  supabase: AppSupabaseClient,
  serviceRole: AppSupabaseClient,
  document: { id: string; shipment: string },
  actor_name?: string,
): Promise<Download | UserError> {
  const args = { document_id: document.id, shipment_id: document.shipment, actor_name };
  const action = await runStaffAction(supabase, "open_document", args);
  if ("reason" in action) return action;
  const record = parseOrUserError(DownloadableFile, action.result);
  if ("reason" in record) return record;
  return createFileDownload(record, await openStoredFile(serviceRole, record));
}
