/** Second factors (TOTP): set-up, check and removal by the client; reset by staff after a loss. */
import { renderSVG } from "uqr";
import { z } from "zod";
import type { Viewer } from "../lib/auth/viewer.server.ts";
import { eastAfricaTime } from "../lib/dates.ts";
import { log, pseudonym } from "../lib/http/log.server.ts";
import type { RateLimiter } from "../lib/http/rate-limiter.server.ts";
import { toUserError, type UserError, userErrorFromThrown } from "../lib/http/user-error.server.ts";
import type { AppSupabaseClient } from "../lib/supabase/client.server.ts";
import { trySendEmail } from "./email.server.ts";
import { type EmailSender, secondFactorRemovedEmail } from "./emails.ts";
import { runStaffAction, type StaffActionResult } from "./staff-action.server.ts";

/** A code as people type it: spaces are no mistake. */
export const TotpCode = z
  .string("Enter the six digits of the code.")
  .transform((code) => code.replace(/\s/g, ""))
  .pipe(z.string().regex(/^\d{6}$/, "The code has six digits."));

/** What a person needs to set up an authenticator. `secret` is base 32. */
export type TotpSetup = { factorId: string; secret: string; uri: string };

/** A refusal with its title of the error catalogue. */
export type CodeFailure = UserError & { title: "Error challenging" | "Verification failed" };

/**
 * Begins a second factor. One that was begun before and never finished is dropped first, so that leaving half-way
 * blocks nothing. `issuer` is the name an authenticator shows.
 */
export async function startFactorSetup(client: Viewer, issuer: string): Promise<TotpSetup | UserError> {
  const { mfa } = client.supabase.auth;
  const listed = await mfa.listFactors();
  if (listed.error) return toUserError(listed.error);
  for (const { id } of listed.data.all.filter(({ status }) => status === "unverified")) {
    const dropped = await mfa.unenroll({ factorId: id });
    if (dropped.error) return toUserError(dropped.error);
  }
  const friendlyName = `Authenticator, ${eastAfricaTime(new Date().toISOString())}`;
  const taken = new Set(listed.data.all.map((factor) => factor.friendly_name));
  const name = taken.has(friendlyName) ? `${friendlyName} (${taken.size + 1})` : friendlyName;
  const { data, error } = await mfa.enroll({ factorType: "totp", friendlyName: name, issuer });
  if (error) return toUserError(error);
  return { factorId: data.id, secret: data.totp.secret, uri: data.totp.uri };
}

const wrongCode: CodeFailure = {
  title: "Verification failed",
  reason: "The code is incorrect. Please try again.",
  status: 400,
};

const usedCode: CodeFailure = { ...wrongCode, reason: "This code was entered before. Wait for the next one." };

/** The authenticator that a form names; the first one where it names none of them, undefined where there is none. */
export function selectFactor<Factor extends { name: string }>(factors: readonly Factor[], name?: string) {
  return factors.find((factor) => factor.name === name) ?? factors[0];
}

/**
 * Verifies a code of a factor of the client's; null when it was right, and the session is then AAL2. Wrong codes count
 * against the limits, those behind a `link` from a mail apart. Each code is accepted once: hosted auth would accept it
 * repeatedly within its 90 seconds.
 */
export async function verifyTotp(
  client: Pick<Viewer, "id" | "email" | "supabase">,
  limits: RateLimiter,
  factorId: string,
  code: string,
  link?: string,
): Promise<CodeFailure | null> {
  const guess = await limits.consumeTotpAttempt(client.id, client.email, link);
  if ("reason" in guess) return { ...guess, title: "Verification failed" };
  const use = await limits.consumeTotp(factorId, code);
  if ("reason" in use) {
    guess.refund();
    return use.status === 429 ? usedCode : { ...use, title: "Verification failed" };
  }
  const failed = await challengeAndVerify(client.supabase, factorId, code).catch((error: unknown) => ({
    ...userErrorFromThrown(error),
    title: "Error challenging" as const,
  }));
  const account = pseudonym(client.email);
  if (failed) log("warn", "code failed", { account, status: failed.status });
  else log("info", "code accepted", { account });
  if (failed === wrongCode) return failed;
  if (!failed) guess.refund();
  // The backend did not check the code: it may be sent again.
  else for (const attempt of [guess, use]) attempt.refund();
  return failed;
}

/** Challenges the factor and verifies the code at once: hosted auth requires one IP address for both. */
async function challengeAndVerify(
  backend: AppSupabaseClient,
  factorId: string,
  code: string,
): Promise<CodeFailure | null> {
  const { mfa } = backend.auth;
  const challenged = await mfa.challenge({ factorId });
  if (challenged.error) return { ...toUserError(challenged.error), title: "Error challenging" };
  const { error } = await mfa.verify({ factorId, challengeId: challenged.data.id, code });
  if (!error) return null;
  if (error.code === "mfa_verification_failed") return wrongCode;
  return { ...toUserError(error), title: "Verification failed" };
}

/** Removes a factor of the client's with a fresh code of that factor; null when it is gone. */
export async function removeFactor(
  client: Viewer,
  limits: RateLimiter,
  factorId: string,
  code: string,
): Promise<CodeFailure | null> {
  const failed = await verifyTotp(client, limits, factorId, code);
  if (failed) return failed;
  const { error } = await client.supabase.auth.mfa.unenroll({ factorId });
  return error ? { ...toUserError(error), title: "Verification failed" } : null;
}

/** The picture an authenticator scans: an SVG of black on white with its quiet zone. */
export function renderQrCode(uri: string): string {
  return renderSVG(uri, { border: 4, whiteColor: "white", blackColor: "black" });
}

/** The `otpauth:` address again, for a form that comes back after a wrong code. */
export function createTotpUri(secret: string, email: string, issuer: string): string {
  const label = `${encodeURIComponent(issuer)}:${encodeURIComponent(email)}`;
  return `otpauth://totp/${label}?issuer=${encodeURIComponent(issuer)}&secret=${secret}&algorithm=SHA1&digits=6&period=30`;
}

/**
 * Takes all second factors off an account whose owner lost theirs; a colleague's only by a lead. Answers how many there
 * were. Its sessions end, and its owner is told by mail.
 */
export async function removeSecondFactors(
  backend: AppSupabaseClient,
  company: AppSupabaseClient,
  head: EmailSender,
  account: string,
  reason: string | null,
  actor_name?: string,
): Promise<StaffActionResult<number> | UserError> {
  const done = await runStaffAction(backend, "remove_second_factors", { account_id: account, reason, actor_name });
  if ("reason" in done) return done;
  const { removed, email } = z.object({ removed: z.number(), email: z.string() }).parse(done.result);
  await trySendEmail(
    company,
    head,
    { email, account_id: account, kind: "second factor" },
    secondFactorRemovedEmail(head),
  );
  return { result: removed };
}
