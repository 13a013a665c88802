import { type FormEvent, useSyncExternalStore } from "react";
import type { Toast } from "~/lib/http/toast";

/**
 * `path` is the path of the page on which the toast appeared. `bannerShown` is true if the toast was first a banner.
 * `announced` is true if screen readers have already read the banner.
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

export function useToasts(): ToastState {
  return useSyncExternalStore(
    subscribe,
    () => toastState,
    () => emptyToastState,
  );
}

/** Shows `toast` in place of the visible toast. Does nothing if the same toast object was shown before. */
export function showToast(toast: Toast, bannerShown = false, announced = false): void {
  if (shownToasts.has(toast)) return;
  shownToasts.add(toast);
  updateToastState({ current: { id: ++lastId, toast, path: location.pathname, bannerShown, announced } });
}

export function showToastNext(toast: Toast): void {
  if (toastState.current) updateToastState({ waiting: toast });
  else showToast(toast, !toastState.isReady);
}

/** Shows a toast instead of submitting the form, if the toast module is loaded. */
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

/** Prevents a toast from appearing again after the visitor has closed the toast's banner. */
export function closeBanner(toast: Toast): void {
  shownToasts.add(toast);
  if (toastState.waiting === toast) updateToastState({ waiting: null });
  if (toastState.current?.toast === toast) endToast(toastState.current.id);
}

export function dropWaitingToast(): void {
  updateToastState({ waiting: null });
}

/** The toast module calls this function after loading, so that toasts replace banners. */
export function markToastsReady(): void {
  updateToastState({ isReady: true });
}
