/**
 * One-use links in emails open these forms. Each form requires a password, and a code if the account has a second
 * factor.
 */
import type { RouterContextProvider } from "react-router";
import { z } from "zod";
import { readForm } from "../lib/forms/form-data.server.ts";
import { type IntentError, parseForm, rejectSubmission } from "../lib/forms/rejected-form.server.ts";
import { redirectWithToast } from "../lib/http/toast.server.ts";
import { type UserError, userErrorData, userErrorFromThrown } from "../lib/http/user-error.server.ts";
import { selectFactor, TotpCode, type TypedCredentials } from "../models/second-factor.server.ts";

type EmailLinkTarget = { factors: { id: string; name: string }[] };

const EmailLinkToken = z.string().regex(/^[0-9a-f]{64}$/);

/**
 * Returns the account data of a one-use link, or null for a wrong, used or expired token. Opening the link does not use
 * up the token, because email scanners open links too. Throws if the backend does not respond.
 */
export async function openEmailLink<Link extends EmailLinkTarget>(
  token: unknown,
  open: (token: string) => Promise<Link | UserError | null>,
): Promise<(Link & { token: string }) | null> {
  const parsed = EmailLinkToken.safeParse(token);
  const link = parsed.success ? await open(parsed.data).catch(userErrorFromThrown) : null;
  if (link && "reason" in link) throw userErrorData(link);
  return link && { ...link, token: parsed.data ?? "" };
}

/**
 * Validates the form, calls `page.run` and redirects to the login page. An error page repeats neither the password nor
 * the code.
 */
export async function handleEmailLinkForm<Link extends EmailLinkTarget>(
  request: Request,
  context: Readonly<RouterContextProvider>,
  page: {
    open: (token: string) => Promise<Link | UserError | null>;
    password: (link: Link | null) => z.ZodType<string>;
    run: (link: Link & { token: string }, given: TypedCredentials) => Promise<IntentError | null>;
    gone: string;
    done: { title: string; description: string };
  },
) {
  const form = await readForm(request);
  const link = await openEmailLink(form.get("token"), page.open);
  const code = link && link.factors.length > 0 ? TotpCode : z.string().optional();
  const schema = z.object({ password: page.password(link), factor: z.string().optional(), code });
  const submission = parseForm(form, schema);
  if (!link) return rejectSubmission(submission, null, { reason: page.gone, status: 400 });
  if (submission.status !== "success") return rejectSubmission(submission, null);
  const { factor, ...given } = submission.value;
  const rejected = await page
    .run(link, { ...given, factorId: selectFactor(link.factors, factor)?.id })
    .catch((error): IntentError => userErrorFromThrown(error));
  if (rejected) return rejectSubmission(submission, null, rejected);
  return redirectWithToast(context, "/login", { ...page.done, variant: "default" });
}
