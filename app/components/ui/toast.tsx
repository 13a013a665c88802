/** Toasts: banners in the HTML of the server, which become toasts once script runs. One at a time, the newest. */
import { CircleAlert, CircleCheck, X } from "lucide";
import { type FormEvent, type MouseEvent, type RefObject, useEffect, useRef, useSyncExternalStore } from "react";
import { Link } from "react-router";
import { Icon } from "~/components/ui/icon";
import type { Toast } from "~/lib/http/toast";
import { useIdleImport } from "./idle-import";

/** The toast in view; `printed`: its banner was shown before; `spoken`: screen readers announced that banner. */
export type CurrentToast = { id: number; toast: Toast; bannerShown: boolean; announced: boolean };

type ToastState = { current: CurrentToast | null; waiting: Toast | null; isReady: boolean };

const emptyToastState: ToastState = { current: null, waiting: null, isReady: false };
let toastState = emptyToastState;
let lastId = 0;
let isHydrated = false;
const listeners = new Set<() => void>();
const shownToasts = new WeakSet<Toast>();

function updateToastState(change: Partial<ToastState>): void {
  toastState = { ...toastState, ...change };
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** The toasts of this browser; none on the server. */
export function useToasts(): ToastState {
  return useSyncExternalStore(
    subscribe,
    () => toastState,
    () => emptyToastState,
  );
}

/** Shows a toast in place of the one in view. The same object is shown only once. */
export function showToast(toast: Toast, { printed = false, spoken = false } = {}): void {
  if (shownToasts.has(toast)) return;
  shownToasts.add(toast);
  updateToastState({ current: { id: ++lastId, toast, bannerShown: printed, announced: spoken } });
}

/** Shows a toast once the one in view is gone. */
export function showToastNext(toast: Toast): void {
  if (toastState.current) updateToastState({ waiting: toast });
  else showToast(toast, { printed: !toastState.isReady });
}

/** Shows a toast instead of submitting the form; until toasts can be shown, the form is submitted as usual. */
export function showToastInsteadOfSubmit(event: FormEvent, toast: Toast): void {
  if (!toastState.isReady) return;
  event.preventDefault();
  showToast(toast);
}

/** Ends a toast; the one that waited for it follows. */
export function endToast(id: number): void {
  if (toastState.current?.id !== id) return;
  const { waiting } = toastState;
  updateToastState({ current: null, waiting: null });
  if (waiting) showToastNext(waiting);
}

/** Ends a toast that was closed while still a banner, so that it does not come back as a toast. */
function closeBanner(toast: Toast): void {
  shownToasts.add(toast);
  if (toastState.waiting === toast) updateToastState({ waiting: null });
  if (toastState.current?.toast === toast) endToast(toastState.current.id);
}

/** Drops the waiting toast: the person it was meant for has signed out. */
export function dropWaitingToast(): void {
  updateToastState({ waiting: null });
}

/** Says that toasts can be shown: from now on no banner is printed. */
export function markToastsReady(): void {
  updateToastState({ isReady: true });
}

/**
 * Where toasts appear once script runs; the module for it is loaded when the browser is idle. Until then, and if that
 * fails, a toast is a banner. Rendered once in a document.
 */
export function Toaster() {
  const Region = useIdleImport(() => import("./toast-region"));
  const { current, isReady } = useToasts();
  useEffect(() => {
    isHydrated = true;
  }, []);
  return Region ? <Region /> : !isReady && current && !current.bannerShown && <Banner toast={current.toast} />;
}

/**
 * A toast of the page: a banner in the HTML of the server, gone on the next page; with script, in the same place, the
 * toast of the specification. With `patient` it waits for the toast in view to end.
 */
export function PageToast({ toast, patient = false }: { toast: Toast; patient?: boolean }) {
  const { isReady } = useToasts();
  const banner = useRef<HTMLDetailsElement>(null);
  useEffect(() => {
    if (banner.current?.open === false) return closeBanner(toast);
    // Screen readers announce an alert in the initial HTML but no status; of elements added later they announce both.
    const printed = !toastState.isReady;
    if (patient) showToastNext(toast);
    else showToast(toast, { printed, spoken: printed && (isHydrated || toast.variant === "destructive") });
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
      className={`${toastClass(toast)} ${patient ? "" : "banner"} has-[details:not([open])]:hidden`}
    >
      <details
        ref={ref}
        open
        onToggle={({ currentTarget }) => currentTarget.open || closeBanner(toast)}
        className="relative grow pr-8"
      >
        <summary className={closeButtonClass}>
          <Icon of={X} className="size-5" />
          <span className="sr-only">Close</span>
        </summary>
        <ToastContent toast={toast} />
      </details>
    </div>
  );
}

/** The classes of a toast and of its banner. */
export function toastClass({ variant }: Toast): string {
  return `toast rounded-label border-l-4 bg-raised shadow-float ${variant === "destructive" ? "border-failure" : "border-done"}`;
}

export const closeButtonClass =
  "absolute -top-2 -right-2 flex size-11 items-center justify-center rounded-label text-quiet hover:text-ink";

/** What a toast says. */
export function ToastContent({ toast, onFollow }: { toast: Toast; onFollow?: (event: MouseEvent) => void }) {
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
