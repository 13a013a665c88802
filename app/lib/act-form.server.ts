/** Pages with several forms, of the desk or of an account: one action reads which was sent, judges it, acts, and answers. */
import { parseWithZod } from "@conform-to/zod/v4";
import { data, type RouterContextProvider } from "react-router";
import type { z } from "zod";
import { failure, firstError, refuse } from "./answer.server.ts";
import type { AtDesk } from "./desk.server.ts";
import { requireColleague } from "./desk.server.ts";
import { redirectWithFlash } from "./flash.server.ts";
import { readForm } from "./form.server.ts";
import { type Refusal, refusalOfThrown } from "./refusal.server.ts";

/** What a form says of itself besides its fields; see models/desk-act.server.ts. */
export type Sent = { seen?: number; request?: string };

/**
 * The toast that follows an act, and where it leads: another page, or a place `at` on the same one, such as "#payments";
 * `cookie` is a Set-Cookie that goes with it.
 */
export type Acted = { toast: string; to?: string; at?: string; cookie?: string };

/** One form of a page: its schema, and what it does for who sends it. */
export type FormOfPage<Who = AtDesk> = {
  schema: z.ZodType;
  run: (who: Who, value: never, sent: Sent) => Promise<Acted | Failed>;
};

/** A refusal, perhaps of one field. */
export type Failed = Refusal & { fieldErrors?: Record<string, string[]> };

/** Declares a form; the value that `run` gets is what the schema makes of the fields. */
export function formOf<Value, Who = AtDesk>(
  schema: z.ZodType<Value>,
  run: (who: Who, value: Value, sent: Sent) => Promise<Acted | Failed>,
): FormOfPage<Who> {
  return { schema, run };
}

/** The toast of an act that was done, or its refusal. */
export function toastOf<Answer>(
  outcome: { answer: Answer } | Refusal,
  toast: (answer: Answer) => string,
  at?: string,
): Acted | Refusal {
  return "reason" in outcome ? outcome : { toast: toast(outcome.answer), at };
}

/** The toast of an act whose mail may not have left, or its refusal. */
export function toastOfMail(told: { sent: boolean } | Refusal, toast: string) {
  if ("reason" in told) return told;
  return { toast: told.sent ? toast : "Done, but its mail could not be sent: it is on Today's list" };
}

/** Answers a form of the desk as answerFormOf does. */
export async function answerForm(
  request: Request,
  context: Readonly<RouterContextProvider>,
  page: string,
  forms: Readonly<Record<string, FormOfPage>>,
) {
  return answerFormOf(requireColleague(context), request, context, page, forms);
}

/**
 * Acts on the form that names itself by its field `act`, and goes back to `page` with a toast. A refused one comes back
 * with what was typed, `form`, its id on the page, and the `request` it was sent with: its answer may be all that was
 * lost, and sending it again then makes no second act. Passwords and codes do not come back.
 */
export async function answerFormOf<Who>(
  who: Who,
  request: Request,
  context: Readonly<RouterContextProvider>,
  page: string,
  forms: Readonly<Record<string, FormOfPage<Who>>>,
) {
  const sent = await readForm(request);
  const act = String(sent.get("act"));
  const one = Object.hasOwn(forms, act) ? forms[act] : undefined;
  if (!one) throw data("This form is not known here. Open the page again.", { status: 400 });
  const signed = sentWith(sent);
  const again = { form: String(sent.get("form") ?? ""), request: signed.request };
  const hideFields = ["password", "present", "code"];
  const submission = parseWithZod(sent, { schema: one.schema });
  if (submission.status !== "success") {
    const result = submission.reply({ hideFields });
    return refuse(result, notDone(firstError(result)), 400, again);
  }
  const outcome = await one.run(who, submission.value as never, signed).catch(refusalOfThrown);
  if ("reason" in outcome) {
    const { reason, status, fieldErrors } = outcome as Failed;
    // A question of the page's own is no failure: it has no words here.
    return refuse(submission.reply({ hideFields, fieldErrors }), reason ? notDone(reason) : undefined, status, again);
  }
  const place = outcome.to ?? `${page}${outcome.at ?? ""}`;
  const response = redirectWithFlash(context, place, { title: outcome.toast, variant: "default" });
  if (outcome.cookie) response.headers.append("Set-Cookie", outcome.cookie);
  return response;
}

const notDone = (why: string | undefined) => failure("Not done", why);

/** The version a form was opened at, and its own id. What is no number or no uuid counts as not sent. */
export function sentWith(form: FormData): Sent {
  const seen = form.get("seen");
  const request = form.get("request");
  return {
    seen: typeof seen === "string" && /^-?\d{1,9}$/.test(seen) ? Number(seen) : undefined,
    request:
      typeof request === "string" && /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(request) ? request : undefined,
  };
}
