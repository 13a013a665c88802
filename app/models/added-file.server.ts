import { toUserError, type UserError } from "../lib/http/user-error.server.ts";
import type { AppSupabaseClient } from "../lib/supabase/client.server.ts";
import { dataOrUserError } from "../lib/supabase/result.server.ts";
import type { FileSource } from "./desk-labels.ts";
import { createFileRecord, isRejected, storeFile } from "./document.server.ts";
import { detectFileType } from "./file-type.server.ts";
import { runStaffAction, type StaffActionOptions, type StaffActionResult } from "./staff.server.ts";

type AddedFile = { file: File; from: FileSource; note?: string };

/** Stores the file in the client's folder, as if the client had uploaded it. Returns the document's name. */
export async function addFile(
  supabase: AppSupabaseClient,
  serviceRole: AppSupabaseClient,
  id: string,
  { file, from, note }: AddedFile,
  staffOptions: StaffActionOptions,
): Promise<StaffActionResult<string> | (UserError & { fieldErrors?: Record<string, string[]> })> {
  const content = new Uint8Array(await file.arrayBuffer());
  const type = detectFileType(file.name, content);
  if ("reason" in type) return { ...type, fieldErrors: { file: [type.reason] } };

  const columns = "name, user_id, shipment_id, uploaded";
  const found = await supabase.from("documents").select(columns).eq("id", id).retry(false).maybeSingle();
  const document = dataOrUserError(found);
  if (!document) return { reason: "Document not found.", status: 404 };
  if ("reason" in document) return document;
  const record = createFileRecord(document, { name: file.name, content }, type);
  // If the document has a file, add_file rejects another file, or recognises a form that was sent twice.
  const failure = document.uploaded ? null : await storeFile(serviceRole, record, content);
  if (failure) return failure;
  const args = { document_id: id, ...record, added_from: from, added_note: note, ...staffOptions };
  const { data: path, error, status } = await supabase.rpc("add_file", args);
  const isUnused = error ? isRejected(error) : path !== record.storage_path;
  if (isUnused && !document.uploaded) await serviceRole.storage.from("documents").remove([record.storage_path]);
  return error ? toUserError({ ...error, status }) : { result: document.name };
}

/**
 * Returns the document's name. If the stored file cannot be deleted now, the next `npm run staff -- retention` deletes
 * the file.
 */
export async function removeAddedFile(
  supabase: AppSupabaseClient,
  serviceRole: AppSupabaseClient,
  id: string,
  reason: string,
  staffOptions: StaffActionOptions,
): Promise<StaffActionResult<string> | UserError> {
  const { data: document } = await serviceRole.from("documents").select("storage_path").eq("id", id).maybeSingle();
  const removal = await runStaffAction(supabase, "remove_added_file", { document_id: id, reason, ...staffOptions });
  if ("reason" in removal || !document?.storage_path) return removal;
  // A form that was sent twice removes no file, so the document can still need its file.
  const path = document.storage_path;
  const { data: users } = await serviceRole.from("documents").select("id").eq("storage_path", path);
  if (users?.length === 0)
    await serviceRole.storage
      .from("documents")
      .remove([path])
      .catch(() => undefined);
  return removal;
}
