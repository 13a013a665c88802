import { type FormEvent, useSyncExternalStore } from "react";
import type { Toast } from "~/lib/http/toast";

/** The visible toast. `bannerShown`: its banner was visible before. `announced`: screen readers announced that banner. */
export type CurrentToast = { id: number; toast: Toast; bannerShown: boolean; announced: boolean };

type ToastState = { current: CurrentToast | null; waiting: Toast | null; isReady: boolean };

const emptyToastState: ToastState = { current: null, waiting: null, isReady: false };
export let toastState = emptyToastState;
let lastId = 0;
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
export function showToast(toast: Toast, bannerShown = false, announced = false): void {
  if (shownToasts.has(toast)) return;
  shownToasts.add(toast);
  updateToastState({ current: { id: ++lastId, toast, bannerShown, announced } });
}

/** Shows a toast after the visible one. */
export function showToastNext(toast: Toast): void {
  if (toastState.current) updateToastState({ waiting: toast });
  else showToast(toast, !toastState.isReady);
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
export function closeBanner(toast: Toast): void {
  shownToasts.add(toast);
  if (toastState.waiting === toast) updateToastState({ waiting: null });
  if (toastState.current?.toast === toast) endToast(toastState.current.id);
}

/** Removes the waiting toast, because its reader has signed out. */
export function dropWaitingToast(): void {
  updateToastState({ waiting: null });
}

/** Notes that toasts can be shown. From then on no banner is rendered. */
export function markToastsReady(): void {
  updateToastState({ isReady: true });
}
