/** Pages behind a link that came by mail: its token, a password, and a code where the account has a second factor. */
import { parseWithZod } from "@conform-to/zod/v4";
import type { RouterContextProvider } from "react-router";
import { z } from "zod";
import type { Failed } from "../lib/act-form.server.ts";
import { failure, firstError, refuse } from "../lib/answer.server.ts";
import { redirectWithFlash } from "../lib/flash.server.ts";
import { readForm } from "../lib/form.server.ts";
import { type Refusal, refusalOfThrown, thrown } from "../lib/refusal.server.ts";
import { Code, chosenFactor } from "./second-factor.server.ts";

/** What such a link opens, besides what its page needs. */
type Behind = { factors: { id: string; name: string }[] };

/** What somebody gives there: the code and its authenticator where the account has one. */
export type Given = { password: string; code?: string; factorId?: string };

const Token = z.string().regex(/^[0-9a-f]{64}$/);

/**
 * What the token opens; null alike for one that is wrong, used or too old. Looking does not use it, as mail scanners open
 * links too. Throws when the backend does not answer.
 */
export async function openLinkOf<Link extends Behind>(
  token: unknown,
  open: (token: string) => Promise<Link | Refusal | null>,
): Promise<(Link & { token: string }) | null> {
  const asked = Token.safeParse(token);
  const link = asked.success ? await open(asked.data).catch(refusalOfThrown) : null;
  if (link && "reason" in link) throw thrown(link);
  return link && { ...link, token: asked.data ?? "" };
}

/**
 * The action of such a page: judges what was given, does `run`, and leads to the login with the toast `done`. A refused
 * form comes back under the title `refused`; neither password nor code come back.
 */
export async function answerLink<Link extends Behind>(
  request: Request,
  context: Readonly<RouterContextProvider>,
  page: {
    open: (token: string) => Promise<Link | Refusal | null>;
    password: (link: Link | null) => z.ZodType<string>;
    run: (link: Link & { token: string }, given: Given) => Promise<Failed | null>;
    refused: string;
    gone: string;
    done: { title: string; description: string };
  },
) {
  const form = await readForm(request);
  const link = await openLinkOf(form.get("token"), page.open);
  const code = link && link.factors.length > 0 ? Code : z.string().optional();
  const schema = z.object({ password: page.password(link), factor: z.string().optional(), code });
  const submission = parseWithZod(form, { schema });
  const hideFields = ["password", "code"];
  if (!link) return refuse(submission.reply({ hideFields }), failure(page.refused, page.gone), 400);
  if (submission.status !== "success") {
    const result = submission.reply({ hideFields });
    return refuse(result, failure(page.refused, firstError(result)));
  }
  const { factor, ...given } = submission.value;
  const refused = await page
    .run(link, { ...given, factorId: chosenFactor(link.factors, factor)?.id })
    .catch((error): Failed => refusalOfThrown(error));
  if (refused) {
    const result = submission.reply({ hideFields, fieldErrors: refused.fieldErrors });
    return refuse(result, failure(page.refused, refused.reason), refused.status);
  }
  return redirectWithFlash(context, "/login", { ...page.done, variant: "default" });
}
