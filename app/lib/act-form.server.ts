/** Pages of the desk with several forms: one action reads which of them was sent, judges it, acts, and answers. */
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

/** One form of a page: its schema, what it does, and the toast that follows, or where to go on. */
export type FormOfPage = {
  schema: z.ZodType;
  run: (desk: AtDesk, value: never, sent: Sent) => Promise<{ toast: string; to?: string } | Refusal>;
};

/** Declares a form; the value that `run` gets is what the schema makes of the fields. */
export function formOf<Value>(
  schema: z.ZodType<Value>,
  run: (desk: AtDesk, value: Value, sent: Sent) => Promise<{ toast: string; to?: string } | Refusal>,
): FormOfPage {
  return { schema, run };
}

/** The toast of an act that was done, or its refusal. */
export function then<Answer>(outcome: { answer: Answer } | Refusal, toast: (answer: Answer) => string) {
  return "reason" in outcome ? outcome : { toast: toast(outcome.answer) };
}

/**
 * Acts on the form that names itself by its field `act`, and goes back to `page` with a toast. A refused one comes back
 * with what was typed, `form`, its id on the page, and the `request` it was sent with: its answer may be all that was
 * lost, and sending it again then makes no second act.
 */
export async function answerForm(
  request: Request,
  context: Readonly<RouterContextProvider>,
  page: string,
  forms: Readonly<Record<string, FormOfPage>>,
) {
  const desk = requireColleague(context);
  const sent = await readForm(request);
  const act = String(sent.get("act"));
  const one = Object.hasOwn(forms, act) ? forms[act] : undefined;
  if (!one) throw data("This form is not known here. Open the page again.", { status: 400 });
  const signed = sentWith(sent);
  const again = { form: String(sent.get("form") ?? ""), request: signed.request };
  const submission = parseWithZod(sent, { schema: one.schema });
  if (submission.status !== "success") {
    const result = submission.reply();
    return refuse(result, failure("Not done", firstError(result)), 400, again);
  }
  const outcome = await one.run(desk, submission.value as never, signed).catch(refusalOfThrown);
  if ("reason" in outcome)
    return refuse(submission.reply(), failure("Not done", outcome.reason), outcome.status, again);
  return redirectWithFlash(context, outcome.to ?? page, { title: outcome.toast, variant: "default" });
}

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
