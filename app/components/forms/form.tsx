/** The form kit: every form of the site shows its errors and pending state this way; its fields are in field.tsx. */
import type { SubmissionResult } from "@conform-to/react";
import { type ComponentProps, type MouseEvent, useEffect, useRef, useState } from "react";
import { useNavigation } from "react-router";
import type { Toast } from "~/lib/http/toast";
import { Button } from "../ui/button";
import { focusInView } from "../ui/page-navigation";
import { PageToast } from "../ui/toast";

/**
 * What an action returns for a refused form: Conform's result with the typed values, and the toast of the catalogue.
 * Without a result the form stays as it stands.
 */
export type RejectedForm = { result: SubmissionResult | null; toast?: Toast };

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
  resultCount: number;
};

export type ActionForm = { id: string; problems: { id: string; text: string }[] };

/**
 * A form over the answer of its action. `id` tells several forms of one page apart, `names` are its fields. The schemas
 * stay on the server, with script and without: the browser needs nothing of the form library but its answer.
 */
export function useActionForm<const Name extends string>(
  id: string,
  refused: RejectedForm | undefined,
  names: readonly Name[],
): [ActionForm, Record<Name, FormField>] {
  const result = refused?.result;
  const [last, setLast] = useState({ result, count: 0 });
  // Without a result, as where no answer came, the form stays as it stands: what was typed too, passwords as well.
  if (result !== null && last.result !== result) setLast({ result, count: last.count + 1 });
  const field = (name: Name): FormField => {
    const value = result?.initialValue?.[name];
    return {
      id: `${id}-${name}`,
      name,
      value: typeof value === "string" ? value : "",
      errorId: `${id}-${name}-error`,
      errors: result?.error?.[name] ?? undefined,
      resultCount: last.count,
    };
  };
  const fields = Object.fromEntries(names.map((name) => [name, field(name)])) as Record<Name, FormField>;
  const problems = Object.entries(result?.error ?? {}).flatMap(([name, errors]) =>
    (errors ?? []).map((text) => ({ id: fields[name as Name]?.id ?? id, text })),
  );
  // The toast disappears; its message about the form as a whole stays in the summary.
  const { variant, description } = refused?.toast ?? {};
  if (problems.length === 0 && variant === "destructive" && description) {
    problems.push({ id: fields[names[0] as Name]?.id ?? id, text: description });
  }
  return [{ id, problems }, fields];
}

/** Above the h1 of a page whose form was refused: the toast, and what is wrong with links to the fields. */
export function FormErrorSummary({ refused, form }: { refused: RejectedForm | undefined; form: ActionForm }) {
  return <ErrorSummary answer={refused} problems={form.problems} />;
}

/**
 * The toast and the error summary of a refused form. The summary gets the focus at each answer, even one that repeats
 * the last. `id` is that of the field a problem belongs to.
 */
export function ErrorSummary(props: {
  answer: { toast?: Toast } | undefined;
  problems: { id: string; text: string }[];
}) {
  const { answer, problems } = props;
  const summary = useRef<HTMLElement>(null);
  useEffect(() => {
    if (answer && summary.current) focusInView(summary.current);
  }, [answer]);
  return (
    <>
      {answer?.toast && <PageToast toast={answer.toast} />}
      {problems.length > 0 && (
        <section
          ref={summary}
          tabIndex={-1}
          aria-labelledby="error-summary"
          className="mb-6 rounded-label border-2 border-failure px-4 py-3"
        >
          <h2 id="error-summary" className="font-semibold">
            There is a problem
          </h2>
          <ul className="mt-1 grid gap-1">
            {problems.map(({ id, text }) => (
              <li key={`${id} ${text}`}>
                <a
                  href={`#${id}`}
                  className="inline-flex min-h-11 items-center py-1 leading-snug text-failure underline"
                >
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

/**
 * The button that submits a form. While the form is sent, the pressed button shows `pending` and none takes another
 * press. `sending` says so for forms that are sent without a navigation.
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
