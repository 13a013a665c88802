import { CircleAlert, CircleCheck, X } from "lucide";
import { type FormEvent, type MouseEvent, type RefObject, useEffect, useRef, useSyncExternalStore } from "react";
import { Link } from "react-router";
import { Icon } from "~/components/ui/icon";
import type { Toast } from "~/lib/http/toast";
import { useIdleImport } from "./idle-import";

/** `bannerShown` and `announced` mean that the server's banner was visible, and that screen readers read it out. */
type BannerHistory = { bannerShown?: boolean; announced?: boolean };
export type CurrentToast = { id: number; toast: Toast } & BannerHistory;

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

export function useToasts(): ToastState {
  return useSyncExternalStore(
    subscribe,
    () => toastState,
    () => emptyToastState,
  );
}

/** Replaces the visible toast. The same object is shown only once. */
export function showToast(toast: Toast, history: BannerHistory = {}): void {
  if (shownToasts.has(toast)) return;
  shownToasts.add(toast);
  updateToastState({ current: { id: ++lastId, toast, ...history } });
}

export function showToastNext(toast: Toast): void {
  if (toastState.current) updateToastState({ waiting: toast });
  else showToast(toast, { bannerShown: !toastState.isReady });
}

/** Submits the form as usual until toasts can be shown. */
export function showToastInsteadOfSubmit(event: FormEvent, toast: Toast): void {
  if (!toastState.isReady) return;
  event.preventDefault();
  showToast(toast);
}

export function endToast(id: number): void {
  if (toastState.current?.id !== id) return;
  const { waiting } = toastState;
  updateToastState({ current: null, waiting: null });
  if (waiting) showToastNext(waiting);
}

function closeBanner(toast: Toast): void {
  shownToasts.add(toast);
  if (toastState.waiting === toast) updateToastState({ waiting: null });
  if (toastState.current?.toast === toast) endToast(toastState.current.id);
}

export function dropWaitingToast(): void {
  updateToastState({ waiting: null });
}

export function markToastsReady(): void {
  updateToastState({ isReady: true });
}

/** Shows banners until the toast region is loaded, and if loading fails. Rendered once in a document. */
export function Toaster() {
  const Region = useIdleImport(() => import("./toast-region"));
  const { current, isReady } = useToasts();
  useEffect(() => {
    isHydrated = true;
  }, []);
  return Region ? <Region /> : !isReady && current && !current.bannerShown && <Banner toast={current.toast} />;
}

/** A banner in the server's HTML that becomes a toast with script. `patient` waits for the visible toast to end. */
export function PageToast({ toast, patient = false }: { toast: Toast; patient?: boolean }) {
  const { isReady } = useToasts();
  const banner = useRef<HTMLDetailsElement>(null);
  useEffect(() => {
    if (banner.current?.open === false) return closeBanner(toast);
    // In the initial HTML, screen readers announce an alert but no status; later they announce both.
    const bannerShown = !toastState.isReady;
    if (patient) showToastNext(toast);
    else showToast(toast, { bannerShown, announced: bannerShown && (isHydrated || toast.variant === "destructive") });
  }, [toast, patient]);
  return isReady ? null : <Banner toast={toast} patient={patient} ref={banner} />;
}

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

export function toastClass({ variant }: Toast): string {
  return `toast rounded-label border-l-4 bg-raised shadow-float ${variant === "destructive" ? "border-failure" : "border-done"}`;
}

export const closeButtonClass =
  "absolute -top-2 -right-2 flex size-11 items-center justify-center rounded-label text-quiet hover:text-ink";

export function ToastContent({ toast, onFollow }: { toast: Toast; onFollow?: (event: MouseEvent) => void }) {
  const failed = toast.variant === "destructive";
  const { label, ...link } = toast.action ?? { to: "" };
  return (
    <div className="flex gap-3">
      <Icon
        of={failed ? CircleAlert : CircleCheck}
        className={`mt-0.5 size-5 shrink-0 ${failed ? "text-failure" : "text-done"}`}
      />
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
