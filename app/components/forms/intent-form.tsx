import type { ReactNode } from "react";
import { Form, useActionData, useMatches } from "react-router";
import { TextField } from "~/components/forms/field";
import {
  type FormErrors,
  getFormError,
  PageAccountField,
  type RejectedForm,
  SubmitButton,
  useActionForm,
  useResetCount,
} from "~/components/forms/form";

/** `form` is the HTML id of the rejected form. */
export type RejectedIntent = RejectedForm & { form?: string; idempotencyKey?: string };

const useRejectedIntent = () => useActionData() as RejectedIntent | undefined;

/** Reuses the idempotency key of a rejected form, so that sending the form again cannot change data twice. */
function useIdempotencyKey(): string | undefined {
  const loaderData = useMatches().at(-1)?.loaderData as { idempotencyKey?: string } | undefined;
  return useRejectedIntent()?.idempotencyKey ?? loaderData?.idempotencyKey;
}

const createFormId = (intent: string, target = "") => (target ? `${intent}-${target}` : intent);

/** `target`, such as the id of a document, distinguishes forms with the same intent on one page. */
export function useIntentForm<const Name extends string>(
  intent: string,
  names: readonly Name[],
  { target, stored }: { target?: string; stored?: Partial<Record<Name, string>> } = {},
) {
  const id = createFormId(intent, target);
  const actionData = useRejectedIntent();
  const rejected = actionData?.form === id ? actionData : undefined;
  const [, fields] = useActionForm(id, rejected, names, stored);
  return { intent, rejected, fields };
}

/** `values` are hidden fields. The first value is a part of the form's HTML id, because forms can share an intent. */
type IntentFormProps = {
  intent: string;
  values?: Record<string, string>;
  expectedVersion?: number;
  idempotent?: boolean;
  children: ReactNode;
};

export function IntentForm({
  intent,
  values = {},
  id = createFormId(intent, Object.values(values)[0]),
  expectedVersion,
  idempotent,
  children,
  ...attributes
}: IntentFormProps & { id?: string; action?: string; className?: string; encType?: "multipart/form-data" }) {
  const idempotencyKey = useIdempotencyKey();
  const actionData = useRejectedIntent();
  const rejected = actionData?.form === id ? actionData : undefined;
  const formError = rejected?.result?.error ? undefined : getFormError(rejected);
  const emptied = useResetCount(id, rejected);
  return (
    <Form key={emptied} method="post" id={id} noValidate preventScrollReset {...attributes}>
      <input type="hidden" name="intent" value={intent} />
      <input type="hidden" name="form" value={id} />
      <PageAccountField />
      {expectedVersion !== undefined && <input type="hidden" name="expectedVersion" value={expectedVersion} />}
      {idempotent && <input type="hidden" name="idempotencyKey" value={idempotencyKey} />}
      {Object.entries(values).map(([name, value]) => (
        <input key={name} type="hidden" name={name} value={value} />
      ))}
      {formError && (
        // biome-ignore lint/a11y/noAutofocus: without JavaScript, autofocus makes the browser scroll to the error
        <p tabIndex={-1} data-form-error autoFocus className="mb-3 text-sm font-semibold text-failure">
          {formError}
        </p>
      )}
      {children}
    </Form>
  );
}

export function getIntentErrors(actionData: RejectedIntent | undefined): FormErrors {
  const problems = Object.entries(actionData?.result?.error ?? {}).flatMap(([name, errors]) =>
    (errors ?? []).map((text) => ({ id: `${actionData?.form}-${name}`, text })),
  );
  const formError = getFormError(actionData);
  if (problems.length === 0 && formError) problems.push({ id: actionData?.form ?? "", text: formError });
  return { actionData, problems };
}

export function FormDisclosure({ title, open, children }: { title: ReactNode; open: boolean; children: ReactNode }) {
  return (
    <details open={open} className="px-4 pb-2 open:pb-4">
      <summary className="inline-flex min-h-11 cursor-pointer items-center text-sm underline">{title}</summary>
      {children}
    </details>
  );
}

/** `subject` is a text after `title` that only screen readers read. */
export function ReasonForm({
  title,
  subject,
  text,
  hint,
  ...form
}: Omit<IntentFormProps, "children"> & { title: string; subject?: string; text?: string; hint?: string }) {
  const { fields, rejected } = useIntentForm(form.intent, ["reason"], { target: Object.values(form.values ?? {})[0] });
  const words = (
    <span>
      {title}
      {subject && <span className="sr-only">{subject}</span>}
    </span>
  );
  return (
    <FormDisclosure title={words} open={rejected !== undefined}>
      {text && <p className="mb-3 text-sm text-quiet">{text}</p>}
      <IntentForm {...form}>
        <TextField field={fields.reason} label="Reason" hint={hint} rows={2} mandatory />
        <SubmitButton look="plain">{words}</SubmitButton>
      </IntentForm>
    </FormDisclosure>
  );
}
