import { type ReactNode, useEffect, useRef, useState } from "react";
import { Form, useActionData, useMatches, useNavigation } from "react-router";
import { TextField } from "~/components/forms/field";
import {
  ErrorSummary,
  type FormField,
  getFormError,
  type RejectedForm,
  SubmitButton,
  useActionForm,
} from "~/components/forms/form";

/** `form` and `idempotencyKey` are the id and the idempotency key of the rejected form. */
export type RejectedIntent = RejectedForm & { form?: string; idempotencyKey?: string };

const useRejectedIntent = () => useActionData() as RejectedIntent | undefined;

/**
 * A retry sends the idempotency key of the rejected form, so the action takes effect only once even if a response was
 * lost.
 */
function useIdempotencyKey(): string | undefined {
  const loaderData = useMatches().at(-1)?.loaderData as { idempotencyKey?: string } | undefined;
  return useRejectedIntent()?.idempotencyKey ?? loaderData?.idempotencyKey;
}

/** `target` distinguishes several forms with the same intent on one page, such as one for each document. */
const createFormId = (intent: string, target = "") => (target ? `${intent}-${target}` : intent);

export function useIntentForm<const Name extends string>(intent: string, names: readonly Name[], target?: string) {
  const id = createFormId(intent, target);
  const actionData = useRejectedIntent();
  const rejected = actionData?.form === id ? actionData : undefined;
  const [, fields] = useActionForm(id, rejected, names);
  return { intent, rejected, fields };
}

export function withStoredValue(field: FormField, rejected: RejectedForm | undefined, stored: string): FormField {
  return rejected?.result ? field : { ...field, value: stored };
}

/** `values` are hidden fields. The first value distinguishes several forms with the same intent on one page. */
export function IntentForm(props: {
  intent: string;
  values?: Record<string, string>;
  id?: string;
  expectedVersion?: number;
  idempotent?: boolean;
  action?: string;
  className?: string;
  children: ReactNode;
}) {
  const { intent, values = {}, expectedVersion, idempotent, action, className, children } = props;
  const idempotencyKey = useIdempotencyKey();
  const { id = createFormId(intent, Object.values(values)[0]) } = props;
  const actionData = useRejectedIntent();
  const rejected = actionData?.form === id ? actionData : undefined;
  const formError = rejected?.result?.error ? undefined : getFormError(rejected);
  const emptied = useResetCount(id, rejected);
  return (
    <Form key={emptied} method="post" action={action} id={id} noValidate preventScrollReset className={className}>
      <input type="hidden" name="intent" value={intent} />
      <input type="hidden" name="form" value={id} />
      {expectedVersion !== undefined && <input type="hidden" name="expectedVersion" value={expectedVersion} />}
      {idempotent && <input type="hidden" name="idempotencyKey" value={idempotencyKey} />}
      {Object.entries(values).map(([name, value]) => (
        <input key={name} type="hidden" name={name} value={value} />
      ))}
      {formError && (
        // biome-ignore lint/a11y/noAutofocus: without JavaScript, the browser scrolls to the error
        <p tabIndex={-1} data-form-error autoFocus className="mb-3 text-sm font-semibold text-failure">
          {formError}
        </p>
      )}
      {children}
    </Form>
  );
}

/** Counts successful submissions. The count is a React key, so that a success resets only this form. */
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

export function IntentErrorSummary({ actionData }: { actionData: RejectedIntent | undefined }) {
  const problems = Object.entries(actionData?.result?.error ?? {}).flatMap(([name, errors]) =>
    (errors ?? []).map((text) => ({ id: `${actionData?.form}-${name}`, text })),
  );
  const formError = getFormError(actionData);
  if (problems.length === 0 && formError) problems.push({ id: actionData?.form ?? "", text: formError });
  return <ErrorSummary actionData={actionData} problems={problems} />;
}

export function FormDisclosure({ title, open, children }: { title: ReactNode; open: boolean; children: ReactNode }) {
  return (
    <details open={open} className="px-4 pb-2 open:pb-4">
      <summary className="inline-flex min-h-11 cursor-pointer items-center text-sm underline">{title}</summary>
      {children}
    </details>
  );
}

/** Screen readers read `subject` after `title`. `subject` is not visible. */
export function ReasonForm(props: {
  intent: string;
  title: string;
  subject?: string;
  text?: string;
  hint?: string;
  values?: Record<string, string>;
  expectedVersion?: number;
  idempotent?: boolean;
}) {
  const { intent, title, subject, text, hint, values = {}, expectedVersion, idempotent } = props;
  const { fields, rejected } = useIntentForm(intent, ["reason"], Object.values(values)[0]);
  const words = (
    <span>
      {title}
      {subject && <span className="sr-only">{subject}</span>}
    </span>
  );
  return (
    <FormDisclosure title={words} open={rejected !== undefined}>
      {text && <p className="mb-3 text-sm text-quiet">{text}</p>}
      <IntentForm intent={intent} values={values} expectedVersion={expectedVersion} idempotent={idempotent}>
        <TextField field={fields.reason} label="Reason" hint={hint} rows={2} mandatory />
        <SubmitButton look="plain">{words}</SubmitButton>
      </IntentForm>
    </FormDisclosure>
  );
}
