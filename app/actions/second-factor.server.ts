/** The forms of second factors, in the portal and at the desk. */
import type { SubmissionResult } from "@conform-to/react";
import { parseWithZod } from "@conform-to/zod/v4";
import { data, type RouterContextProvider } from "react-router";
import { z } from "zod";
import type { Factor, Viewer } from "../lib/auth/viewer.server.ts";
import { readForm } from "../lib/forms/form-data.server.ts";
import {
  createErrorToast,
  createTotpFieldErrors,
  getFirstError,
  rejectForm,
} from "../lib/forms/rejected-form.server.ts";
import { getRateLimiter } from "../lib/http/rate-limiter.server.ts";
import { redirectWithToast } from "../lib/http/toast.server.ts";
import type { Toast } from "../lib/http/toast.ts";
import { userErrorFromThrown } from "../lib/http/user-error.server.ts";
import { companyDetails } from "../models/content.server.ts";
import {
  createTotpUri,
  removeFactor,
  renderQrCode,
  startFactorSetup,
  TotpCode,
  verifyTotp,
} from "../models/second-factor.server.ts";

type RouterContext = Readonly<RouterContextProvider>;

export type TotpSetupData = { factorId: string; secret: string; uri: string; qr: string };

/** `setup` is missing if the backend's response was lost. The page then stays unchanged. */
export type TotpSetupActionData = { result: SubmissionResult | null; toast?: Toast; setup?: TotpSetupData | null };

const StartedSetupFields = z.object({ factorId: z.uuid(), secret: z.string().regex(/^[A-Z2-7]{16,128}$/) });
const TotpFields = z.object({ code: TotpCode });

/** Starts a set-up, or confirms its factor with a code. The secret is stored only in the page's form. */
export async function handleFactorSetup(request: Request, context: RouterContext, client: Viewer, next: string) {
  const form = await readForm(request);
  const issuer = companyDetails.short_name;
  if (!form.has("factorId")) {
    const setup = await startFactorSetup(client, issuer).catch(userErrorFromThrown);
    if ("reason" in setup)
      return createNotStartedResult(createErrorToast("Error setting up 2FA", setup.reason), setup.status);
    return data({ result: null, toast: undefined, setup: toSetupData(setup.factorId, setup.secret, setup.uri) });
  }

  const begun = StartedSetupFields.safeParse({ factorId: form.get("factorId"), secret: form.get("secret") });
  if (!begun.success)
    return createNotStartedResult(
      createErrorToast("Verification failed", "This form arrived damaged. Start again."),
      400,
    );
  const { factorId, secret } = begun.data;
  const setup = toSetupData(factorId, secret, createTotpUri(secret, client.email, issuer));
  const submission = parseWithZod(form, { schema: TotpFields });
  if (submission.status !== "success") {
    const result = submission.reply({ hideFields: ["code"] });
    return rejectForm(result, createErrorToast("Verification failed", getFirstError(result)), 400, { setup });
  }
  const failed = await verifyTotp(client, getRateLimiter(context), factorId, submission.value.code);
  // A set-up in another window has replaced this factor: no code can confirm it.
  if (failed?.status === 409) return createNotStartedResult(createErrorToast(failed.title, failed.reason), 409);
  if (failed) {
    const result = submission.reply({ hideFields: ["code"], fieldErrors: createTotpFieldErrors(failed) });
    return rejectForm(result, createErrorToast(failed.title, failed.reason), failed.status, { setup });
  }
  return redirectWithToast(context, next, {
    title: "2FA Enabled!",
    description: "Your account is now more secure.",
    variant: "default",
  });
}

function createNotStartedResult(toast: Toast, status: number) {
  return data({ result: null, toast, setup: null }, { status });
}

function toSetupData(factorId: string, secret: string, uri: string): TotpSetupData {
  return { factorId, secret, uri, qr: renderQrCode(uri) };
}

/** Returns the viewer's factor. Throws a 404 for any other ID. */
export function requireOwnFactor(client: Viewer, id: string): Factor {
  const factor = client.factors.find((one) => one.id === id);
  if (!factor) throw data("Not found", { status: 404 });
  return factor;
}

/** Removes a factor with its code. `left` is the toast's text after the last one. */
export async function handleFactorRemoval(
  request: Request,
  context: RouterContext,
  client: Viewer,
  id: string,
  { next, left }: { next: string; left: string },
) {
  const factor = requireOwnFactor(client, id);
  const submission = parseWithZod(await readForm(request), { schema: TotpFields });
  if (submission.status !== "success") {
    const result = submission.reply({ hideFields: ["code"] });
    return rejectForm(result, createErrorToast("Verification failed", getFirstError(result)));
  }
  const { code } = submission.value;
  const failed = await removeFactor(client, getRateLimiter(context), factor.id, code).catch((error: unknown) => ({
    ...userErrorFromThrown(error),
    title: "Error challenging" as const,
  }));
  if (failed) {
    const result = submission.reply({ hideFields: ["code"], fieldErrors: createTotpFieldErrors(failed) });
    return rejectForm(result, createErrorToast(failed.title, failed.reason), failed.status);
  }
  return redirectWithToast(context, next, {
    title: "Authenticator removed",
    description: client.factors.length > 1 ? undefined : left,
    variant: "default",
  });
}
