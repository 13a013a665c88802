import type { SubmissionResult } from "@conform-to/react";
import { type ComponentProps, type MouseEvent, useEffect, useRef, useState } from "react";
import { useNavigation } from "react-router";
import type { Toast } from "~/lib/http/toast";
import { Button } from "../ui/button";
import { focusInView } from "../ui/page-navigation";
import { PageToast } from "../ui/toast";

/** `result` is Conform's result with the submitted values. Null means a lost connection: the form stays unchanged. */
export type RejectedForm = { result: SubmissionResult | null; toast?: Toast };

/** Passwords and codes have an empty `value`. `resultCount` counts the server's responses to the form. */
export type FormField = {
  id: string;
  name: string;
  value: string;
  errorId: string;
  errors?: string[];
  resultCount: number;
};

export type ActionForm = { id: string; problems: { id: string; text: string }[] };

/** Returns a form's problems and fields. Only the server validates, so the browser loads no schema and no library. */
export function useActionForm<const Name extends string>(
  id: string,
  rejected: RejectedForm | undefined,
  names: readonly Name[],
): [ActionForm, Record<Name, FormField>] {
  const result = rejected?.result;
  const [last, setLast] = useState({ result, count: 0 });
  // Typed values, including passwords, stay in the form after a lost connection, where the result is null.
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
  // The toast disappears after some seconds, so the error summary repeats its message.
  const { variant, description } = rejected?.toast ?? {};
  if (problems.length === 0 && variant === "destructive" && description) {
    problems.push({ id: fields[names[0] as Name]?.id ?? id, text: description });
  }
  return [{ id, problems }, fields];
}

export function FormErrorSummary({ rejected, form }: { rejected: RejectedForm | undefined; form: ActionForm }) {
  return <ErrorSummary actionData={rejected} problems={form.problems} />;
}

/** Moves the focus to the summary after each rejected submission. A problem's `id` is the id of its form field. */
export function ErrorSummary(props: {
  actionData: { toast?: Toast } | undefined;
  problems: { id: string; text: string }[];
}) {
  const { actionData, problems } = props;
  const summary = useRef<HTMLElement>(null);
  useEffect(() => {
    if (actionData && summary.current) focusInView(summary.current);
  }, [actionData]);
  return (
    <>
      {actionData?.toast && <PageToast toast={actionData.toast} />}
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

/** Ignores clicks during a submission. `sending` replaces the navigation state for forms submitted by a fetcher. */
export function SubmitButton({
  pending = "Saving…",
  sending,
  children,
  ...props
}: ComponentProps<typeof Button> & { pending?: string; sending?: boolean }) {
  const navigation = useNavigation();
  const busy = sending ?? (navigation.state !== "idle" && navigation.formMethod === "POST");
  const wasClicked = useRef(false);
  useEffect(() => {
    if (!busy) wasClicked.current = false;
  }, [busy]);
  const handleClick = (event: MouseEvent<HTMLButtonElement>) => {
    if (busy) event.preventDefault();
    else wasClicked.current = true;
    props.onClick?.(event);
  };
  const isPending = busy && wasClicked.current;
  return (
    <Button look="action" {...props} aria-disabled={busy || undefined} onClick={handleClick}>
      {isPending && <span aria-hidden className="spinner" />}
      {isPending ? pending : children}
    </Button>
  );
}
