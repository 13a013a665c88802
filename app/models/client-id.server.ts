import { z } from "zod";
import { foldCode } from "../lib/forms/text-fields.ts";
import type { UserError } from "../lib/http/user-error.server.ts";
import type { AppSupabaseClient } from "../lib/supabase/client.server.ts";
import { dataOrThrow, fetchPages, getResultError } from "../lib/supabase/result.server.ts";
import { type EmailResult, sendOnce, trySendEmail } from "./email-delivery.server.ts";
import { clientInvitationEmail, type EmailSender } from "./emails.ts";
import { resultOrThrow, runStaffAction, type StaffActionOptions, type StaffActionResult } from "./staff.server.ts";

/** Returns a Client ID such as 7K3Q-X9MD-2HTV-W5BC. The letters O, I and L are read as digits (Crockford's base 32). */
export function normalizeClientId(input: string): string {
  const typed = foldCode(input);
  const plain = typed.toUpperCase().replace(/[\s-]/g, "").replace(/O/g, "0").replace(/[IL]/g, "1");
  return /^[0-9A-HJKMNP-TV-Z]{16}$/.test(plain) ? (plain.match(/.{4}/g) ?? []).join("-") : typed.toUpperCase();
}

export const UnusedClientId = z.string().min(12).max(64);

/** Section 5 of the specification prescribes this text. */
export const clientIdRequired = "A valid Client ID provided by the company is required.";

/** The message for unknown and for used Client IDs. The hook in supabase/schemas/sign_up.sql has the same text. */
export const clientIdInvalid = "This Client ID is unknown or has already been used. Ask us for a new Client ID.";

/** Checks the Client ID first, because an error of the sign-up itself could reveal that an account exists. */
export async function admitSignUp(
  serviceRole: AppSupabaseClient,
  clientId: string,
  email: string,
): Promise<UserError | null> {
  const result = await serviceRole.rpc("admit_sign_up", { client_id: clientId, email });
  return getResultError(result) ?? (result.data === true ? null : invalidClientIdError);
}

/** Marks a Client ID as used. Ignores backend errors, because the account exists already. */
export async function redeemClientId(
  serviceRole: AppSupabaseClient,
  clientId: string,
  email: string,
): Promise<UserError | null> {
  const { data } = await serviceRole.rpc("redeem_client_id", { client_id: clientId, email });
  return data === false ? invalidClientIdError : null;
}

const invalidClientIdError: UserError = { reason: clientIdInvalid, status: 400 };

export type IssueClientIdsParams = { count: number; for?: string; email?: string };

export async function issueClientIds(
  supabase: AppSupabaseClient,
  { count, for: issued_for, email: sent_to }: IssueClientIdsParams,
  staffOptions: Omit<StaffActionOptions, "expected_version"> = {},
): Promise<StaffActionResult<string[]> | UserError> {
  const issued = await runStaffAction(supabase, "issue_client_ids", {
    how_many: count,
    issued_for,
    sent_to,
    ...staffOptions,
  });
  return "reason" in issued ? issued : { result: issued.result.map(({ client_id }) => client_id) };
}

export async function sendClientId(
  supabase: AppSupabaseClient,
  serviceRole: AppSupabaseClient,
  sender: EmailSender,
  clientId: string,
  staffOptions: Omit<StaffActionOptions, "expected_version">,
): Promise<EmailResult> {
  const sendResult = await runStaffAction(supabase, "send_client_id", { client_id: clientId, ...staffOptions });
  if ("reason" in sendResult) return sendResult;
  const email = sendResult.result;
  const { data } = await serviceRole.from("client_ids").select("issued_for").eq("client_id", clientId).maybeSingle();
  const name = data?.issued_for ?? null;
  return sendOnce(serviceRole, staffOptions.idempotency_key, email, () =>
    trySendEmail(serviceRole, sender, { kind: "client ID", email, name, client_id: clientId }, (recipient) =>
      clientInvitationEmail(sender, recipient, clientId),
    ),
  );
}

/** `account_id` of a used Client ID is null if the account was deleted or replaced by a later sign-up. */
export async function listClientIds(serviceRole: AppSupabaseClient) {
  const all = [];
  const pages = fetchPages((first, last) =>
    serviceRole
      .from("client_ids")
      .select("client_id, account_id, claimed_at, email_hash, created_at, issued_for, sent_to")
      .order("created_at", { ascending: false })
      .order("client_id")
      .range(first, last)
      .retry(false),
  );
  for await (const page of pages)
    all.push(...page.map(({ email_hash, ...row }) => ({ ...row, isUsed: email_hash !== null })));
  return all;
}

export async function ensureUnusedClientId(serviceRole: AppSupabaseClient): Promise<string> {
  const query = serviceRole.from("client_ids").select("client_id").is("email_hash", null);
  const [existing] = dataOrThrow(await query.order("created_at").limit(1).retry(false));
  const [unused] = existing ? [existing.client_id] : resultOrThrow(await issueClientIds(serviceRole, { count: 1 }));
  if (!unused) throw new Error("The backend issued no Client ID.");
  return unused;
}
