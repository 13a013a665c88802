import { type ReactNode, useEffect, useRef, useState } from "react";
import { Form, useActionData, useNavigation } from "react-router";
import { TextField } from "~/components/forms/field";
import {
  ErrorSummary,
  type FormField,
  getFormError,
  type RejectedForm,
  SubmitButton,
  useActionForm,
} from "~/components/forms/form";

/** The result of a rejected form: `form` is its id on the page, and `idempotencyKey` the key that it was sent with. */
export type RejectedIntent = RejectedForm & { form?: string; idempotencyKey?: string };

/**
 * The key of a rejected form stays: if its action took effect and the response was lost, sending it again has no
 * second effect.
 */
export function getIdempotencyKey(actionData: RejectedIntent | undefined, fresh: string): string {
  return actionData?.idempotencyKey ?? fresh;
}

/** Returns the id, intent and fields of a form. `target` identifies one of several forms with the same intent. */
export function useIntentForm<const Name extends string>(
  intent: string,
  actionData: RejectedIntent | undefined,
  names: readonly Name[],
  target = "",
) {
  const id = target ? `${intent}-${target}` : intent;
  const rejected = actionData?.form === id ? actionData : undefined;
  const [, fields] = useActionForm(id, rejected, names);
  return { id, intent, rejected, fields };
}

export function withStoredValue(field: FormField, rejected: RejectedForm | undefined, stored: string): FormField {
  return rejected?.result ? field : { ...field, value: stored };
}

/** The form sends the version that it was opened with, and an idempotency key. It shows an error that belongs to no field. */
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
  const rejected = useRejectedIntent(id);
  const formError = rejected?.result?.error ? undefined : getFormError(rejected);
  const emptied = useResetCount(id, rejected);
  return (
    <Form key={emptied} method="post" action={action} id={id} noValidate preventScrollReset className={className}>
      <input type="hidden" name="intent" value={intent} />
      <input type="hidden" name="form" value={id} />
      {expectedVersion !== undefined && <input type="hidden" name="expectedVersion" value={expectedVersion} />}
      {idempotencyKey && <input type="hidden" name="idempotencyKey" value={idempotencyKey} />}
      {formError && (
        // biome-ignore lint/a11y/noAutofocus: without script, the browser scrolls to the error
        <p tabIndex={-1} data-form-error autoFocus className="mb-3 text-sm font-semibold text-failure">
          {formError}
        </p>
      )}
      {children}
    </Form>
  );
}

/** Counts successful submissions. As a React key, the count empties this form, while other forms keep their values. */
function useResetCount(id: string, rejected: RejectedIntent | undefined): number {
  const [count, setCount] = useState(0);
  const { state, formData } = useNavigation();
  const isUnderWay = state !== "idle" && formData?.get("form") === id;
  const wasUnderWay = useRef(false);
  useEffect(() => {
    const isTaken = wasUnderWay.current && !isUnderWay && !rejected;
    wasUnderWay.current = isUnderWay;
    if (!isTaken) return;
    document.getElementById(id)?.closest("details")?.removeAttribute("open");
    setCount((times) => times + 1);
  }, [isUnderWay, rejected, id]);
  return count;
}

function useRejectedIntent(id: string): RejectedIntent | undefined {
  const actionData = useActionData() as RejectedIntent | undefined;
  return actionData?.form === id ? actionData : undefined;
}

export function IntentErrorSummary({ actionData }: { actionData: RejectedIntent | undefined }) {
  const problems = Object.entries(actionData?.result?.error ?? {}).flatMap(([name, errors]) =>
    (errors ?? []).map((text) => ({ id: `${actionData?.form}-${name}`, text })),
  );
  const formError = getFormError(actionData);
  if (problems.length === 0 && formError) problems.push({ id: actionData?.form ?? "", text: formError });
  return <ErrorSummary actionData={actionData} problems={problems} />;
}

/** A section that opens when its title is clicked, and is open after a rejection. */
export function FormDisclosure({ title, open, children }: { title: ReactNode; open: boolean; children: ReactNode }) {
  return (
    <details open={open} className="px-4 pb-2 open:pb-4">
      <summary className="inline-flex min-h-11 cursor-pointer items-center text-sm underline">{title}</summary>
      {children}
    </details>
  );
}

/** `subject` is for screen readers only. `hiddenFields` has the id of the subject if the page has several. */
export function ReasonForm(props: {
  intent: string;
  title: string;
  subject?: string;
  text?: string;
  hint?: string;
  hiddenFields?: Record<string, string>;
  expectedVersion?: number;
  idempotencyKey?: string;
  actionData: RejectedIntent | undefined;
}) {
  const { intent, title, subject, text, hint, hiddenFields = {}, expectedVersion, idempotencyKey, actionData } = props;
  const { id, fields, rejected } = useIntentForm(intent, actionData, ["reason"], Object.values(hiddenFields)[0]);
  const words = (
    <span>
      {title}
      {subject && <span className="sr-only">{subject}</span>}
    </span>
  );
  return (
    <FormDisclosure title={words} open={rejected !== undefined}>
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
