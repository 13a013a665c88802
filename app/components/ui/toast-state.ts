import { type FormEvent, useSyncExternalStore } from "react";
import type { Toast } from "~/lib/http/toast";

/**
 * `path` is the page of the toast. `bannerShown`: the server's HTML showed the toast as a banner. `announced`: screen
 * readers have read that banner.
 */
export type CurrentToast = { id: number; toast: Toast; path: string; bannerShown: boolean; announced: boolean };

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

/** Returns no toasts on the server. */
export function useToasts(): ToastState {
  return useSyncExternalStore(
    subscribe,
    () => toastState,
    () => emptyToastState,
  );
}

/** Replaces the visible toast. The same toast object is shown only once. */
export function showToast(toast: Toast, bannerShown = false, announced = false): void {
  if (shownToasts.has(toast)) return;
  shownToasts.add(toast);
  updateToastState({ current: { id: ++lastId, toast, path: location.pathname, bannerShown, announced } });
}

export function showToastNext(toast: Toast): void {
  if (toastState.current) updateToastState({ waiting: toast });
  else showToast(toast, !toastState.isReady);
}

/** Shows a toast instead of submitting the form. Until the toast module is loaded, the form is submitted. */
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

/** Marks a toast as shown after the visitor has closed its banner, so that the toast does not appear again. */
export function closeBanner(toast: Toast): void {
  shownToasts.add(toast);
  if (toastState.waiting === toast) updateToastState({ waiting: null });
  if (toastState.current?.toast === toast) endToast(toastState.current.id);
}

export function dropWaitingToast(): void {
  updateToastState({ waiting: null });
}

/** Called when the toast module is loaded. Toasts then replace banners. */
export function markToastsReady(): void {
  updateToastState({ isReady: true });
}
