import { createHash } from "node:crypto";
import { z } from "zod";
import { toUserError, type UserError, userErrorFromThrown } from "../lib/http/user-error.server.ts";
import type { AppSupabaseClient } from "../lib/supabase/client.server.ts";
import { runStaffAction } from "./staff-action.server.ts";

type RecordedFile = { storage_path: string | null; storage_version: string | null; sha256: string | null };

export const recordedFileColumns = "storage_path, storage_version, sha256";

/** Compares the file with the recorded hash or, without one, with the stored object's version. */
export async function readStoredFile(
  supabase: AppSupabaseClient,
  { storage_path, storage_version, sha256 }: RecordedFile,
): Promise<{ content: Uint8Array; sha256: string; version: string } | UserError> {
  const bucket = supabase.storage.from("documents");
  // Reading the version first proves that the bytes have this version.
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

export function hashSha256(content: Uint8Array): string {
  return createHash("sha256").update(content).digest("hex");
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

/** A team member's token cannot read the bucket, so the service-role client does, after the audit log's entry. */
export async function openFileForStaff(
  supabase: AppSupabaseClient,
  serviceRole: AppSupabaseClient,
  document: { id: string; shipment: string },
  actor_name?: string,
) {
  const args = { document_id: document.id, shipment_id: document.shipment, actor_name };
  const action = await runStaffAction(supabase, "open_document", args);
  if ("reason" in action) return action;
  const record = DownloadableFile.safeParse(action.result);
  if (!record.success) return userErrorFromThrown(record.error);
  const file = await readStoredFile(serviceRole, record.data);
  return "reason" in file ? file : { ...record.data, content: file.content };
}
