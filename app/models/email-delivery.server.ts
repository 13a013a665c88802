/** Sends account emails, and shipment updates from a queue. emails.ts and shipment-email.ts have the texts. */
import { createHmac, timingSafeEqual } from "node:crypto";
import { setTimeout } from "node:timers/promises";
import { z } from "zod";
import { createEmailDelivery, type Email } from "../../supabase/contract/email-delivery.ts";
import { env, readSettings } from "../lib/http/env.server.ts";
import { log } from "../lib/http/log.server.ts";
import { type UserError, userErrorFromThrown } from "../lib/http/user-error.server.ts";
import type { AppSupabaseClient } from "../lib/supabase/client.server.ts";
import { dataOrThrow, getResultError } from "../lib/supabase/result.server.ts";
import { sortDocuments } from "./document.ts";
import { type EmailContent, type EmailSender, type RecipientName, toMailbox } from "./emails.ts";
import { nextAction } from "./shipment.ts";
import { ShipmentUpdate, shipmentUpdateEmail } from "./shipment-email.ts";
import { ChargeRecord, DocumentRecord, listNumbers, ShipmentRecord, type Stage } from "./shipment-fields.server.ts";

export type EmailResult = { sent: boolean } | UserError;

type EmailRecipient = { email: string; kind: string; name?: RecipientName; account_id?: string; client_id?: string };

/** Returns false if the email could not be sent. The setting MAIL_FROM replaces the name and address of `sender`. */
export async function sendEmail(email: Omit<Email, "from">, sender: EmailSender): Promise<boolean> {
  try {
    const settings = readSettings();
    await createEmailDelivery(settings)({ ...email, from: settings.emailFrom ?? toMailbox(sender) });
    return true;
  } catch {
    return false;
  }
}

/** Sends an email. The desk lists a failed email. Without `name` in `to`, the greeting uses the account's name. */
export async function trySendEmail(
  serviceRole: AppSupabaseClient,
  sender: EmailSender,
  to: EmailRecipient,
  createEmail: (sender: EmailSender, name: RecipientName) => EmailContent,
): Promise<{ sent: boolean }> {
  const { email, name, ...recipient } = to;
  const accountName = name || (to.account_id ? await findAccountName(serviceRole, to.account_id) : null);
  const sent = await sendEmail({ to: email, ...createEmail(sender, accountName) }, sender);
  if (!sent) await serviceRole.rpc("record_failed_email", { sent_to: email, ...recipient });
  return { sent };
}

/** Returns null if the account has no name or Supabase Auth does not respond. The email is then sent without a name. */
export async function findAccountName(serviceRole: AppSupabaseClient, account: string): Promise<RecipientName> {
  const result = await serviceRole.auth.admin.getUserById(account).catch(() => null);
  const name = result?.data.user?.user_metadata.full_name;
  return typeof name === "string" && name ? name : null;
}

/** Sends an email only once for each idempotency key (`request`). A failed call can be repeated. */
export async function sendOnce(
  serviceRole: AppSupabaseClient,
  request: string | undefined,
  { name: _name, ...email }: EmailRecipient,
  send: () => Promise<EmailResult>,
): Promise<EmailResult> {
  if (!request) return send();
  const claim = await serviceRole.rpc("claim_email", { idempotency_key: request, email });
  const claimError = getResultError(claim);
  if (claimError) return claimError;
  if (!claim.data) return { sent: true };
  const result = await send().catch(userErrorFromThrown);
  if ("reason" in result || !result.sent) await serviceRole.rpc("release_email", { idempotency_key: request, email });
  return result;
}

/** Returns the failed emails that nobody has dismissed, oldest first. Throws if the backend rejects the call. */
export async function listFailedEmails(serviceRole: AppSupabaseClient) {
  const query = serviceRole.from("failed_emails").select("id, failed_at, kind, sent_to").is("resolved_at", null);
  return dataOrThrow(await query.order("failed_at").retry(false));
}

/** An item in the result of public.claim_shipment_emails. Each item becomes one email about one shipment. */
const ClaimedShipmentEmail = ShipmentRecord.extend({
  ids: z.array(z.string()),
  account_id: z.string(),
  email: z.string(),
  full_name: z.string().nullable(),
  shipment_id: z.string(),
  documents: z.array(DocumentRecord.pick({ name: true, uploaded: true, rejected_at: true })),
  charges: z.array(ChargeRecord.pick({ item: true, due_on: true, paid_at: true })),
  events: z.array(ShipmentUpdate),
});
type ClaimedShipmentEmail = z.infer<typeof ClaimedShipmentEmail>;

