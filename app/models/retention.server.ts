/** Staff: what the privacy policy promises to delete, through the company's handle. The rules are in the database. */
import { z } from "zod";
import { sendMail } from "../lib/mail.server.ts";
import { type Refusal, refusalOf, refusalOfThrown } from "../lib/refusal.server.ts";
import type { Backend } from "../lib/supabase.server.ts";
import { type Told, tell } from "./colleague.server.ts";
import { act } from "./desk-act.server.ts";
import { accountErased, erasureRefused, type Letterhead, senderOf } from "./letter.ts";
import { pastParts, removeParts } from "./upload-parts.server.ts";

/** What public.past_retention answers; days such as 2033-11-21, `last_seen` in ISO 8601. */
const PastRetention = z.object({
  shipments: z.array(
    z.object({ id: z.string(), name: z.string(), retain_until: z.string(), files: z.array(z.string()) }),
  ),
  files: z.array(z.string()),
  accounts: z.array(z.object({ id: z.string(), email: z.string(), last_seen: z.string() })),
});
/** `parts` are those of uploads that did not end. */
type PastRetention = z.infer<typeof PastRetention> & { parts: string[] };

/** How many files one call to the store removes. */
const batch = 100;

/** Called and awaited after each deletion, for the log; ids only, as the log outlives the data. */
export type Tell = (
  fields: { shipment: string } | { files: number } | { parts: number } | { account: string },
) => unknown;

/**
 * Shipments past their last day with their files, files that a deletion left behind, what came of files that did not
 * arrive, and accounts nobody uses. Throws.
 */
export async function pastRetention(company: Backend): Promise<PastRetention> {
  const { data, error, status } = await company.rpc("past_retention");
  if (error) throw new Error(refusalOf({ ...error, status }).reason);
  const past = PastRetention.safeParse(data);
  if (!past.success) throw new Error(refusalOfThrown(past.error).reason);
  return { ...past.data, parts: await pastParts(company) };
}

/**
 * Deletes what `pastRetention` lists. A shipment and its documents go in one transaction, its files afterwards, so that
 * no row refers to a missing file; after an interruption the next run finds the files. Throws when the backend refuses;
 * deletions passed to `tell` are done.
 */
export async function deletePastRetention(company: Backend, tell: Tell): Promise<void> {
  const { shipments, parts, accounts } = await pastRetention(company);
  for (const { id } of shipments) if (await deleteShipment(company, id)) await tell({ shipment: id });
  await deleteLeftFiles(company, tell);
  if (parts.length > 0) await tell({ parts: await removeParts(company, parts) });
  for (const account of accounts) await deleteAccount(company, account, tell);
  // Also those that an interruption left.
  await forgetGoneAccounts(company);
}

/**
 * Deletes an account whose owner asks for it, with the shipments that need not be kept any more; null when it is gone,
 * which its owner is told by mail with a `head`.
 * Refused when a shipment has to be kept: the reason says until when. `backend` is who asks, `company` deletes: row-level
 * security and the store let nobody else.
 */
export async function eraseAccount(
  backend: Backend,
  company: Backend,
  account: string,
  reason: string,
  by_name?: string,
  head?: Letterhead,
): Promise<Refusal | null> {
  const begun = await act(backend, "begin_erasure", { account, reason, by_name });
  if ("reason" in begun) return begun;
  try {
    await deleteShipmentsOf(company, account);
    await deleteLeftFiles(company, () => undefined, `${account}/`);
    await removeParts(company, await pastParts(company, account));
    await deleteAccount(company, { id: account, email: begun.answer }, () => undefined);
    await forgetGoneAccounts(company);
  } catch (error) {
    // What the backend could not do, without the words that hold of a single step.
    const why = (error as Error).message.replace("Nothing was changed. ", "");
    return { reason: `Not everything is erased yet. ${why} The account is closed: erase it again.`, status: 503 };
  }
  // One that does not leave is listed nowhere: nothing of the person is kept.
  if (head) await sendMail({ to: begun.answer, ...accountErased(head) }, senderOf(head)).catch(() => undefined);
  return null;
}

