/** Notices: mails to clients about their shipments. The database writes them with each act; any process of the site sends them. */
import { createHmac, timingSafeEqual } from "node:crypto";
import { z } from "zod";
import { env } from "../lib/http/env.server.ts";
import { log } from "../lib/http/log.server.ts";
import { toUserError, type UserError } from "../lib/http/user-error.server.ts";
import type { AppSupabaseClient } from "../lib/supabase/client.server.ts";
import { sendEmail } from "./email.server.ts";
import { type EmailSender, formatSender, shipmentUpdateEmail } from "./emails.ts";
import { listNumbers, ShipmentRecord } from "./shipment-fields.server.ts";

/** What public.claim_shipment_emails answers: one of these is one mail. */
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

/** Mails claimed at once. */
const claimBatchSize = 20;
/** How long mails of one claim are begun, in milliseconds: before the claim ends after five minutes, also with a slow server. */
const claimTimeoutMs = 240_000;

/**
 * Sends every notice that is due, each once however many processes do this; how many mails left. One that fails is tried
 * again later, for a day. Throws when the backend does not answer; what was claimed then, or when `isStopped`, is sent in a
 * later round.
 */
export async function sendDueShipmentEmails(
  company: AppSupabaseClient,
  head: EmailSender,
  isStopped: () => boolean = () => false,
): Promise<number> {
  let count = 0;
  for (;;) {
    const { data, error, status } = await company.rpc("claim_shipment_emails", { max_count: claimBatchSize });
    if (error) throw new Error(toUserError({ ...error, status }).reason);
    const claimed = ClaimedShipmentEmail.parse(data);
    const began = performance.now();
    for (const one of claimed) {
      if (isStopped() || performance.now() - began > claimTimeoutMs) return count;
      if (await sendShipmentEmail(company, head, one)) count += 1;
    }
    if (claimed.length === 0) return count;
  }
}

async function sendShipmentEmail(
  company: AppSupabaseClient,
  head: EmailSender,
  { ids, account_id: account, email, ...told }: ClaimedShipmentEmail,
): Promise<boolean> {
  const stop = createUnsubscribeUrl(account);
  if (await hasStageNote(company, told)) told.events.push({ kind: "note", detail: "note", reason: null });
  const headers = { "List-Unsubscribe": `<${stop}>`, "List-Unsubscribe-Post": "List-Unsubscribe=One-Click" };
  const sent = await sendEmail(
    { to: email, ...shipmentUpdateEmail(head, { ...told, numbers: listNumbers(told) }, stop), headers },
    formatSender(head),
  ).then(
    () => true,
    () => false,
  );
  const { error, status } = await company.rpc("finish_shipment_emails", { email_ids: ids, sent });
  if (error) throw new Error(toUserError({ ...error, status }).reason);
  if (!sent) log("warn", "notice not sent", { shipment: told.shipment_id });
  return sent;
}

/**
 * Whether one of the moves that a mail tells came with a note, where the mail tells of no other note. A move's notice has
 * its stage alone; the note stands in the move's event, of which there is one for each such notice.
 */
async function hasStageNote(
  company: AppSupabaseClient,
  told: Pick<ClaimedShipmentEmail, "shipment_id" | "events">,
): Promise<boolean> {
  const stages = told.events.filter(({ kind }) => kind === "stage").map(({ detail }) => Number(detail));
  if (stages.length === 0 || told.events.some(({ kind }) => kind === "note")) return false;
  const { data, error, status } = await company
    .from("tracking_events")
    .select("note")
    .eq("shipment_id", told.shipment_id)
    .neq("kind", "note")
    .in("stage", stages)
    .order("created_at", { ascending: false })
    .limit(stages.length)
    .retry(false);
  if (error) throw new Error(toUserError({ ...error, status }).reason);
  return data.some(({ note }) => note !== null);
}

/** The page where an account stops its notices without a login. Good until SESSION_SECRET changes. */
export function createUnsubscribeUrl(account: string): string {
  return `${env().origin}/unsubscribe?token=${account}.${signUnsubscribe(account)}`;
}

/** The account of a stop link's token; null when it is none of ours. */
export function verifyUnsubscribeToken(token: string | null): string | null {
  const [account = "", signature = "", ...more] = (token ?? "").split(".");
  const [given, right] = [Buffer.from(signature), Buffer.from(signUnsubscribe(account))];
  return more.length === 0 && given.length === right.length && timingSafeEqual(given, right) ? account : null;
}

function signUnsubscribe(account: string): string {
  return createHmac("sha256", env().sessionSecret).update(`stop notices ${account}`).digest("base64url");
}

/** Whether an account gets notices from now on; what waits for one that wants none is dropped. Null, or a refusal. */
export async function setShipmentEmailsEnabled(
  company: AppSupabaseClient,
  account: string,
  wanted: boolean,
): Promise<UserError | null> {
  const { error, status } = await company.rpc("set_shipment_emails_enabled", { account_id: account, enabled: wanted });
  return error ? toUserError({ ...error, status }) : null;
}
