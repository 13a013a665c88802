/** The form kit: every form of the site shows its fields, errors and pending state this way. */
import { type FieldMetadata, type FormMetadata, getFormProps, getInputProps, type SubmissionResult, useForm } from "@conform-to/react";
import { type ComponentProps, type ReactNode, useEffect, useRef } from "react";
import { Form, useNavigation } from "react-router";
import type { Toast } from "~/lib/flash";
import { Flash } from "./flash";
import { Button } from "./ui/button";

/** What an action returns for a refused form: Conform's result with the typed values, and the toast of the catalogue. */
export type Refused = { result: SubmissionResult; toast?: Toast };

/** A form over the answer of its action. `id` tells several forms of one page apart. */
export function useActionForm<Fields extends Record<string, unknown>>(
  id: string,
  refused: Refused | undefined,
  defaultValue?: Partial<Record<keyof Fields & string, string>>,
) {
  return useForm<Fields>({
    id,
    lastResult: refused?.result ?? null,
    defaultValue: defaultValue as never,
    // The schemas stay on the server: the form is judged there, with script and without.
    shouldValidate: "onSubmit",
    shouldRevalidate: "onSubmit",
  });
}

/** The frame of a form: posts to its route, keeps the browser's own checks out of the way. */
export function ActionForm({
  form,
  ...props
}: { form: Pick<FormMetadata, "id"> & FormMetadata } & Omit<ComponentProps<typeof Form>, "form">) {
  const { id, onSubmit, noValidate } = getFormProps(form);
  return <Form method="post" id={id} onSubmit={onSubmit} noValidate={noValidate || true} {...props} />;
}

/** Above the h1 of a page whose form was refused: the toast, and what is wrong with links to the fields. */
export function Refusal({ refused, fields }: { refused: Refused | undefined; fields: Record<string, FieldMetadata> }) {
  const summary = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (refused) summary.current?.focus();
  }, [refused]);
  if (!refused) return null;
  const errors = Object.values(fields).flatMap((field) => (field.errors ?? []).map((text) => ({ id: field.id, text })));
  return (
    <>
      {refused.toast && <Flash toast={refused.toast} />}
      {errors.length > 0 && (
        <div
          ref={summary}
          tabIndex={-1}
          aria-labelledby="refusal-title"
          role="group"
          className="mb-6 rounded-label border-2 border-failure px-4 py-3"
        >
          <h2 id="refusal-title" className="font-semibold">
            There is a problem
          </h2>
          <ul className="mt-1">
            {errors.map(({ id, text }) => (
              <li key={`${id} ${text}`}>
                <a href={`#${id}`} className="text-failure underline">
                  {text}
                </a>
              </li>
            ))}
          </ul>
        </div>
      )}
    </>
  );
}

type FieldProps = {
  field: FieldMetadata<string> | FieldMetadata<string | undefined>;
  label: string;
  hint?: string;
  type?: "text" | "email" | "password";
  /** Put beside the input, such as the toggle of a password. */
  children?: ReactNode;
} & Pick<ComponentProps<"input">, "autoComplete" | "inputMode" | "autoCapitalize" | "spellCheck">;

/** A labelled input with its hint and its error. */
export function Field({ field, label, hint, type = "text", children, ...input }: FieldProps) {
  const described = [hint && `${field.id}-hint`, field.errors && field.errorId].filter(Boolean).join(" ");
  const { key, ...props } = getInputProps(field, { type, ariaAttributes: false });
  return (
    <div className={`mb-5 ${field.errors ? "border-l-4 border-failure pl-3" : ""}`}>
      <label htmlFor={field.id} className="block text-sm font-semibold">
        {label}
      </label>
      {hint && (
        <p id={`${field.id}-hint`} className="text-sm text-quiet">
          {hint}
        </p>
      )}
      <FieldError field={field} />
      <div className="mt-1 flex gap-2">
        <input
          key={key}
          {...props}
          {...input}
          aria-required
          aria-invalid={field.errors ? true : undefined}
          aria-describedby={described || undefined}
          className={inputLook}
        />
        {children}
      </div>
    </div>
  );
}

/** The words of the summary, beside their field. */
export function FieldError({ field }: { field: Pick<FieldMetadata, "errors" | "errorId"> }) {
  if (!field.errors) return null;
  return (
    <p id={field.errorId} className="text-sm font-semibold text-failure">
      {field.errors.join(" ")}
    </p>
  );
}

export const inputLook =
  "min-h-11 w-full min-w-0 rounded-label border border-edge bg-sunken px-3 py-2 text-base text-ink " +
  "aria-invalid:border-2 aria-invalid:border-failure";

/** The button that sends a form; says so while it is being sent and takes no second press then. */
export function SubmitButton({ pending, children, ...props }: ComponentProps<typeof Button> & { pending: string }) {
  const navigation = useNavigation();
  const sending = navigation.state !== "idle" && navigation.formMethod === "POST";
  return (
    <Button look="action" {...props} aria-disabled={sending || undefined} onClick={(event) => sending && event.preventDefault()}>
      {sending ? pending : children}
    </Button>
  );
}
