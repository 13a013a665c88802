/** Sends account emails immediately, and shipment updates from the database's queue. The texts are in emails.ts. */
import { createHmac, timingSafeEqual } from "node:crypto";
import { z } from "zod";
import { createEmailDelivery, type PlainEmail } from "../../supabase/contract/email-delivery.ts";
import { env, readSettings } from "../lib/http/env.server.ts";
import { log } from "../lib/http/log.server.ts";
import { type UserError, userErrorFromThrown } from "../lib/http/user-error.server.ts";
import type { AppSupabaseClient } from "../lib/supabase/client.server.ts";
import { dataOrThrow, getResultError } from "../lib/supabase/result.server.ts";
import { type EmailContent, type EmailSender, formatSender, shipmentUpdateEmail } from "./emails.ts";
import { listNumbers, ShipmentRecord } from "./shipment-fields.server.ts";

/** `sent` is false if the action succeeded but its email was not sent. */
export type EmailResult = { sent: boolean } | UserError;

type EmailRecipient = { email: string; kind: string; account_id?: string; client_id?: string };

/** Returns false if the email cannot be delivered. The setting MAIL_FROM replaces `sender`. */
export async function sendEmail(email: Omit<PlainEmail, "from">, sender: EmailSender): Promise<boolean> {
  try {
    const settings = readSettings();
    await createEmailDelivery(settings)({ ...email, from: settings.emailFrom ?? formatSender(sender) });
    return true;
  } catch {
    return false;
  }
}

export async function trySendEmail(
  serviceRole: AppSupabaseClient,
  sender: EmailSender,
  to: EmailRecipient,
  content: EmailContent,
): Promise<{ sent: boolean }> {
  const { email, ...recipient } = to;
  const sent = await sendEmail({ to: email, ...content }, sender);
  if (!sent) await serviceRole.rpc("record_failed_email", { sent_to: email, ...recipient });
  return { sent };
}

/** Calls `send` once per idempotency key, and again only after a failure. */
export async function sendOnce(
  serviceRole: AppSupabaseClient,
  request: string | undefined,
  sent_to: string,
  send: () => Promise<EmailResult>,
): Promise<EmailResult> {
  if (!request) return send();
  const claim = await serviceRole.rpc("claim_email", { idempotency_key: request, sent_to });
  const claimError = getResultError(claim);
  if (claimError) return claimError;
  if (!claim.data) return { sent: true };
  const result = await send().catch(userErrorFromThrown);
  if ("reason" in result || !result.sent) await serviceRole.rpc("release_email", { idempotency_key: request, sent_to });
  return result;
}

/** Returns the unresolved failed emails, oldest first. Throws if the backend rejects the call. */
export async function listFailedEmails(serviceRole: AppSupabaseClient) {
  const query = serviceRole.from("failed_emails").select("id, failed_at, kind, sent_to").is("resolved_at", null);
  return dataOrThrow(await query.order("failed_at").retry(false));
}

/** The result of public.claim_shipment_emails. Each item becomes one email about one shipment. */
const ClaimedShipmentEmail = z.array(
  ShipmentRecord.extend({
    ids: z.array(z.string()),
    account_id: z.string(),
    email: z.string(),
    shipment_id: z.string(),
    events: z.array(
      z.object({
        kind: z.enum(["stage", "rejected", "note", "charge", "storage"]),
        detail: z.string(),
        reason: z.string().nullable(),
      }),
    ),
  }),
);
type ClaimedShipmentEmail = z.infer<typeof ClaimedShipmentEmail>[number];

const claimBatchSize = 20;
/** The database's claim expires after five minutes. The last minute is left for the email in progress. */
const claimTimeoutMs = 240_000;

/**
 * Sends the due shipment updates and returns their number. Several processes may send in parallel. A failed email is retried
 * for a day. If `isStopped` or an error ends the loop, the remaining emails are claimed again later.
 */
export async function sendDueShipmentEmails(
  serviceRole: AppSupabaseClient,
  sender: EmailSender,
  isStopped: () => boolean = () => false,
): Promise<number> {
  let count = 0;
  for (;;) {
    const claim = await serviceRole.rpc("claim_shipment_emails", { max_count: claimBatchSize });
    const claimed = ClaimedShipmentEmail.parse(dataOrThrow(claim));
    const startedAt = performance.now();
    for (const email of claimed) {
      if (isStopped() || performance.now() - startedAt > claimTimeoutMs) return count;
      if (await sendShipmentEmail(serviceRole, sender, email)) count += 1;
    }
    if (claimed.length === 0) return count;
  }
}

async function sendShipmentEmail(
  serviceRole: AppSupabaseClient,
  sender: EmailSender,
  { ids, account_id: account, email, ...shipment }: ClaimedShipmentEmail,
): Promise<boolean> {
  const unsubscribeUrl = createUnsubscribeUrl(account);
  if (await hasStageNote(serviceRole, shipment)) shipment.events.push({ kind: "note", detail: "note", reason: null });
  const headers = { "List-Unsubscribe": `<${unsubscribeUrl}>`, "List-Unsubscribe-Post": "List-Unsubscribe=One-Click" };
  const content = shipmentUpdateEmail(sender, { ...shipment, numbers: listNumbers(shipment) }, unsubscribeUrl);
  const sent = await sendEmail({ to: email, ...content, headers }, sender);
  dataOrThrow(await serviceRole.rpc("finish_shipment_emails", { email_ids: ids, sent }));
  if (!sent) log("warn", "shipment email not sent", { shipment: shipment.shipment_id });
  return sent;
}

/** True if a move to a new stage has a note. The queue stores only the stage, and the tracking event stores the note. */
async function hasStageNote(
  serviceRole: AppSupabaseClient,
  { shipment_id, events }: Pick<ClaimedShipmentEmail, "shipment_id" | "events">,
): Promise<boolean> {
  const stages = events.filter(({ kind }) => kind === "stage").map(({ detail }) => Number(detail));
  if (stages.length === 0 || events.some(({ kind }) => kind === "note")) return false;
  const query = serviceRole
    .from("tracking_events")
    .select("note")
    .eq("shipment_id", shipment_id)
    .neq("kind", "note")
    .in("stage", stages)
    .order("created_at", { ascending: false })
    .limit(stages.length)
    .retry(false);
  return dataOrThrow(await query).some(({ note }) => note !== null);
}

/** Returns a link that works without a login until SESSION_SECRET changes. */
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

export async function setShipmentEmailsEnabled(
  serviceRole: AppSupabaseClient,
  account: string,
  enabled: boolean,
): Promise<UserError | null> {
  return getResultError(await serviceRole.rpc("set_shipment_emails_enabled", { account_id: account, enabled }));
}
