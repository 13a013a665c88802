/** Toasts: banners in the HTML of the server, which become toasts once script runs. One at a time, the newest. */
import { CircleAlert, CircleCheck, X } from "lucide";
import { type FormEvent, type MouseEvent, type RefObject, useEffect, useRef, useSyncExternalStore } from "react";
import { Link } from "react-router";
import { Icon } from "~/components/ui/icon";
import type { Toast } from "~/lib/flash";
import { useWhenIdle } from "./when-idle";

/** The toast in view; `printed`: its banner was shown before; `spoken`: screen readers announced that banner. */
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

/** Shows a toast in place of the one in view. The same object is shown only once. */
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

/** Shows a toast instead of submitting the form; until toasts can be shown, the form is submitted as usual. */
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

/** Ends a toast that was closed while still a banner, so that it does not come back as a toast. */
function closeBanner(toast: Toast): void {
  seen.add(toast);
  if (toasts.waiting === toast) set({ waiting: null });
  if (toasts.current?.toast === toast) endToast(toasts.current.id);
}

/** Drops the waiting toast: the person it was meant for has signed out. */
export function forgetWaiting(): void {
  set({ waiting: null });
}

/** Says that toasts can be shown: from now on no banner is printed. */
export function toastsAreReady(): void {
  set({ isReady: true });
}

/**
 * Where toasts appear once script runs; the module for it is loaded when the browser is idle. Until then, and if that
 * fails, a toast is a banner. Rendered once in a document.
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
 * A toast of the page: a banner in the HTML of the server, gone on the next page; with script, in the same place, the
 * toast of the specification. With `patient` it waits for the toast in view to end.
 */
export function Flash({ toast, patient = false }: { toast: Toast; patient?: boolean }) {
  const { isReady } = useToasts();
  const banner = useRef<HTMLDetailsElement>(null);
  useEffect(() => {
    if (banner.current?.open === false) return closeBanner(toast);
    // Screen readers announce an alert in the initial HTML but no status; of elements added later they announce both.
    const printed = !toasts.isReady;
    if (patient) showToastNext(toast);
    else showToast(toast, { printed, spoken: printed && (hydrated || toast.variant === "destructive") });
  }, [toast, patient]);
  return isReady ? null : <Banner toast={toast} patient={patient} ref={banner} />;
}

/** In the flow of the page if scripting is disabled, otherwise where the toast will be. Closes without script. */
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

/** The classes of a toast and of its banner. */
export function toastLook({ variant }: Toast): string {
  return `toast rounded-label border-l-4 bg-raised shadow-float ${variant === "destructive" ? "border-failure" : "border-done"}`;
}

export const closeLook =
  "absolute -top-2 -right-2 flex size-11 items-center justify-center rounded-label text-quiet hover:text-ink";

/** What a toast says. */
export function ToastFace({ toast, onFollow }: { toast: Toast; onFollow?: (event: MouseEvent) => void }) {
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
          <Link {...link} onClick={onFollow} className="inline-flex min-h-11 items-center text-sm underline">
            {label}
          </Link>
        )}
      </div>
    </div>
  );
}
