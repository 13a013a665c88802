/** Staff: what the privacy policy promises to delete, through the company's handle. The rules are in the database. */
import { z } from "zod";
import { toUserError, type UserError, userErrorFromThrown } from "../lib/http/user-error.server.ts";
import type { AppSupabaseClient } from "../lib/supabase/client.server.ts";
import { type EmailResult, sendEmail, trySendEmail } from "./email.server.ts";
import { accountErasedEmail, type EmailSender, erasureRejectedEmail, formatSender } from "./emails.ts";
import { deleteChunks, listDeletableChunks } from "./resumable-upload.server.ts";
import { runStaffAction } from "./staff-action.server.ts";

/** What public.beyond_retention answers; days such as 2033-11-21, `last_seen_at` in ISO 8601. */
const BeyondRetention = z.object({
  shipments: z.array(
    z.object({ id: z.string(), name: z.string(), retention_ends_on: z.string(), files: z.array(z.string()) }),
  ),
  files: z.array(z.string()),
  accounts: z.array(z.object({ id: z.string(), email: z.string(), last_seen_at: z.string() })),
});
/** `parts` are those of uploads that did not end. */
type BeyondRetention = z.infer<typeof BeyondRetention> & { parts: string[] };

/** How many files one call to the store removes. */
const filesPerDelete = 100;

/** Called and awaited after each deletion, for the log; ids only, as the log outlives the data. */
export type ReportDeletion = (
  fields: { shipment_id: string } | { files: number } | { parts: number } | { account_id: string },
) => unknown;

/**
 * Shipments past their last day with their files, files that a deletion left behind, what came of files that did not
 * arrive, and accounts nobody uses. Throws.
 */
export async function listBeyondRetention(company: AppSupabaseClient): Promise<BeyondRetention> {
  const { data, error, status } = await company.rpc("beyond_retention");
  if (error) throw new Error(toUserError({ ...error, status }).reason);
  const past = BeyondRetention.safeParse(data);
  if (!past.success) throw new Error(userErrorFromThrown(past.error).reason);
  return { ...past.data, parts: await listDeletableChunks(company) };
}

/**
 * Deletes what `pastRetention` lists. A shipment and its documents go in one transaction, its files afterwards, so that
 * no row refers to a missing file; after an interruption the next run finds the files. Throws when the backend refuses;
 * deletions passed to `tell` are done.
 */
export async function deleteBeyondRetention(company: AppSupabaseClient, tell: ReportDeletion): Promise<void> {
  const { shipments, parts, accounts } = await listBeyondRetention(company);
  for (const { id } of shipments) if (await deleteShipment(company, id)) await tell({ shipment_id: id });
  await deleteOrphanedFiles(company, tell);
  if (parts.length > 0) await tell({ parts: await deleteChunks(company, parts) });
  for (const account of accounts) await deleteAccount(company, account, tell);
  // Also those that an interruption left.
  await deleteOrphanedAuthLog(company);
}

/**
 * Deletes an account whose owner asks for it, with the shipments that need not be kept any more; null when it is gone,
 * which its owner is told by mail with a `head`.
 * Refused when a shipment has to be kept: the reason says until when. `backend` is who asks, `company` deletes: row-level
 * security and the store let nobody else.
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
    // What the backend could not do, without the words that hold of a single step.
    const why = (error as Error).message.replace("Nothing was changed. ", "");
    return { reason: `Not everything is erased yet. ${why} The account is closed: erase it again.`, status: 503 };
  }
  // One that does not leave is listed nowhere: nothing of the person is kept.
  if (head)
    await sendEmail({ to: begun.result, ...accountErasedEmail(head) }, formatSender(head)).catch(() => undefined);
  return null;
}

/** Answers a client who asked to be erased that it cannot be yet, with the reason, by mail. */
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

/** Deletes links that have ended, and notices of a month ago; how many. Throws. */
export async function deleteExpiredLinks(company: AppSupabaseClient): Promise<number> {
  const { data, error, status } = await company.rpc("delete_expired_links");
  if (error) throw new Error(toUserError({ ...error, status }).reason);
  return data;
}

/** Deletes a shipment, its documents and events, if it still is past its last day; returns whether it was. */
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

/** Deletes all shipments of an account; an answer lists a part of many. Throws when one is kept, or the backend refuses. */
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

/** Deletes the files that no document refers to, of all accounts or in the folder of one. */
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

/** Deletes the account's client ID first, as it references the account; the deleted ID cannot be used again. */
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

/** Deletes what the log of auth tells of accounts that are gone. */
async function deleteOrphanedAuthLog(company: AppSupabaseClient): Promise<void> {
  const { error, status } = await company.rpc("delete_orphaned_auth_log");
  if (error) throw new Error(toUserError({ ...error, status }).reason);
}

/** Today in UTC, as in the database. */
function todayInUtc(): string {
  return new Date().toISOString().slice(0, 10);
}
