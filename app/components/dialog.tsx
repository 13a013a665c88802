import { type ReactNode, type RefObject, useLayoutEffect, useRef, useState, useSyncExternalStore } from "react";
import { Link, type LinkProps, useLocation, useNavigate } from "react-router";

// Every other part of the page is out of reach while a dialog is open, toasts too, unless they stand in it.
let open: readonly HTMLDialogElement[] = [];
const listeners = new Set<() => void>();

function setOpen(next: readonly HTMLDialogElement[]): void {
  open = next;
  for (const listener of listeners) listener();
}

/** The dialog that has the page for itself, or null. */
export function useTopDialog(): HTMLElement | null {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => open.at(-1) ?? null,
    () => null,
  );
}

/**
 * What a link has that opens a dialog over the page it stands on: closing goes back instead of on. Always an entry of
 * its own, also while the same dialog is on its way out; the page below stays, and takes presses at once.
 */
export const opensOver = { state: { over: true }, replace: false, viewTransition: false } as const;

/**
 * The content of an address that is opened over a page: in the page as the server sends it, a modal dialog once script
 * runs. Escape and a press beside it go to the address `back`, as its own links do; focus returns to what opened it.
 */
export function Dialog(props: { label: string; back: string; className: string; children: ReactNode }) {
  const { label, back, className, children } = props;
  const dialog = useRef<HTMLDialogElement>(null);
  const [modal, setModal] = useState(false);
  const close = useClose(back);
  const { key } = useLocation();
  useLayoutEffect(() => {
    const element = dialog.current;
    element?.close();
    return () => {
      if (element) shut(element);
    };
  }, []);
  // Whoever comes back before it is gone finds it open again.
  useLayoutEffect(() => {
    const element = dialog.current;
    // It is laid out as a modal before it is one: it gets the focus then, and the page would scroll to where it stood.
    if (!modal) return setModal(true);
    if (!element || element.open) return;
    const opener = document.activeElement;
    show(element);
    // Not under a finger, where the keyboard would cover the rest of the form.
    if (matchMedia("(pointer: fine)").matches) element.querySelector<HTMLElement>("input:not([type=hidden])")?.focus();
    growFrom(element, opener);
  }, [key, modal]);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the keyboard's way out is Escape, which arrives as `cancel`
    <dialog
      ref={dialog}
      open
      aria-label={label}
      onCancel={(event) => {
        event.preventDefault();
        close();
      }}
      onClick={(event) => {
        if (event.target === event.currentTarget) close();
      }}
      className={
        modal
          ? "m-auto max-h-[92dvh] w-[min(36rem,calc(100vw-2rem))] overflow-y-auto rounded-label border border-line bg-raised p-0 text-ink shadow-float backdrop:bg-sunken/90"
          : `m-0 text-ink ${className}`
      }
    >
      <div className={modal ? "p-4 sm:p-6" : ""}>{children}</div>
    </dialog>
  );
}

/** Keeps an element a modal dialog while it is there, over whatever stands below, with the toasts in it. */
export function useModal(dialog: RefObject<HTMLDialogElement | null>): void {
  useLayoutEffect(() => {
    const element = dialog.current;
    if (!element) return;
    show(element);
    return () => shut(element);
  }, [dialog]);
}

function show(element: HTMLDialogElement): void {
  element.showModal();
  setOpen([...open, element]);
}

function shut(element: HTMLDialogElement): void {
  element.close();
  setOpen(open.filter((one) => one !== element));
}

/** How to leave: back where the dialog was opened from, so that Back does not open it again; else on to `back`. */
export function useClose(back: string): () => void {
  const navigate = useNavigate();
  const { state } = useLocation();
  // Asked once: a refused form drops the state of its address.
  const [opened] = useState((state as { over?: unknown } | null)?.over === true);
  return () => {
    // The page below may have to come first: nobody waits for a dialog to go.
    const dialog = open.at(-1);
    if (dialog) shut(dialog);
    if (opened) navigate(-1);
    else navigate(back, { replace: true, preventScrollReset: true });
  };
}

/** A link out of the dialog: the address it leads to, and once script runs the way `useClose` goes. */
export function CloseLink({ to, ...props }: Omit<LinkProps, "to"> & { to: string }) {
  const close = useClose(to);
  return (
    <Link
      {...props}
      to={to}
      preventScrollReset
      onClick={(event) => {
        event.preventDefault();
        close();
      }}
    />
  );
}

/** What opens grows from what was pressed. */
function growFrom(element: HTMLElement, opener: Element | null): void {
  const from = opener?.getBoundingClientRect();
  const to = element.getBoundingClientRect();
  if (!from || opener === document.body) return;
  element.style.transformOrigin = `${from.x + from.width / 2 - to.x}px ${from.y + from.height / 2 - to.y}px`;
}
