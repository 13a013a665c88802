/**
 * One-use links in emails open these forms. Each form requires a password, and a code if the account has a second
 * factor.
 */
import type { RouterContextProvider } from "react-router";
import { z } from "zod";
import { redirectAfterLogIn } from "../lib/auth/log-in-response.server.ts";
import { getViewer } from "../lib/auth/viewer.server.ts";
import { readForm } from "../lib/forms/form-data.server.ts";
import { type IntentError, parseForm, rejectSubmission } from "../lib/forms/rejected-form.server.ts";
import { redirectWithToast } from "../lib/http/toast.server.ts";
import { type UserError, userErrorData, userErrorFromThrown } from "../lib/http/user-error.server.ts";
import { type AppSupabaseClient, getSupabase, sharedComputerContext } from "../lib/supabase/client.server.ts";
import { selectFactor, TotpCode, type TypedCredentials } from "../models/second-factor.server.ts";

type EmailLinkTarget = { email: string; factors: { id: string; name: string }[] };

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
 * Validates the form and calls `page.run`. If `page.run` returns a session, logs in, unless this browser has a
 * signed-in viewer. Otherwise redirects to the login page. An error page repeats neither the password nor the code.
 */
export async function handleEmailLinkForm<Link extends EmailLinkTarget>(
  request: Request,
  context: Readonly<RouterContextProvider>,
  page: {
    open: (token: string) => Promise<Link | UserError | null>;
    password: (link: Link | null) => z.ZodType<string>;
    run: (
      link: Link & { token: string },
      given: TypedCredentials,
    ) => Promise<{ session: AppSupabaseClient } | IntentError | null>;
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
  const result = await page
    .run(link, { ...given, factorId: selectFactor(link.factors, factor)?.id })
    .catch((error): IntentError => userErrorFromThrown(error));
  if (result && "reason" in result) return rejectSubmission(submission, null, result);
  if (!result || !(await storeSession(request, context, result.session)))
    return redirectWithToast(context, "/login", { ...page.done, variant: "default" });
  return redirectAfterLogIn(request, context, {
    email: link.email,
    isShared: true,
    requiresSecondFactor: false,
    next: "/portal",
    toast: {
      title: page.done.title,
      description: "You are logged in until you close the browser.",
      variant: "default",
    },
  });
}

/** Returns true if this browser has stored the session. Ends the session if the browser already has a signed-in viewer. */
async function storeSession(request: Request, context: Readonly<RouterContextProvider>, session: AppSupabaseClient) {
  const { data } = await session.auth.getSession();
  if (data.session && (await getViewer(request, context)) === null) {
    // The form has no checkbox for shared devices, and a person may open the link on a borrowed phone.
    context.set(sharedComputerContext, true);
    const { error } = await getSupabase(context).auth.setSession(data.session);
    if (!error) return true;
  }
  await session.auth.signOut({ scope: "local" }).catch(() => undefined);
  return false;
}
