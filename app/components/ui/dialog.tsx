import { type ReactNode, type RefObject, useLayoutEffect, useRef, useState, useSyncExternalStore } from "react";
import { Link, type LinkProps, useLocation, useNavigate } from "react-router";

// Open modal dialogs, the topmost last. They make the rest of the page inert, so toasts are rendered inside them.
let openDialogs: readonly HTMLDialogElement[] = [];
const listeners = new Set<() => void>();

type DialogAnimation = typeof import("../motion/move").default;
let dialogAnimation: DialogAnimation | null = null;

/** Gives dialogs what moves them back to what was pressed, once it is loaded; without it they close at once. */
export function setDialogAnimation(loaded: DialogAnimation): void {
  dialogAnimation = loaded;
}

function setOpenDialogs(next: readonly HTMLDialogElement[]): void {
  openDialogs = next;
  for (const listener of listeners) listener();
}

/** The topmost open modal dialog, or null. */
export function useTopDialog(): HTMLElement | null {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => openDialogs.at(-1) ?? null,
    () => null,
  );
}

/**
 * Props of a link that opens a dialog over its own page. It always adds a history entry, so that closing can go back.
 * No view transition: the page below does not change, and one would block clicks.
 */
export const dialogLinkProps = { state: { over: true }, replace: false, viewTransition: false } as const;

/**
 * The content of an address that opens over a page: in the page in the server's HTML, a modal dialog once hydrated.
 * It grows from what was pressed, and goes back there. Escape and a click on the backdrop close it as `useClose` does;
 * focus returns to the element that opened it.
 */
export function Dialog(props: { label: string; back: string; className: string; children: ReactNode }) {
  const { label, back, className, children } = props;
  const dialog = useRef<HTMLDialogElement>(null);
  const [modal, setModal] = useState(false);
  const close = useCloseDialog(back);
  const { key } = useLocation();
  useLayoutEffect(() => {
    const element = dialog.current;
    element?.close();
    return () => {
      if (element) closeModal(element);
    };
  }, []);
  // Returning before the dialog is unmounted opens it again.
  useLayoutEffect(() => {
    const element = dialog.current;
    // Gets its modal style first: showModal moves the focus, which would scroll the page to its place in the flow.
    if (!modal) return setModal(true);
    if (!element || element.open) return;
    const opener = document.activeElement;
    openModal(element);
    // Not on touch screens, where the on-screen keyboard would cover the rest of the form.
    if (matchMedia("(pointer: fine)").matches) element.querySelector<HTMLElement>("input:not([type=hidden])")?.focus();
    growFrom(element, opener);
  }, [key, modal]);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the keyboard closes it with Escape, which arrives as `cancel`
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
          ? "mx-auto mt-[4dvh] mb-auto max-h-[92dvh] sm:mt-[10dvh] sm:max-h-[86dvh] w-[min(36rem,calc(100vw-2rem))] overflow-y-auto rounded-label border border-line bg-raised p-0 text-ink shadow-float backdrop:bg-sunken/90"
          : `m-0 text-ink ${className}`
      }
    >
      <div className={modal ? "p-4 sm:p-6" : ""}>{children}</div>
    </dialog>
  );
}

/** Opens a dialog element as modal while it is mounted, with the toasts in it. */
export function useModal(dialog: RefObject<HTMLDialogElement | null>): void {
  useLayoutEffect(() => {
    const element = dialog.current;
    if (!element) return;
    openModal(element);
    return () => closeModal(element);
  }, [dialog]);
}

function openModal(element: HTMLDialogElement): void {
  element.showModal();
  setOpenDialogs([...openDialogs, element]);
}

function closeModal(element: HTMLDialogElement): void {
  element.close();
  element.removeAttribute("style");
  // What opened it may be folded away by now.
  if (document.activeElement === document.body) document.getElementById("main")?.focus({ preventScroll: true });
  setOpenDialogs(openDialogs.filter((one) => one !== element));
}

/** Returns how to close: back to the page it was opened from, so that Back does not reopen it; else on to `back`. */
export function useCloseDialog(back: string): () => void {
  const navigate = useNavigate();
  const { state, key } = useLocation();
  const here = useRef(key);
  here.current = key;
  // Read once: a refused form loses its location state.
  const [opened] = useState((state as { over?: unknown } | null)?.over === true);
  return async () => {
    // Closes before the navigation, which may have to load the page below first.
    const dialog = openDialogs.at(-1);
    if (dialog?.inert) return;
    if (dialog) {
      dialog.inert = true;
      await dialogAnimation?.(
        dialog,
        dialog.querySelector(".toast") ? { opacity: [1, 0] } : { opacity: [1, 0], scale: [1, 0.92] },
      );
      dialog.inert = false;
      // Meanwhile the person may have gone back, or elsewhere; a dialog that is still open then is seen again.
      if (here.current !== key || !dialog.isConnected) return dialog.removeAttribute("style");
      closeModal(dialog);
    }
    if (opened) navigate(-1);
    else navigate(back, { replace: true, preventScrollReset: true });
  };
}

/** A link out of the dialog: to `to` without script, otherwise as `useClose` does. */
export function CloseLink({ to, ...props }: Omit<LinkProps, "to"> & { to: string }) {
  const close = useCloseDialog(to);
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

/** Makes the opening animation grow from the opener. */
function growFrom(element: HTMLElement, opener: Element | null): void {
  const from = opener?.getBoundingClientRect();
  const to = element.getBoundingClientRect();
  if (!from || opener === document.body) return;
  element.style.transformOrigin = `${from.x + from.width / 2 - to.x}px ${from.y + from.height / 2 - to.y}px`;
}
