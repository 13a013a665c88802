import type { SubmissionResult } from "@conform-to/react";
import { data, type RouterContextProvider } from "react-router";
import { z } from "zod";
import type { Factor, Viewer } from "../lib/auth/viewer.server.ts";
import { readForm } from "../lib/forms/form-data.server.ts";
import { findAccountError } from "../lib/forms/intent-form.server.ts";
import { createErrorToast, type ErrorTitle, parseForm, rejectSubmission } from "../lib/forms/rejected-form.server.ts";
import { toOneLine } from "../lib/forms/text-fields.ts";
import { getRateLimiter } from "../lib/http/rate-limiter.server.ts";
import { redirectWithToast } from "../lib/http/toast.server.ts";
import type { Toast } from "../lib/http/toast.ts";
import { setupReplacedText, type UserError, userErrorFromThrown } from "../lib/http/user-error.server.ts";
import { companyDetails } from "../models/content.server.ts";
import {
  createFactorName,
  createTotpUri,
  removeFactor,
  renderQrCode,
  startFactorSetup,
  TotpCode,
  toCodeFailure,
  verifyTotp,
} from "../models/second-factor.server.ts";

type RouterContext = Readonly<RouterContextProvider>;

export type TotpSetupData = { factorId: string; secret: string; uri: string; qr: string };

/**
 * If `setup` is null, the setup form closes. After a lost connection, `setup` is missing and the setup form stays open.
 */
export type TotpSetupActionData = {
  result: SubmissionResult | null;
  formError?: string;
  toast?: Toast;
  setup?: TotpSetupData | null;
};

const StartedSetupFields = z.object({ factorId: z.uuid(), secret: z.string().regex(/^[A-Z2-7]{16,128}$/) });
const maxFactorNameLength = 60;
const TotpFields = z.object({ code: TotpCode });

/**
 * Starts the setup of an authenticator app. If the form has `factorId`, completes the setup. Between the two requests,
 * a hidden form field contains the secret.
 */
export async function handleFactorSetup(request: Request, context: RouterContext, client: Viewer, next: string) {
  const form = await readForm(request);
  const accountError = findAccountError(form, client);
  if (accountError) return rejectSetup("Error setting up 2FA", accountError);
  const issuer = companyDetails.short_name;
  if (!form.has("factorId")) {
    const name = toOneLine(String(form.get("name") ?? "")).slice(0, maxFactorNameLength) || createFactorName();
    const setup = await startFactorSetup(client, issuer, name).catch(userErrorFromThrown);
    if ("reason" in setup) return rejectSetup("Error setting up 2FA", setup);
    return data({ result: null, toast: undefined, setup: toSetupData(setup.factorId, setup.secret, setup.uri) });
  }

  const started = StartedSetupFields.safeParse({ factorId: form.get("factorId"), secret: form.get("secret") });
  const reason = "We received only part of the form. Start the setup again.";
  if (!started.success) return rejectSetup("Verification failed", { reason, status: 400 });
  const { factorId, secret } = started.data;
  const setup = toSetupData(factorId, secret, createTotpUri(secret, client.email, issuer));
  const submission = parseForm(form, TotpFields);
  if (submission.status !== "success") return rejectSubmission(submission, "Verification failed", undefined, { setup });
  const failed = await verifyTotp(client, getRateLimiter(context), [factorId], submission.value.code);
  // Status 409 means that a setup in another window has replaced this factor. No code can confirm the old factor.
  if (failed?.status === 409) return rejectSetup(failed.title, { reason: setupReplacedText, status: 409 });
  if (failed) return rejectSubmission(submission, failed.title, failed, { setup });
  return redirectWithToast(context, next, {
    title: "2FA Enabled!",
    description: "Your account is now more secure.",
    variant: "default",
  });
}

function rejectSetup(title: ErrorTitle, { reason, status }: UserError) {
  return data({ result: null, toast: createErrorToast(title, reason), setup: null }, { status });
}

function toSetupData(factorId: string, secret: string, uri: string): TotpSetupData {
  return { factorId, secret, uri, qr: renderQrCode(uri) };
}

/** Throws a 404 response if the viewer has no second factor with this ID. */
export function requireOwnFactor(client: Viewer, id: string): Factor {
  const factor = client.factors.find((factor) => factor.id === id);
  if (!factor) throw data("Not found", { status: 404 });
  return factor;
}

/** Removes an authenticator app if the typed code is correct. The toast shows `lastRemovedText` if no app is left. */
export async function handleFactorRemoval(
  request: Request,
  context: RouterContext,
  client: Viewer,
  id: string,
  { next, lastRemovedText }: { next: string; lastRemovedText: string },
) {
  const factor = requireOwnFactor(client, id);
  const submission = parseForm(await readForm(request), TotpFields);
  if (submission.status !== "success") return rejectSubmission(submission, "Verification failed");
  const { code } = submission.value;
  const failed = await removeFactor(client, getRateLimiter(context), factor.id, code).catch((error: unknown) =>
    toCodeFailure("Error challenging", userErrorFromThrown(error)),
  );
  if (failed) return rejectSubmission(submission, failed.title, failed);
  return redirectWithToast(context, next, {
    title: "Authenticator app removed",
    description: client.factors.length > 1 ? undefined : lastRemovedText,
    variant: "default",
  });
}
