/** Toasts. The server renders each toast as a banner, and script turns it into a toast. Only the newest one is shown. */
import { CircleAlert, CircleCheck, X } from "lucide";
import { type FormEvent, type MouseEvent, type RefObject, useEffect, useRef, useSyncExternalStore } from "react";
import { Link } from "react-router";
import { Icon } from "~/components/ui/icon";
import type { Toast } from "~/lib/http/toast";

/** The visible toast. `bannerShown`: its banner was visible before. `announced`: screen readers announced that banner. */
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

/** Returns the toasts of this browser, or none on the server. */
export function useToasts(): ToastState {
  return useSyncExternalStore(
    subscribe,
    () => toastState,
    () => emptyToastState,
  );
}

/** Shows a toast in place of the visible one. The same object is shown only once. */
export function showToast(toast: Toast, { printed = false, spoken = false } = {}): void {
  if (shownToasts.has(toast)) return;
  shownToasts.add(toast);
  updateToastState({ current: { id: ++lastId, toast, bannerShown: printed, announced: spoken } });
}

/** Shows a toast after the visible one. */
export function showToastNext(toast: Toast): void {
  if (toastState.current) updateToastState({ waiting: toast });
  else showToast(toast, { printed: !toastState.isReady });
}

/** Shows a toast instead of submitting the form. Until toasts can be shown, the form is submitted as usual. */
export function showToastInsteadOfSubmit(event: FormEvent, toast: Toast): void {
  if (!toastState.isReady) return;
  event.preventDefault();
  showToast(toast);
}

/** Ends a toast and shows the waiting one. */
export function endToast(id: number): void {
  if (toastState.current?.id !== id) return;
  const { waiting } = toastState;
  updateToastState({ current: null, waiting: null });
  if (waiting) showToastNext(waiting);
}

/** Ends a toast whose banner was closed, so that it does not appear again as a toast. */
function closeBanner(toast: Toast): void {
  shownToasts.add(toast);
  if (toastState.waiting === toast) updateToastState({ waiting: null });
  if (toastState.current?.toast === toast) endToast(toastState.current.id);
}

/** Removes the waiting toast, because its reader has signed out. */
export function dropWaitingToast(): void {
  updateToastState({ waiting: null });
}

/** Notes that React has hydrated the page. */
export function markHydrated(): void {
  isHydrated = true;
}

/** Notes that toasts can be shown. From then on no banner is rendered. */
export function markToastsReady(): void {
  updateToastState({ isReady: true });
}

/** Renders a banner on the server and shows a toast once script runs. With `patient`, waits for the end of the visible toast. */
export function PageToast({ toast, patient = false }: { toast: Toast; patient?: boolean }) {
  const { isReady } = useToasts();
  const banner = useRef<HTMLDetailsElement>(null);
  useEffect(() => {
    if (banner.current?.open === false) return closeBanner(toast);
    // In the initial HTML, screen readers announce an alert but no status. They announce both when added later.
    const printed = !toastState.isReady;
    if (patient) showToastNext(toast);
    else showToast(toast, { printed, spoken: printed && (isHydrated || toast.variant === "destructive") });
  }, [toast, patient]);
  return isReady ? null : <Banner toast={toast} patient={patient} ref={banner} />;
}

/** Is in the flow of the page without script, otherwise at the place of the toast. Closes without script. */
export function Banner(props: { toast: Toast; patient?: boolean; ref?: RefObject<HTMLDetailsElement | null> }) {
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

export function toastClass({ variant }: Toast): string {
  return `toast rounded-label border-l-4 bg-raised shadow-float ${variant === "destructive" ? "border-failure" : "border-done"}`;
}

export const closeButtonClass =
  "absolute -top-2 -right-2 flex size-11 items-center justify-center rounded-label text-quiet hover:text-ink";

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
