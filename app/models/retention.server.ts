/** Deletion by the privacy policy. The database has the rules. */
import { z } from "zod";
import { toUserError, type UserError, userErrorFromThrown } from "../lib/http/user-error.server.ts";
import type { AppSupabaseClient } from "../lib/supabase/client.server.ts";
import { type EmailResult, sendEmail, trySendEmail } from "./email.server.ts";
import { accountErasedEmail, type EmailSender, erasureRejectedEmail, formatSender } from "./emails.ts";
import { deleteChunks, listDeletableChunks } from "./resumable-upload.server.ts";
import { runStaffAction } from "./staff-action.server.ts";

const BeyondRetention = z.object({
  shipments: z.array(
    z.object({ id: z.string(), name: z.string(), retention_ends_on: z.string(), files: z.array(z.string()) }),
  ),
  files: z.array(z.string()),
  accounts: z.array(z.object({ id: z.string(), email: z.string(), last_seen_at: z.string() })),
});
type BeyondRetention = z.infer<typeof BeyondRetention> & { parts: string[] };

const filesPerDelete = 100;

/** Called after each deletion. Gets IDs only, because the audit log outlives the data. */
export type ReportDeletion = (
  fields: { shipment_id: string } | { files: number } | { parts: number } | { account_id: string },
) => unknown;

export async function listBeyondRetention(company: AppSupabaseClient): Promise<BeyondRetention> {
  const { data, error, status } = await company.rpc("beyond_retention");
  if (error) throw new Error(toUserError({ ...error, status }).reason);
  const past = BeyondRetention.safeParse(data);
  if (!past.success) throw new Error(userErrorFromThrown(past.error).reason);
  return { ...past.data, parts: await listDeletableChunks(company) };
}

/**
 * Deletes the data of `listBeyondRetention`. Deletes rows before files, so that no row refers to a missing file. The next
 * run finds the files that an interruption left. Throws.
 */
export async function deleteBeyondRetention(company: AppSupabaseClient, tell: ReportDeletion): Promise<void> {
  const { shipments, parts, accounts } = await listBeyondRetention(company);
  for (const { id } of shipments) if (await deleteShipment(company, id)) await tell({ shipment_id: id });
  await deleteOrphanedFiles(company, tell);
  if (parts.length > 0) await tell({ parts: await deleteChunks(company, parts) });
  for (const account of accounts) await deleteAccount(company, account, tell);
  await deleteOrphanedAuthLog(company);
}

/**
 * Deletes an account with its shipments, and emails its owner. Returns null, or a UserError if a shipment has to be stored
 * longer. `backend` acts as the team member; only the service role `company` may delete.
 */
export async function eraseAccount(
  backend: AppSupabaseClient,
  company: AppSupabaseClient,
  account: string,
  reason: string,
  actor_name?: string,
  head?: EmailSender,
): Promise<UserError | null> {
  const begun = await runStaffAction(backend, "start_erasure", { account_id: account, reason, actor_name });
  if ("reason" in begun) return begun;
  try {
    await deleteAccountShipments(company, account);
    await deleteOrphanedFiles(company, () => undefined, `${account}/`);
    await deleteChunks(company, await listDeletableChunks(company, account));
    await deleteAccount(company, { id: account, email: begun.result }, () => undefined);
    await deleteOrphanedAuthLog(company);
  } catch (error) {
    // The message of a single step would deny the earlier ones.
    const why = (error as Error).message.replace("Nothing was changed. ", "");
    return { reason: `Not everything is erased yet. ${why} The account is closed: erase it again.`, status: 503 };
  }
  // A failed email is not recorded, because no data of the person may stay.
  if (head)
    await sendEmail({ to: begun.result, ...accountErasedEmail(head) }, formatSender(head)).catch(() => undefined);
  return null;
}

export async function rejectErasure(
  backend: AppSupabaseClient,
  company: AppSupabaseClient,
  head: EmailSender,
  account: string,
  reason: string,
  actor_name?: string,
): Promise<EmailResult> {
  const answered = await runStaffAction(backend, "reject_erasure", { account_id: account, reason, actor_name });
  if ("reason" in answered) return answered;
  return trySendEmail(
    company,
    head,
    { email: answered.result, account_id: account, kind: "erasure" },
    erasureRejectedEmail(head, reason),
  );
}

/** Deletes expired links and old shipment emails. Returns their number. Throws. */
export async function deleteExpiredLinks(company: AppSupabaseClient): Promise<number> {
  const { data, error, status } = await company.rpc("delete_expired_links");
  if (error) throw new Error(toUserError({ ...error, status }).reason);
  return data;
}

/** Returns false if the shipment has to be stored longer. */
async function deleteShipment(company: AppSupabaseClient, id: string): Promise<boolean> {
  const { data, error, status } = await company
    .from("shipments")
    .delete()
    .eq("id", id)
    .lt("retention_ends_on", todayInUtc())
    .select("id");
  if (error) throw new Error(toUserError({ ...error, status }).reason);
  return data.length > 0;
}

/** Repeats its query, because a response has a limited number of rows. Throws if a shipment has to be stored longer. */
async function deleteAccountShipments(company: AppSupabaseClient, account: string): Promise<void> {
  for (;;) {
    const { data, error, status } = await company.from("shipments").select("id").eq("user_id", account).retry(false);
    if (error) throw new Error(toUserError({ ...error, status }).reason);
    if (data.length === 0) return;
    for (const { id } of data) {
      if (!(await deleteShipment(company, id))) throw new Error("A shipment has to be kept longer now.");
    }
  }
}

/** Deletes the files without a document, of all accounts or in one account's folder. */
async function deleteOrphanedFiles(company: AppSupabaseClient, tell: ReportDeletion, folder = ""): Promise<void> {
  for (;;) {
    const files = (await listBeyondRetention(company)).files.filter((name) => name.startsWith(folder));
    if (files.length === 0) return;
    const { data, error } = await company.storage.from("documents").remove(files.slice(0, filesPerDelete));
    if (error) throw new Error(toUserError(error).reason);
    if (data.length === 0) throw new Error(`The document store does not delete ${files[0]}.`);
    await tell({ files: data.length });
  }
}

/** Deletes the client ID first, because it references the account. */
async function deleteAccount(
  company: AppSupabaseClient,
  { id, email }: { id: string; email: string },
  tell: ReportDeletion,
): Promise<void> {
  const forgotten = await company.rpc("clear_email_hashes", { email });
  if (forgotten.error) throw new Error(toUserError({ ...forgotten.error, status: forgotten.status }).reason);
  const freed = await company.from("client_ids").delete().eq("account_id", id);
  if (freed.error) throw new Error(toUserError({ ...freed.error, status: freed.status }).reason);
  const { error } = await company.auth.admin.deleteUser(id);
  if (error) throw new Error(toUserError(error).reason);
  await tell({ account_id: id });
}

async function deleteOrphanedAuthLog(company: AppSupabaseClient): Promise<void> {
  const { error, status } = await company.rpc("delete_orphaned_auth_log");
  if (error) throw new Error(toUserError({ ...error, status }).reason);
}

function todayInUtc(): string {
  return new Date().toISOString().slice(0, 10);
}
