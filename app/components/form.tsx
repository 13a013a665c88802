/** The form kit: every form of the site shows its fields, errors and pending state this way. */
import type { SubmissionResult } from "@conform-to/react";
import { type ComponentProps, type MouseEvent, type ReactNode, useEffect, useRef, useState } from "react";
import { useNavigation } from "react-router";
import type { Toast } from "~/lib/flash";
import { Flash } from "./flash";
import { useTypedText } from "./typed";
import { Button } from "./ui/button";

/**
 * What an action returns for a refused form: Conform's result with the typed values, and the toast of the catalogue.
 * Without a result the form stays as it stands.
 */
export type Refused = { result: SubmissionResult | null; toast?: Toast };

/**
 * A field as the server judged it. `value` is what was typed, "" where the answer must not repeat it; `answer` counts
 * the answers to its form.
 */
export type FormField = {
  id: string;
  name: string;
  value: string;
  errorId: string;
  errors?: string[];
  answer: number;
};

export type ActionForm = { id: string; problems: { id: string; text: string }[] };

/**
 * A form over the answer of its action. `id` tells several forms of one page apart, `names` are its fields. The schemas
 * stay on the server, with script and without: the browser needs nothing of the form library but its answer.
 */
export function useActionForm<const Name extends string>(
  id: string,
  refused: Refused | undefined,
  names: readonly Name[],
): [ActionForm, Record<Name, FormField>] {
  const result = refused?.result;
  const [last, setLast] = useState({ result, count: 0 });
  if (last.result !== result) setLast({ result, count: last.count + 1 });
  const field = (name: Name): FormField => {
    const value = result?.initialValue?.[name];
    return {
      id: `${id}-${name}`,
      name,
      value: typeof value === "string" ? value : "",
      errorId: `${id}-${name}-error`,
      errors: result?.error?.[name] ?? undefined,
      answer: last.count,
    };
  };
  const fields = Object.fromEntries(names.map((name) => [name, field(name)])) as Record<Name, FormField>;
  const problems = Object.entries(result?.error ?? {}).flatMap(([name, errors]) =>
    (errors ?? []).map((text) => ({ id: fields[name as Name]?.id ?? id, text })),
  );
  return [{ id, problems }, fields];
}

/** Above the h1 of a page whose form was refused: the toast, and what is wrong with links to the fields. */
export function Refusal({ refused, form }: { refused: Refused | undefined; form: ActionForm }) {
  return <Problems toast={refused?.toast} problems={form.problems} />;
}

/** The toast and the error summary of a refused form. `id` is that of the field a problem belongs to. */
export function Problems({ toast, problems }: { toast: Toast | undefined; problems: { id: string; text: string }[] }) {
  const summary = useRef<HTMLElement>(null);
  const words = problems.map(({ text }) => text).join();
  useEffect(() => {
    if (words) summary.current?.focus();
  }, [words]);
  return (
    <>
      {toast && <Flash toast={toast} />}
      {problems.length > 0 && (
        <section
          ref={summary}
          tabIndex={-1}
          aria-labelledby="problems"
          className="mb-6 rounded-label border-2 border-failure px-4 py-3"
        >
          <h2 id="problems" className="font-semibold">
            There is a problem
          </h2>
          <ul className="mt-1">
            {problems.map(({ id, text }) => (
              <li key={`${id} ${text}`}>
                <a href={`#${id}`} className="inline-flex min-h-11 items-center text-failure underline">
                  {text}
                </a>
              </li>
            ))}
          </ul>
        </section>
      )}
    </>
  );
}

type FieldProps = {
  field: FormField;
  label: string;
  hint?: string;
  type?: "text" | "email" | "password" | "tel";
  /** Whether a refusal empties it, as for passwords and codes; every other field keeps what was typed. */
  fresh?: boolean;
  /** Put beside the input, such as the toggle of a password. */
  children?: ReactNode;
} & Pick<ComponentProps<"input">, "autoComplete" | "inputMode" | "autoCapitalize" | "spellCheck">;

