/** Toasts: what the server prints as a banner, and what script makes of it. One at a time, the newest. */
import { CircleAlert, CircleCheck, X } from "lucide";
import { type FormEvent, type RefObject, useEffect, useRef, useSyncExternalStore } from "react";
import { Link } from "react-router";
import { Icon } from "~/components/ui/icon";
import type { Toast } from "~/lib/flash";
import { useWhenIdle } from "./when-idle";

/** The toast in view; whether a banner stood in its place, and whether assistive technology has heard of that. */
export type Current = { id: number; toast: Toast; printed: boolean; spoken: boolean };

type Toasts = { current: Current | null; waiting: Toast | null; isReady: boolean };

const none: Toasts = { current: null, waiting: null, isReady: false };
let toasts = none;
let lastId = 0;
let hydrated = false;
const listeners = new Set<() => void>();
const seen = new WeakSet<Toast>();

function set(change: Partial<Toasts>): void {
  toasts = { ...toasts, ...change };
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** The toasts of this browser; none on the server. */
export function useToasts(): Toasts {
  return useSyncExternalStore(
    subscribe,
    () => toasts,
    () => none,
  );
}

/** Shows a toast in place of the one in view. The same object is shown once. */
export function showToast(toast: Toast, { printed = false, spoken = false } = {}): void {
  if (seen.has(toast)) return;
  seen.add(toast);
  set({ current: { id: ++lastId, toast, printed, spoken } });
}

/** Shows a toast once the one in view is gone. */
export function showToastNext(toast: Toast): void {
  if (toasts.current) set({ waiting: toast });
  else showToast(toast, { printed: !toasts.isReady });
}

/** Answers a form with a toast and sends nothing, once toasts can be shown; before that the form goes its way. */
export function answerAtOnce(event: FormEvent, toast: Toast): void {
  if (!toasts.isReady) return;
  event.preventDefault();
  showToast(toast);
}

/** Ends a toast; the one that waited for it follows. */
export function endToast(id: number): void {
  if (toasts.current?.id !== id) return;
  const { waiting } = toasts;
  set({ current: null, waiting: null });
  if (waiting) showToastNext(waiting);
}

/** Ends a toast that somebody closed while it was a banner still: it does not come back as a toast. */
function closeBanner(toast: Toast): void {
  seen.add(toast);
  if (toasts.waiting === toast) set({ waiting: null });
  if (toasts.current?.toast === toast) endToast(toasts.current.id);
}

/** Lets go of the toast that waits: it was meant for somebody who has signed out. */
export function forgetWaiting(): void {
  set({ waiting: null });
}

/** Says that toasts can be shown: from now on no banner is printed. */
export function toastsAreReady(): void {
  set({ isReady: true });
}

/**
 * Where toasts appear once script runs; the primitive behind it arrives when the browser is idle. Until then, and where
 * it never comes, a toast is a banner. Once a document.
 */
export function Toaster() {
  const Region = useWhenIdle(() => import("./toast-region"));
  const { current, isReady } = useToasts();
  useEffect(() => {
    hydrated = true;
  }, []);
  return Region ? <Region /> : !isReady && current && !current.printed && <Banner toast={current.toast} />;
}

/**
 * A toast that belongs to the page: a banner as the server prints it, gone on the next page; with script, in the same
 * place, the toast of the specification. `patient` lets the toast in view end first.
 */
export function Flash({ toast, patient = false }: { toast: Toast; patient?: boolean }) {
  const { isReady } = useToasts();
  const banner = useRef<HTMLDetailsElement>(null);
  useEffect(() => {
    if (banner.current?.open === false) return closeBanner(toast);
    // A browser speaks an alert of the first HTML by itself, a status not; both when they are put in later.
    const printed = !toasts.isReady;
    if (patient) showToastNext(toast);
    else showToast(toast, { printed, spoken: printed && (hydrated || toast.variant === "destructive") });
  }, [toast, patient]);
  return isReady ? null : <Banner toast={toast} patient={patient} ref={banner} />;
}

/** In the flow of the page where no script runs; otherwise where the toast will stand. A press closes it natively. */
function Banner(props: { toast: Toast; patient?: boolean; ref?: RefObject<HTMLDetailsElement | null> }) {
  const { toast, patient, ref } = props;
  return (
    <div
      role={toast.variant === "destructive" ? "alert" : "status"}
      data-toast={toast.variant}
      className={`${toastLook(toast)} ${patient ? "" : "banner"} has-[details:not([open])]:hidden`}
    >
      <details
        ref={ref}
        open
        onToggle={({ currentTarget }) => currentTarget.open || closeBanner(toast)}
        className="relative grow pr-8"
      >
        <summary className={closeLook}>
          <Icon of={X} className="size-5" />
          <span className="sr-only">Close</span>
        </summary>
        <ToastFace toast={toast} />
      </details>
    </div>
  );
}

/** The plane of a toast, in the page and over it. */
export function toastLook({ variant }: Toast): string {
  return `toast rounded-label border-l-4 bg-raised shadow-float ${variant === "destructive" ? "border-failure" : "border-done"}`;
}

export const closeLook =
  "absolute -top-2 -right-2 flex size-11 items-center justify-center rounded-label text-quiet hover:text-ink";

/** What a toast says. */
export function ToastFace({ toast }: { toast: Toast }) {
  const failed = toast.variant === "destructive";
  const { label, ...link } = toast.action ?? { to: "" };
  const mark = failed ? CircleAlert : CircleCheck;
  return (
    <div className="flex gap-3">
      <Icon of={mark} className={`mt-0.5 size-5 shrink-0 ${failed ? "text-failure" : "text-done"}`} />
      <div>
        <p className="font-semibold">{toast.title}</p>
        {toast.description && <p className="text-sm text-quiet">{toast.description}</p>}
        {label && (
          <Link {...link} className="inline-flex min-h-11 items-center text-sm underline">
            {label}
          </Link>
        )}
      </div>
    </div>
  );
}
