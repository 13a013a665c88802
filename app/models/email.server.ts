import { createEmailDelivery, type PlainEmail } from "../../supabase/contract/email-delivery.ts";
import { readSettings } from "../lib/http/env.server.ts";
import { toUserError, type UserError, userErrorFromThrown } from "../lib/http/user-error.server.ts";
import type { AppSupabaseClient } from "../lib/supabase/client.server.ts";
import { type EmailContent, type EmailSender, formatSender } from "./emails.ts";

/** The action is complete even if its email was not sent. */
export type EmailResult = { sent: boolean } | UserError;

type EmailRecipient = { email: string; kind: string; account_id?: string; client_id?: string };

/** MAIL_FROM replaces `sender`. Throws if the email cannot be delivered. */
export async function sendEmail(email: Omit<PlainEmail, "from">, sender: string): Promise<void> {
  const settings = readSettings();
  await createEmailDelivery(settings)({ ...email, from: settings.emailFrom ?? sender });
}

export async function trySendEmail(
  serviceRole: AppSupabaseClient,
  head: EmailSender,
  to: EmailRecipient,
  content: EmailContent,
): Promise<{ sent: boolean }> {
  const { email, ...recipient } = to;
  const sent = await sendEmail({ to: email, ...content }, formatSender(head)).then(
    () => true,
    () => false,
  );
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
  const { data, error, status } = await serviceRole.rpc("claim_email", { idempotency_key: request, sent_to });
  if (error) return toUserError({ ...error, status });
  if (!data) return { sent: true };
  const result = await send().catch(userErrorFromThrown);
  if ("reason" in result || !result.sent) await serviceRole.rpc("release_email", { idempotency_key: request, sent_to });
  return result;
}