/** A labelled input with its hint and its error. */
export function Field({ field, label, hint, type = "text", fresh, children, ...input }: FieldProps) {
  return (
    <Labelled field={field} label={label} hint={hint}>
      <div className="mt-1 flex gap-2">
        <input
          key={fresh ? field.answer : undefined}
          id={field.id}
          name={field.name}
          type={type}
          defaultValue={field.value}
          {...input}
          {...described(field, hint)}
          aria-required
          className={inputLook}
        />
        {children}
      </div>
    </Labelled>
  );
}

type ChoiceProps = { field: FormField; label: string; hint?: string };

/** A labelled list of options; `prompt` is a first line that asks to choose. */
export function SelectField({
  field,
  label,
  hint,
  options,
  prompt,
}: ChoiceProps & { options: string[]; prompt?: string }) {
  return (
    <Labelled field={field} label={label} hint={hint}>
      <select
        id={field.id}
        name={field.name}
        defaultValue={field.value}
        {...described(field, hint)}
        aria-required
        className={`mt-1 ${inputLook}`}
      >
        {prompt && <option value="">{prompt}</option>}
        {options.map((option) => (
          <option key={option}>{option}</option>
        ))}
      </select>
    </Labelled>
  );
}

/** A labelled field for several lines. `mandatory` tells whether it may stay empty. */
export function TextField({ field, label, hint, mandatory = false }: ChoiceProps & { mandatory?: boolean }) {
  const typed = useTypedText(field.id);
  return (
    <Labelled field={field} label={label} hint={hint}>
      <textarea
        ref={typed}
        id={field.id}
        name={field.name}
        defaultValue={field.value}
        {...described(field, hint)}
        aria-required={mandatory || undefined}
        rows={5}
        className={`mt-1 ${inputLook}`}
      />
    </Labelled>
  );
}

/** A labelled field for one file. Browsers do not give a file back after a refusal: it has to be chosen again. */
export function FileField(props: { field: FormField; label: string; hint?: string; accept: string }) {
  const { field, label, hint, accept } = props;
  return (
    <Labelled field={field} label={label} hint={hint}>
      <input
        id={field.id}
        name={field.name}
        type="file"
        accept={accept}
        {...described(field, hint)}
        className={`mt-1 ${inputLook} ${fileButtonLook}`}
      />
    </Labelled>
  );
}

/** Label, hint and error around a control. */
function Labelled({
  field,
  label,
  hint,
  children,
}: {
  field: FormField;
  label: string;
  hint?: string;
  children: ReactNode;
}) {
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
      {children}
    </div>
  );
}

function described(field: FormField, hint: string | undefined) {
  const ids = [hint && `${field.id}-hint`, field.errors && field.errorId].filter(Boolean).join(" ");
  return { "aria-invalid": field.errors ? true : undefined, "aria-describedby": ids || undefined } as const;
}

/** The words of the summary, beside their field. */
function FieldError({ field }: { field: FormField }) {
  if (!field.errors) return null;
  return (
    <p id={field.errorId} className="text-sm font-semibold text-failure">
      {field.errors.join(" ")}
    </p>
  );
}

/** The button inside a file field. */
export const fileButtonLook =
  "text-sm file:mr-3 file:border-0 file:bg-transparent file:font-semibold file:text-ink file:underline";

export const inputLook =
  "min-h-11 w-full min-w-0 rounded-label border border-edge bg-sunken px-3 py-2 text-base text-ink " +
  "aria-invalid:border-2 aria-invalid:border-failure";

/**
 * The button that sends a form: the one that was pressed says so while it is on its way, and none takes a second press
 * then. `sending` is for forms that are sent without a navigation.
 */
export function SubmitButton({
  pending,
  sending,
  children,
  ...props
}: ComponentProps<typeof Button> & { pending: string; sending?: boolean }) {
  const navigation = useNavigation();
  const busy = sending ?? (navigation.state !== "idle" && navigation.formMethod === "POST");
  const pressed = useRef(false);
  useEffect(() => {
    if (!busy) pressed.current = false;
  }, [busy]);
  const press = (event: MouseEvent<HTMLButtonElement>) => {
    if (busy) event.preventDefault();
    else pressed.current = true;
    props.onClick?.(event);
  };
  const waits = busy && pressed.current;
  return (
    <Button look="action" {...props} aria-disabled={busy || undefined} onClick={press}>
      {waits && <span aria-hidden className="spinner" />}
      {waits ? pending : children}
    </Button>
  );
}
