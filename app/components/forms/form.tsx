import type { SubmissionResult } from "@conform-to/react";
import { type ComponentProps, type MouseEvent, useEffect, useRef, useState } from "react";
import { useMatches, useNavigation } from "react-router";
import type { Toast } from "~/lib/http/toast";
import { Button } from "../ui/button";
import { focusInView } from "../ui/page-navigation";
import { usePageToast } from "../ui/toast";

/**
 * `result` contains Conform's errors and the submitted values, or is null after a lost connection. `formError` is an
 * error of the whole form. `toast` is a toast of the error catalogue (specification, section 8).
 */
export type RejectedForm = {
  result: SubmissionResult | null;
  formError?: string;
  fieldErrors?: Record<string, string[]>;
  toast?: Toast;
};

/** Each response increases `resultCount`, the React key that empties the inputs for passwords and codes. */
export type FormField = {
  id: string;
  name: string;
  value: string;
  errorId: string;
  errors?: string[];
  isFirstError?: boolean;
  resultCount: number;
};

/**
 * Returns the errors for the form's error summary, and the form's fields. `stored` contains initial values. Only the
 * server validates forms, so that the browser does not load Zod.
 */
export function useActionForm<const Name extends string>(
  id: string,
  rejected: RejectedForm | undefined,
  names: readonly Name[],
  stored: Partial<Record<Name, string>> = {},
) {
  const result = rejected?.result;
  const [last, setLast] = useState({ result, count: 0 });
  // `result` is null after a lost connection, which must not empty the inputs for passwords and codes.
  if (result !== null && last.result !== result) setLast({ result, count: last.count + 1 });
  const errors: Record<string, string[] | null> = result?.error ?? rejected?.fieldErrors ?? {};
  const firstError = names.find((name) => errors[name]);
  const field = (name: Name): FormField => {
    const value = result ? result.initialValue?.[name] : stored[name];
    return {
      id: `${id}-${name}`,
      name,
      value: typeof value === "string" ? value : "",
      errorId: `${id}-${name}-error`,
      errors: errors[name] ?? undefined,
      isFirstError: name === firstError,
      resultCount: last.count,
    };
  };
  const fields = Object.fromEntries(names.map((name) => [name, field(name)])) as Record<Name, FormField>;
  const problems = Object.entries(errors).flatMap(([name, texts]) =>
    (texts ?? []).map((text) => ({ id: fields[name as Name]?.id ?? id, text })),
  );
  const formError = getFormError(rejected);
  if (problems.length === 0 && formError) problems.push({ id: fields[names[0] as Name]?.id ?? id, text: formError });
  return [{ id, actionData: rejected, problems }, fields] as const;
}

/**
 * Returns the number of successful submissions, for a React key that resets the form after each success. The form must
 * send its own HTML id in the hidden field `form`.
 */
export function useResetCount(id: string, rejected: RejectedForm | undefined): number {
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

/** Returns the error of the whole form, or else the message of the error toast, because toasts disappear. */
export function getFormError(rejected: Omit<RejectedForm, "result"> | undefined): string | undefined {
  const { formError, toast } = rejected ?? {};
  return formError ?? (toast?.variant === "destructive" ? toast.description : undefined);
}

/** `id` is the HTML id of the field to correct. */
export type FormErrors = {
  actionData: Partial<RejectedForm> | undefined;
  problems: { id: string; text: string }[];
};

/** Without JavaScript, the heading of the error summary is the title of the toast. */
export function ErrorSummary({ actionData, problems }: FormErrors) {
  const { toast } = actionData ?? {};
  const isToastShown = usePageToast(toast);
  const bannerToast = isToastShown ? undefined : toast;
  const summary = useRef<HTMLElement>(null);
  useEffect(() => {
    if (actionData && summary.current) focusProblems(summary.current, actionData.toast ? toastHeight : 0);
  }, [actionData]);
  if (problems.length === 0) return null;
  return (
    <section
      ref={summary}
      tabIndex={-1}
      role={bannerToast && "alert"}
      data-toast={bannerToast?.variant}
      aria-labelledby="error-summary"
      className="mb-6 rounded-label border-2 border-failure px-4 py-3"
    >
      <h2 id="error-summary" className="font-semibold">
        {bannerToast?.description ? bannerToast.title : "There is a problem"}
      </h2>
      <ul className="mt-1 grid gap-1">
        {problems.map(({ id, text }) => (
          <li key={`${id} ${text}`}>
            <a href={`#${id}`} className="inline-flex min-h-11 items-center py-1 leading-snug text-failure underline">
              {text}
            </a>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** The height of a toast of three lines and its distance from the bottom of a phone's screen, in root font sizes. */
const toastHeight = 9;

/**
 * Focuses the error summary, or the first error in the form if the window is too small to show both. `coveredHeight` is
 * the height, in root font sizes, of the part of the window that a toast covers.
 */
function focusProblems(summary: HTMLElement, coveredHeight: number): void {
  focusInView(summary);
  const firstError = document.querySelector<HTMLElement>("[aria-invalid=true], [data-form-error]");
  const rootFontSize = Number.parseFloat(getComputedStyle(document.documentElement).fontSize);
  if (firstError && firstError.getBoundingClientRect().bottom > innerHeight - coveredHeight * rootFontSize) {
    firstError.focus({ preventScroll: true });
    firstError.scrollIntoView({ block: "center" });
  }
}

/** Ignores clicks while the form is being submitted. Forms that use a fetcher must set `sending`. */
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

/** A hidden field with the account that opened the page. After another login, the server rejects the form. */
export function PageAccountField() {
  const pages = useMatches().map(({ loaderData }) => loaderData as { accountHash?: string } | undefined);
  const accountHash = pages.find((page) => page?.accountHash)?.accountHash;
  return accountHash && <input type="hidden" name="pageAccount" value={accountHash} />;
}
