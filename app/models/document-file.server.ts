import { hash } from "node:crypto";
import { z } from "zod";
import { toUserError, type UserError } from "../lib/http/user-error.server.ts";
import type { AppSupabaseClient } from "../lib/supabase/client.server.ts";
import { parseOrUserError } from "../lib/supabase/result.server.ts";
import { runStaffAction } from "./staff.server.ts";

type RecordedFile = { storage_path: string | null; storage_version: string | null; sha256: string | null };

export const recordedFileColumns = "storage_path, storage_version, sha256";

/** Returns the file if it has the recorded hash or, without a recorded hash, the recorded version of the stored object. */
export async function readStoredFile(
  supabase: AppSupabaseClient,
  { storage_path, storage_version, sha256 }: RecordedFile,
): Promise<{ content: Uint8Array; sha256: string; version: string } | UserError> {
  const bucket = supabase.storage.from("documents");
  // If the object changes between the two reads, the database rejects a verification with the older version.
  const object = await bucket.info(storage_path ?? "");
  if (object.error) return toFileError(object.error);
  const file = await bucket.download(storage_path ?? "");
  if (file.error) return toFileError(file.error);
  const content = new Uint8Array(await file.data.arrayBuffer());
  const { version } = object.data;
  const actualHash = hash("sha256", content);
  if (sha256 ? actualHash !== sha256 : version !== storage_version) return changedFileError;
  return { content, sha256: actualHash, version };
}

const changedFileError: UserError = { reason: "The stored file differs from the uploaded file.", status: 409 };

function toFileError(error: { name: string; message: string; statusCode?: string }): UserError {
  return error.statusCode === "404" ? changedFileError : toUserError(error);
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

/** Opens a file after recording the access in the audit log. Only the service-role client can read the bucket. */
export async function openFileForStaff(
  supabase: AppSupabaseClient,
  serviceRole: AppSupabaseClient,
  document: { id: string; shipment: string },
  actor_name?: string,
) {
  const args = { document_id: document.id, shipment_id: document.shipment, actor_name };
  const action = await runStaffAction(supabase, "open_document", args);
  if ("reason" in action) return action;
  const record = parseOrUserError(DownloadableFile, action.result);
  if ("reason" in record) return record;
  const file = await readStoredFile(serviceRole, record);
  return "reason" in file ? file : { ...record, content: file.content };
}