const claimBatchSize = 20;
/** A claim ends after 5 minutes. No email starts in the last minute, so each email is sent before its claim ends. */
const claimTimeoutMs = 240_000;

/**
 * Sends the due shipment updates and returns the number of sent emails. Several processes may call this function in
 * parallel. A later call retries a failed email for a day, and sends the emails that remain after a stop or an error.
 */
export async function sendDueShipmentEmails(
  serviceRole: AppSupabaseClient,
  sender: EmailSender,
  stages: Stage[],
  isStopped: () => boolean = () => false,
): Promise<number> {
  let count = 0;
  for (;;) {
    await recordSentEmails(serviceRole);
    const claim = await serviceRole.rpc("claim_shipment_emails", { max_count: claimBatchSize });
    const claimed = z.array(ClaimedShipmentEmail).parse(dataOrThrow(claim));
    const startedAt = performance.now();
    for (const email of claimed) {
      if (isStopped() || performance.now() - startedAt > claimTimeoutMs) return count;
      if (await sendShipmentEmail(serviceRole, sender, stages, email)) count += 1;
    }
    if (claimed.length === 0) return count;
  }
}

async function sendShipmentEmail(
  serviceRole: AppSupabaseClient,
  sender: EmailSender,
  stages: Stage[],
  { ids, account_id: account, email, ...shipment }: ClaimedShipmentEmail,
): Promise<boolean> {
  const unsubscribeUrl = createUnsubscribeUrl(account);
  const headers = { "List-Unsubscribe": `<${unsubscribeUrl}>`, "List-Unsubscribe-Post": "List-Unsubscribe=One-Click" };
  const documents = sortDocuments(shipment.documents);
  const stageAction = stages[shipment.stage - 1] as Stage;
  const details = {
    numbers: listNumbers(shipment),
    nextAction: nextAction({ ...shipment, documents }, stageAction),
  };
  const content = shipmentUpdateEmail(sender, { ...shipment, ...details }, unsubscribeUrl);
  const sent = await sendEmail({ to: email, ...content, headers }, sender);
  if (sent) for (const id of ids) unrecordedIds.add(id);
  else log("warn", "shipment email not sent", { shipment: shipment.shipment_id });
  const recorded = sent ? recordSentEmails(serviceRole) : finishEmails(serviceRole, ids, false);
  await recorded.catch(({ message }: Error) =>
    log("warn", "shipment email not recorded", { shipment: shipment.shipment_id, message }),
  );
  return sent;
}

const unrecordedIds = new Set<string>();

/** Records in the database which emails this process has sent. Throws if the backend rejects three attempts. */
export async function recordSentEmails(serviceRole: AppSupabaseClient): Promise<void> {
  const ids = [...unrecordedIds];
  if (ids.length > 0) await finishEmails(serviceRole, ids, true);
  for (const id of ids) unrecordedIds.delete(id);
}

async function finishEmails(serviceRole: AppSupabaseClient, email_ids: string[], sent: boolean): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    const result = await serviceRole.rpc("finish_shipment_emails", { email_ids, sent });
    if (!result.error || attempt === 3) return void dataOrThrow(result);
    await setTimeout(100 * 2 ** attempt);
  }
}

/** Returns an unsubscribe link that needs no login. The link becomes invalid when SESSION_SECRET changes. */
export function createUnsubscribeUrl(account: string): string {
  return `${env().origin}/unsubscribe?token=${account}.${signUnsubscribe(account)}`;
}

export function verifyUnsubscribeToken(token: string | null): string | null {
  const [account = "", signature = "", ...more] = (token ?? "").split(".");
  const [actual, expected] = [Buffer.from(signature), Buffer.from(signUnsubscribe(account))];
  const isValid = more.length === 0 && actual.length === expected.length && timingSafeEqual(actual, expected);
  return isValid ? account : null;
}

function signUnsubscribe(account: string): string {
  return createHmac("sha256", env().sessionSecret).update(`unsubscribe ${account}`).digest("base64url");
}

export async function setShipmentEmailsEnabled(serviceRole: AppSupabaseClient, account: string, enabled: boolean) {
  return getResultError(await serviceRole.rpc("set_shipment_emails_enabled", { account_id: account, enabled }));
}
