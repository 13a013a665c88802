/** What the pages of second factors answer: of clients in the portal, of colleagues at the desk. */
import type { SubmissionResult } from "@conform-to/react";
import { parseWithZod } from "@conform-to/zod/v4";
import { data, type RouterContextProvider } from "react-router";
import { z } from "zod";
import { Code, giveCode, qrCode, removeFactor, setupUri, startSetup } from "../models/second-factor.server.ts";
import { codeErrors, failure, firstError, refuse } from "./answer.server.ts";
import { theCompany } from "./content.server.ts";
import { redirectWithFlash } from "./flash.server.ts";
import type { Toast } from "./flash.ts";
import { readForm } from "./form.server.ts";
import { limitsOf } from "./limits.server.ts";
import { refusalOfThrown } from "./refusal.server.ts";
import type { Client, Factor } from "./session.server.ts";

type Context = Readonly<RouterContextProvider>;

/** A set-up as the page shows it: its key, its address for an app on this device, and its picture. */
export type ShownSetup = { factorId: string; secret: string; uri: string; qr: string };

/** The answer to a form of the set-up. Without `setup` the page stays as it stands: the answer was lost. */
export type SetupAnswer = { result: SubmissionResult | null; toast?: Toast; setup?: ShownSetup | null };

/** Hidden fields of the set-up form, as auth made them. */
const Begun = z.object({ factorId: z.uuid(), secret: z.string().regex(/^[A-Z2-7]{16,128}$/) });
const Given = z.object({ code: Code });

/**
 * Without a factor in the form begins one; with a factor and its code confirms it and goes on to `next`. The secret lives
 * only in the page's form.
 */
export async function answerSetup(request: Request, context: Context, client: Client, next: string) {
  const form = await readForm(request);
  const issuer = theCompany.short_name;
  if (!form.has("factorId")) {
    const setup = await startSetup(client, issuer).catch(refusalOfThrown);
    if ("reason" in setup) return notBegun(failure("Error setting up 2FA", setup.reason), setup.status);
    return data({ result: null, toast: undefined, setup: shown(setup.factorId, setup.secret, setup.uri) });
  }

  const begun = Begun.safeParse({ factorId: form.get("factorId"), secret: form.get("secret") });
  if (!begun.success) return notBegun(failure("Verification failed", "This form arrived damaged. Start again."), 400);
  const { factorId, secret } = begun.data;
  const setup = shown(factorId, secret, setupUri(secret, client.email, issuer));
  const submission = parseWithZod(form, { schema: Given });
  if (submission.status !== "success") {
    const result = submission.reply({ hideFields: ["code"] });
    return refuse(result, failure("Verification failed", firstError(result)), 400, { setup });
  }
  const failed = await giveCode(client, limitsOf(context), factorId, submission.value.code);
  // A set-up in another window has replaced this factor: no code can confirm it.
  if (failed?.status === 409) return notBegun(failure(failed.title, failed.reason), 409);
  if (failed) {
    const result = submission.reply({ hideFields: ["code"], fieldErrors: codeErrors(failed) });
    return refuse(result, failure(failed.title, failed.reason), failed.status, { setup });
  }
  return redirectWithFlash(context, next, {
    title: "2FA Enabled!",
    description: "Your account is now more secure.",
    variant: "default",
  });
}

/** The page before a set-up, with a toast that says why none began. */
function notBegun(toast: Toast, status: number) {
  return data({ result: null, toast, setup: null }, { status });
}

function shown(factorId: string, secret: string, uri: string): ShownSetup {
  return { factorId, secret, uri, qr: qrCode(uri) };
}

/** A factor of the person's own; any other id is a 404. */
export function ownFactor(client: Client, id: string): Factor {
  const factor = client.factors.find((one) => one.id === id);
  if (!factor) throw data("Not found", { status: 404 });
  return factor;
}

/** Removes a factor with a code of it, and goes on to `next`; `left` is said when it was the last. */
export async function answerRemoval(
  request: Request,
  context: Context,
  client: Client,
  id: string,
  { next, left }: { next: string; left: string },
) {
  const factor = ownFactor(client, id);
  const submission = parseWithZod(await readForm(request), { schema: Given });
  if (submission.status !== "success") {
    const result = submission.reply({ hideFields: ["code"] });
    return refuse(result, failure("Verification failed", firstError(result)));
  }
  const { code } = submission.value;
  const failed = await removeFactor(client, limitsOf(context), factor.id, code).catch((error: unknown) => ({
    ...refusalOfThrown(error),
    title: "Error challenging",
  }));
  if (failed) {
    const result = submission.reply({ hideFields: ["code"], fieldErrors: codeErrors(failed) });
    return refuse(result, failure(failed.title, failed.reason), failed.status);
  }
  return redirectWithFlash(context, next, {
    title: "Authenticator removed",
    description: client.factors.length > 1 ? undefined : left,
    variant: "default",
  });
}