/** Answers a client who asked to be erased that it cannot be yet, with the reason, by mail. */
export async function refuseErasure(
  backend: Backend,
  company: Backend,
  head: Letterhead,
  account: string,
  reason: string,
  by_name?: string,
): Promise<Told> {
  const answered = await act(backend, "refuse_erasure", { account, reason, by_name });
  if ("reason" in answered) return answered;
  return tell(company, head, { email: answered.answer, account, kind: "erasure" }, erasureRefused(head, reason));
}

/** Deletes links that have ended, and notices of a month ago; how many. Throws. */
export async function forgetPastLinks(company: Backend): Promise<number> {
  const { data, error, status } = await company.rpc("forget_past_links");
  if (error) throw new Error(refusalOf({ ...error, status }).reason);
  return data;
}

/** Keeps a shipment longer, through a day such as "2035-12-31". Answers its last day before. */
export function keepShipment(company: Backend, id: string, day: string, by_name?: string) {
  return act(company, "keep_shipment", { shipment_id: id, day, by_name });
}

/** Deletes a shipment, its documents and events, if it still is past its last day; returns whether it was. */
async function deleteShipment(company: Backend, id: string): Promise<boolean> {
  const { data, error, status } = await company
    .from("shipments")
    .delete()
    .eq("id", id)
    .lt("retain_until", today())
    .select("id");
  if (error) throw new Error(refusalOf({ ...error, status }).reason);
  return data.length > 0;
}

/** Deletes all shipments of an account; an answer lists a part of many. Throws when one is kept, or the backend refuses. */
async function deleteShipmentsOf(company: Backend, account: string): Promise<void> {
  for (;;) {
    const { data, error, status } = await company.from("shipments").select("id").eq("user_id", account).retry(false);
    if (error) throw new Error(refusalOf({ ...error, status }).reason);
    if (data.length === 0) return;
    for (const { id } of data) {
      if (!(await deleteShipment(company, id))) throw new Error("A shipment has to be kept longer now.");
    }
  }
}

/** Deletes the files that no document refers to, of all accounts or in the folder of one. */
async function deleteLeftFiles(company: Backend, tell: Tell, folder = ""): Promise<void> {
  for (;;) {
    const files = (await pastRetention(company)).files.filter((name) => name.startsWith(folder));
    if (files.length === 0) return;
    const { data, error } = await company.storage.from("documents").remove(files.slice(0, batch));
    if (error) throw new Error(refusalOf(error).reason);
    if (data.length === 0) throw new Error(`The document store does not delete ${files[0]}.`);
    await tell({ files: data.length });
  }
}

/** Deletes the account's client ID first, as it references the account; the deleted ID cannot be used again. */
async function deleteAccount(
  company: Backend,
  { id, email }: { id: string; email: string },
  tell: Tell,
): Promise<void> {
  const forgotten = await company.rpc("forget_email", { email });
  if (forgotten.error) throw new Error(refusalOf({ ...forgotten.error, status: forgotten.status }).reason);
  const freed = await company.from("client_ids").delete().eq("claimed_by", id);
  if (freed.error) throw new Error(refusalOf({ ...freed.error, status: freed.status }).reason);
  const { error } = await company.auth.admin.deleteUser(id);
  if (error) throw new Error(refusalOf(error).reason);
  await tell({ account: id });
}

/** Deletes what the log of auth tells of accounts that are gone. */
async function forgetGoneAccounts(company: Backend): Promise<void> {
  const { error, status } = await company.rpc("forget_gone_accounts");
  if (error) throw new Error(refusalOf({ ...error, status }).reason);
}

/** Today in UTC, as in the database. */
function today(): string {
  return new Date().toISOString().slice(0, 10);
}
