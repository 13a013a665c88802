import { renderSVG } from "uqr";
import type { Viewer } from "../lib/auth/viewer.server.ts";
import { dayInEastAfrica, monthName } from "../lib/dates.ts";
import type { IntentError } from "../lib/forms/rejected-form.server.ts";
import { codeLine } from "../lib/forms/text-fields.ts";
import { log, pseudonym } from "../lib/http/log.server.ts";
import type { RateLimiter } from "../lib/http/rate-limiter.server.ts";
import { toUserError, type UserError, userErrorFromThrown } from "../lib/http/user-error.server.ts";
import type { AppSupabaseClient } from "../lib/supabase/client.server.ts";
import { sendOnce, trySendEmail } from "./email-delivery.server.ts";
import { secondFactorRemovedEmail } from "./emails.ts";
import { runStaffAction, type StaffActionCall, type StaffActionResult } from "./staff.server.ts";

export const TotpCode = codeLine("Enter the 6-digit code.")
  .overwrite((code) => code.replace(/[ -]/g, ""))
  .regex(/^\d{6}$/, "The code must have 6 digits.");

export type TypedCredentials = { password: string; code?: string; factorId?: string };

export type TotpSetup = { factorId: string; secret: string; uri: string };

type CodeFailure = IntentError & { title: "Error challenging" | "Verification failed" };

/** The code field shows the error if the status is 400, because the code is then wrong or used. */
export function toCodeFailure(title: CodeFailure["title"], error: UserError, ...hints: string[]): CodeFailure {
  return { ...error, title, fieldErrors: error.status === 400 ? { code: [error.reason, ...hints] } : undefined };
}

export const createFactorName = () => `Phone added in ${monthName(dayInEastAfrica(new Date()).slice(0, 7))}`;

export async function startFactorSetup(client: Viewer, issuer: string, name: string): Promise<TotpSetup | UserError> {
  const { mfa } = client.supabase.auth;
  const factorList = await mfa.listFactors();
  if (factorList.error) return toUserError(factorList.error);
  for (const { id } of factorList.data.all.filter(({ status }) => status === "unverified")) {
    const unenrolled = await mfa.unenroll({ factorId: id });
    if (unenrolled.error) return toUserError(unenrolled.error);
  }
  const usedNames = factorList.data.totp.map((factor) => factor.friendly_name);
  const numbers = Array.from({ length: usedNames.length }, (_, index) => ` (${index + 2})`);
  const friendlyName = ["", ...numbers].map((number) => name + number).find((name) => !usedNames.includes(name));
  const { data, error } = await mfa.enroll({ factorType: "totp", friendlyName, issuer });
  if (error) {
    // Supabase Auth responds with 500 if a parallel setup takes the name after Auth has checked the name.
    const current = error.status === 500 ? (await mfa.listFactors()).data?.all : undefined;
    const isNameTaken = current?.some((factor) => factor.friendly_name === friendlyName);
    return toUserError(isNameTaken ? { message: error.message, code: "mfa_factor_name_conflict" } : error);
  }
  return { factorId: data.id, secret: data.totp.secret, uri: data.totp.uri };
}

const clockHint = "Check that your phone's clock is set automatically.";
const wrongCode = toCodeFailure(
  "Verification failed",
  { reason: "The code is incorrect. Please try again.", status: 400 },
  clockHint,
);
const usedCode = toCodeFailure(
  "Verification failed",
  { reason: "You have already tried this code. Wait for the next code.", status: 400 },
  clockHint,
);

export function selectFactor<Factor extends { name: string }>(factors: readonly Factor[], name?: string) {
  return factors.find((factor) => factor.name === name) ?? factors[0];
}

/** Accepts a code of any of the factors. Wrong codes for an emailed `link` have a separate limit. */
export async function verifyTotp(
  client: Pick<Viewer, "id" | "email" | "supabase">,
  limits: RateLimiter,
  factorIds: readonly string[],
  code: string,
  link?: string,
): Promise<CodeFailure | null> {
  const guess = await limits.consumeTotpAttempt(client.id, client.email, link);
  if ("reason" in guess) return toCodeFailure("Verification failed", guess);
  let failure: CodeFailure | null = wrongCode;
  for (const factorId of factorIds) {
    failure = await verifyFactor(client.supabase, limits, factorId, code);
    if (failure !== wrongCode) break;
  }
  if (failure !== wrongCode) guess.refund();
  const account = pseudonym(client.email);
  if (failure) log("warn", "code failed", { account, status: failure.status });
  else log("info", "code accepted", { account });
  return failure;
}

/** Accepts each code once, unlike hosted Supabase Auth. */
async function verifyFactor(supabase: AppSupabaseClient, limits: RateLimiter, factorId: string, code: string) {
  const use = await limits.consumeTotp(factorId, code);
  if ("reason" in use) return use.status === 429 ? usedCode : toCodeFailure("Verification failed", use);
  const failure = await challengeAndVerify(supabase, factorId, code).catch((error: unknown) =>
    toCodeFailure("Error challenging", userErrorFromThrown(error)),
  );
  // If Supabase Auth did not check the code, the person may try the same code again.
  if (failure && failure !== wrongCode) use.refund();
  return failure;
}

/** Hosted Supabase Auth requires the same IP address for challenge and verify, so the server makes both calls. */
async function challengeAndVerify(supabase: AppSupabaseClient, factorId: string, code: string) {
  const { mfa } = supabase.auth;
  const challenge = await mfa.challenge({ factorId });
  if (challenge.error) return toCodeFailure("Error challenging", toUserError(challenge.error));
  const { error } = await mfa.verify({ factorId, challengeId: challenge.data.id, code });
  if (!error) return null;
  return error.code === "mfa_verification_failed"
    ? wrongCode
    : toCodeFailure("Verification failed", toUserError(error));
}

/** Accepts a code from any app of the account, because the phone with the app to remove may be lost. */
export async function removeFactor(client: Viewer, limits: RateLimiter, factorId: string, code: string) {
  const otherIds = client.factors.map(({ id }) => id).filter((id) => id !== factorId);
  const failure = await verifyTotp(client, limits, [factorId, ...otherIds], code);
  if (failure) return failure;
  const { error } = await client.supabase.auth.mfa.unenroll({ factorId });
  return error && toCodeFailure("Verification failed", toUserError(error));
}

export function renderQrCode(uri: string): string {
  return renderSVG(uri, { border: 4, whiteColor: "white", blackColor: "black" });
}

export function createTotpUri(secret: string, email: string, issuer: string): string {
  const label = `${encodeURIComponent(issuer)}:${encodeURIComponent(email)}`;
  return `otpauth://totp/${label}?issuer=${encodeURIComponent(issuer)}&secret=${secret}&algorithm=SHA1&digits=6&period=30`;
}

/**
 * Removes an account's 2FA and ends its sessions. Returns the email address. Only leads can reset a team member's 2FA.
 */
export async function removeSecondFactors(
  { supabase, serviceRole, emailSender, options: { idempotency_key, actor_name } }: StaffActionCall,
  account_id: string,
  reason: string,
): Promise<StaffActionResult<string> | UserError> {
  const sender = emailSender();
  const args = { account_id, reason, idempotency_key, actor_name };
  const action = await runStaffAction(supabase, "remove_second_factors", args);
  if ("reason" in action) return action;
  const email = action.result;
  const to = { email, account_id, kind: "second factor" };
  await sendOnce(serviceRole(), idempotency_key, to, () =>
    trySendEmail(serviceRole(), sender, to, secondFactorRemovedEmail),
  );
  return { result: email };
}
