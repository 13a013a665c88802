/** The stored files of documents. The database decides who may open them. */
import { createHash } from "node:crypto";
import { z } from "zod";
import { toUserError, type UserError, userErrorFromThrown } from "../lib/http/user-error.server.ts";
import type { AppSupabaseClient } from "../lib/supabase/client.server.ts";
import { runStaffAction } from "./staff-action.server.ts";

/** The path of a document's file, and the record that detects a changed file. */
type RecordedFile = { storage_path: string | null; storage_version: string | null; sha256: string | null };

/** The columns of RecordedFile. */
export const recordedFileColumns = "storage_path, storage_version, sha256";

/**
 * Returns the bytes of a document's file, checked against the recorded hash or, without one, the stored object's version.
 * Returns a UserError when the file differs or is missing.
 */
export async function readStoredFile(
  backend: AppSupabaseClient,
  { storage_path, storage_version, sha256 }: RecordedFile,
): Promise<{ content: Uint8Array; sha256: string; version: string } | UserError> {
  const bucket = backend.storage.from("documents");
  // Read before the bytes: they have this version if the recorded version is the same.
  const object = await bucket.info(storage_path ?? "");
  if (object.error) return toFileError(object.error);
  const file = await bucket.download(storage_path ?? "");
  if (file.error) return toFileError(file.error);
  const content = new Uint8Array(await file.data.arrayBuffer());
  const { version } = object.data;
  const hash = hashSha256(content);
  if (sha256 ? hash !== sha256 : version !== storage_version) return changedFileError;
  return { content, sha256: hash, version };
}

const changedFileError: UserError = { reason: "The stored file is not the one that was uploaded.", status: 409 };

function toFileError(error: { name: string; message: string; statusCode?: string }): UserError {
  return error.statusCode === "404" ? changedFileError : toUserError(error);
}

/** Returns the hash as hexadecimal digits. */
export function hashSha256(content: Uint8Array): string {
  return createHash("sha256").update(content).digest("hex");
}

/** A file that the viewer may open. */
export const DownloadableFile = z.object({
  name: z.string(),
  storage_path: z.string(),
  storage_version: z.string().nullable(),
  sha256: z.string().nullable(),
  file_name: z.string().nullable(),
  media_type: z.string().nullable(),
});
export type DownloadableFile = z.infer<typeof DownloadableFile>;

/**
 * Returns a document's file for a team member. The audit log records the action before the service-role client reads the
 * bytes, because a team member's token cannot read the bucket. Returns a UserError when the file was changed, or the
 * document belongs to another shipment.
 */
export async function openFileForStaff(
  backend: AppSupabaseClient,
  company: AppSupabaseClient,
  document: { id: string; shipment: string },
  actor_name?: string,
) {
  const args = { document_id: document.id, shipment_id: document.shipment, actor_name };
  const opened = await runStaffAction(backend, "open_document", args);
  if ("reason" in opened) return opened;
  const counted = DownloadableFile.safeParse(opened.result);
  if (!counted.success) return userErrorFromThrown(counted.error);
  const file = await readStoredFile(company, counted.data);
  return "reason" in file ? file : { ...counted.data, content: file.content };
}
