import { type ReactNode, useEffect, useRef, useState } from "react";
import { Form, useActionData, useNavigation } from "react-router";
import { TextField } from "~/components/forms/field";
import { ErrorSummary, type FormField, type RejectedForm, SubmitButton, useActionForm } from "~/components/forms/form";

/** The result of a rejected form: `form` is its id on the page, and `idempotencyKey` the key that it was sent with. */
export type RejectedIntent = RejectedForm & { form?: string; idempotencyKey?: string };

/**
 * The key of a rejected form stays: if its action took effect and the response was lost, sending it again has no
 * second effect.
 */
export function getIdempotencyKey(answer: RejectedIntent | undefined, fresh: string): string {
  return answer?.idempotencyKey ?? fresh;
}

/** Returns the id, intent and fields of a form. `target` identifies one of several forms with the same intent. */
export function useIntentForm<const Name extends string>(
  intent: string,
  answer: RejectedIntent | undefined,
  names: readonly Name[],
  target = "",
) {
  const id = target ? `${intent}-${target}` : intent;
  const refused = answer?.form === id ? answer : undefined;
  const [, fields] = useActionForm(id, refused, names);
  return { id, intent, refused, fields };
}

export function withStoredValue(field: FormField, refused: RejectedForm | undefined, stored: string): FormField {
  return refused?.result ? field : { ...field, value: stored };
}

/** The form sends the version that it was opened with, and an idempotency key. */
export function IntentForm(props: {
  id: string;
  intent: string;
  expectedVersion?: number;
  idempotencyKey?: string;
  action?: string;
  className?: string;
  children: ReactNode;
}) {
  const { id, intent, expectedVersion, idempotencyKey, action, className, children } = props;
  const emptied = useResetCount(id);
  return (
    <Form key={emptied} method="post" action={action} id={id} noValidate preventScrollReset className={className}>
      <input type="hidden" name="intent" value={intent} />
      <input type="hidden" name="form" value={id} />
      {expectedVersion !== undefined && <input type="hidden" name="expectedVersion" value={expectedVersion} />}
      {idempotencyKey && <input type="hidden" name="idempotencyKey" value={idempotencyKey} />}
      {children}
    </Form>
  );
}

/** Counts successful submissions. As a React key, the count empties this form, while other forms keep their values. */
function useResetCount(id: string): number {
  const [count, setCount] = useState(0);
  const { state, formData } = useNavigation();
  const answer = useActionData() as RejectedIntent | undefined;
  const isUnderWay = state !== "idle" && formData?.get("form") === id;
  const wasUnderWay = useRef(false);
  useEffect(() => {
    const isTaken = wasUnderWay.current && !isUnderWay && answer?.form !== id;
    wasUnderWay.current = isUnderWay;
    if (!isTaken) return;
    document.getElementById(id)?.closest("details")?.removeAttribute("open");
    setCount((times) => times + 1);
  }, [isUnderWay, answer, id]);
  return count;
}

export function IntentErrorSummary({ answer }: { answer: RejectedIntent | undefined }) {
  const problems = Object.entries(answer?.result?.error ?? {}).flatMap(([name, errors]) =>
    (errors ?? []).map((text) => ({ id: `${answer?.form}-${name}`, text })),
  );
  const words = answer?.toast?.description;
  if (problems.length === 0 && words) problems.push({ id: answer?.form ?? "", text: words });
  return <ErrorSummary answer={answer} problems={problems} />;
}

/** Folded under a title; open after a rejection. */
export function FormDisclosure({ title, open, children }: { title: ReactNode; open: boolean; children: ReactNode }) {
  return (
    <details open={open} className="px-4 pb-2 open:pb-4">
      <summary className="inline-flex min-h-11 cursor-pointer items-center text-sm underline">{title}</summary>
      {children}
    </details>
  );
}

/** `of` names the subject for screen readers. `on` is the field that selects one of several subjects. */
export function ReasonForm(props: {
  intent: string;
  title: string;
  subject?: string;
  text?: string;
  hint?: string;
  hiddenFields?: Record<string, string>;
  expectedVersion?: number;
  idempotencyKey?: string;
  answer: RejectedIntent | undefined;
}) {
  const { intent, title, subject, text, hint, hiddenFields = {}, expectedVersion, idempotencyKey, answer } = props;
  const { id, fields, refused } = useIntentForm(intent, answer, ["reason"], Object.values(hiddenFields)[0]);
  const words = (
    <span>
      {title}
      {subject && <span className="sr-only">{subject}</span>}
    </span>
  );
  return (
    <FormDisclosure title={words} open={refused !== undefined}>
      {text && <p className="mb-3 text-sm text-quiet">{text}</p>}
      <IntentForm id={id} intent={intent} expectedVersion={expectedVersion} idempotencyKey={idempotencyKey}>
        {Object.entries(hiddenFields).map(([name, value]) => (
          <input key={name} type="hidden" name={name} value={value} />
        ))}
        <TextField field={fields.reason} label="Reason" hint={hint} rows={2} mandatory />
        <SubmitButton look="plain" pending="Saving…">
          {words}
        </SubmitButton>
      </IntentForm>
    </FormDisclosure>
  );
}
