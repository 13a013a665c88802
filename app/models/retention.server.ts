import { z } from "zod";
import type { UserError } from "../lib/http/user-error.server.ts";
import type { AppSupabaseClient } from "../lib/supabase/client.server.ts";
import { dataOrThrow, parseResult } from "../lib/supabase/result.server.ts";
import { findAccountName, sendEmail, sendOnce, trySendEmail } from "./email-delivery.server.ts";
import { accountErasedEmail, type EmailSender, erasureRejectedEmail } from "./emails.ts";
import { deleteChunks, listDeletableChunks } from "./resumable-upload.server.ts";
import { runStaffAction, type StaffActionCall, type StaffActionResult } from "./staff.server.ts";

/** `retention_ends_on` is YYYY-MM-DD. `last_seen_at` is a time in ISO 8601. */
const BeyondRetention = z.object({
  shipments: z.array(
    z.object({ id: z.string(), name: z.string(), retention_ends_on: z.string(), files: z.array(z.string()) }),
  ),
  files: z.array(z.string()),
  accounts: z.array(z.object({ id: z.string(), email: z.string(), last_seen_at: z.string() })),
});
type BeyondRetention = z.infer<typeof BeyondRetention> & { parts: string[] };

const filesPerDelete = 100;

/** `fields` has only IDs and counts, because the audit log must not contain the deleted data. */
export type ReportDeletion = (
  fields: { shipment_id: string } | { files: number } | { parts: number } | { account_id: string },
) => unknown;

export async function listBeyondRetention(serviceRole: AppSupabaseClient): Promise<BeyondRetention> {
  const found = parseResult(BeyondRetention, await serviceRole.rpc("beyond_retention"));
  if ("reason" in found) throw new Error(found.reason);
  return { ...found, parts: await listDeletableChunks(serviceRole) };
}

/** Deletes rows before their files, so that no row refers to a missing file. The next run repeats failed deletions. */
export async function deleteBeyondRetention(serviceRole: AppSupabaseClient, report: ReportDeletion): Promise<void> {
  const { shipments, parts, accounts } = await listBeyondRetention(serviceRole);
  for (const { id } of shipments) if (await deleteShipment(serviceRole, id)) await report({ shipment_id: id });
  await deleteOrphanedFiles(serviceRole, report);
  if (parts.length > 0) await report({ parts: await deleteChunks(serviceRole, parts) });
  for (const account of accounts) await deleteAccount(serviceRole, account, report);
  await deleteOrphanedAuthLog(serviceRole);
}

/** Returns an error if the retention period of a shipment has not ended. With `sender`, emails the account's owner. */
export async function eraseAccount(
  supabase: AppSupabaseClient,
  serviceRole: AppSupabaseClient,
  account: string,
  reason: string,
  actor_name?: string,
  sender?: EmailSender,
): Promise<StaffActionResult<string> | UserError> {
  const started = await runStaffAction(supabase, "start_erasure", { account_id: account, reason, actor_name });
  if ("reason" in started) return started;
  const name = sender ? await findAccountName(serviceRole, account) : null;
  try {
    await deleteAccountShipments(serviceRole, account);
    await deleteOrphanedFiles(serviceRole, () => undefined, `${account}/`);
    await deleteChunks(serviceRole, await listDeletableChunks(serviceRole, account));
    await deleteAccount(serviceRole, { id: account, email: started.result }, () => undefined);
    await deleteOrphanedAuthLog(serviceRole);
  } catch (error) {
    // Removes "Nothing was changed.", because earlier steps of the erasure have changed data.
    const message = (error as Error).message.replace("Nothing was changed. ", "");
    const reason = `The erasure is not complete: the account is closed, but some of its data still exists. ${message} Erase the account again.`;
    return { reason, status: 503 };
  }
  // A failed email is not recorded, because the erasure must leave no data about the person.
  if (sender) await sendEmail({ to: started.result, ...accountErasedEmail(sender, name) }, sender);
  return started;
}

export async function rejectErasure(
  { supabase, serviceRole, emailSender, options: { idempotency_key, actor_name } }: StaffActionCall,
  account_id: string,
  reason: string,
) {
  const sender = emailSender();
  const action = await runStaffAction(supabase, "reject_erasure", { account_id, reason, idempotency_key, actor_name });
  if ("reason" in action) return action;
  const to = { email: action.result, account_id, kind: "erasure" };
  const email = await sendOnce(serviceRole(), idempotency_key, to, () =>
    trySendEmail(serviceRole(), sender, to, (sender, name) => erasureRejectedEmail(sender, name, reason)),
  );
  return "reason" in email ? email : { ...email, result: to.email };
}

export async function deleteExpiredLinks(serviceRole: AppSupabaseClient): Promise<number> {
  return dataOrThrow(await serviceRole.rpc("delete_expired_links"));
}

async function deleteShipment(serviceRole: AppSupabaseClient, id: string): Promise<boolean> {
  const today = new Date().toISOString().slice(0, 10);
  const deletion = serviceRole.from("shipments").delete().eq("id", id).lt("retention_ends_on", today);
  return dataOrThrow(await deletion.select("id")).length > 0;
}

/** Repeats the query, because a response has at most 1,000 rows. Throws if a retention period has not ended. */
async function deleteAccountShipments(serviceRole: AppSupabaseClient, account: string): Promise<void> {
  for (;;) {
    const query = serviceRole.from("shipments").select("id").eq("user_id", account).retry(false);
    const shipments = dataOrThrow(await query);
    if (shipments.length === 0) return;
    for (const { id } of shipments)
      if (!(await deleteShipment(serviceRole, id))) throw new Error("The retention period of a shipment was extended.");
  }
}

async function deleteOrphanedFiles(serviceRole: AppSupabaseClient, report: ReportDeletion, folder = ""): Promise<void> {
  for (;;) {
    const files = (await listBeyondRetention(serviceRole)).files.filter((name) => name.startsWith(folder));
    if (files.length === 0) return;
    const bucket = serviceRole.storage.from("documents");
    const removed = dataOrThrow(await bucket.remove(files.slice(0, filesPerDelete)));
    if (removed.length === 0) throw new Error(`The document store failed to delete ${files[0]}.`);
    await report({ files: removed.length });
  }
}

/** Deletes the Client ID first, because the row of the Client ID refers to the account. */
async function deleteAccount(
  serviceRole: AppSupabaseClient,
  { id, email }: { id: string; email: string },
  report: ReportDeletion,
): Promise<void> {
  dataOrThrow(await serviceRole.rpc("clear_email_hashes", { email }));
  dataOrThrow(await serviceRole.from("client_ids").delete().eq("account_id", id));
  dataOrThrow(await serviceRole.auth.admin.deleteUser(id));
  await report({ account_id: id });
}

async function deleteOrphanedAuthLog(serviceRole: AppSupabaseClient): Promise<void> {
  dataOrThrow(await serviceRole.rpc("delete_orphaned_auth_log"));
}
