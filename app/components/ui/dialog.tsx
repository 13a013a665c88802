import { type ReactNode, type RefObject, useLayoutEffect, useRef, useState, useSyncExternalStore } from "react";
import { Link, type LinkProps, useLocation, useNavigate } from "react-router";

// The last dialog is on top and contains the toasts, because a modal dialog makes the rest of the page inert.
let openDialogs: readonly HTMLDialogElement[] = [];
const listeners = new Set<() => void>();

type DialogAnimation = typeof import("../motion/move").default;
let dialogAnimation: DialogAnimation | null = null;

/** Until the animation's module has loaded, dialogs close without animation. */
export function setDialogAnimation(loaded: DialogAnimation): void {
  dialogAnimation = loaded;
}

function setOpenDialogs(next: readonly HTMLDialogElement[]): void {
  openDialogs = next;
  for (const listener of listeners) listener();
}

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
 * Props for links that open a dialog. With the state `over`, closing the dialog goes back one history entry. View
 * transitions are off, because a running view transition blocks clicks.
 */
export const dialogLinkProps = { state: { over: true }, replace: false, viewTransition: false } as const;

/** Without JavaScript, the dialog is a part of the page. After hydration, the dialog is modal. */
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
  // The effect depends on `key`, because Back and Forward can return to the dialog before React unmounts the dialog.
  useLayoutEffect(() => {
    const element = dialog.current;
    // Without the modal style, `showModal` would scroll to the dialog's place in the page.
    if (!modal) return setModal(true);
    if (!element || element.open) return;
    const opener = document.activeElement;
    openModal(element);
    // On touch devices, focusing an input would open the on-screen keyboard over the form.
    if (matchMedia("(pointer: fine)").matches) element.querySelector<HTMLElement>("input[aria-required]")?.focus();
    growFrom(element, opener);
  }, [key, modal]);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Escape fires the event `cancel`, which closes the dialog
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
  if (document.activeElement === document.body) document.getElementById("main")?.focus({ preventScroll: true });
  setOpenDialogs(openDialogs.filter((dialog) => dialog !== element));
}

/** Returns a function that closes the dialog and goes back, or opens `back` if no page is below the dialog. */
export function useCloseDialog(back: string): () => void {
  const navigate = useNavigate();
  const { state, key } = useLocation();
  const currentKey = useRef(key);
  currentKey.current = key;
  // The location state is read only once, because submitting a form drops the state.
  const [isOverPage] = useState((state as { over?: unknown } | null)?.over === true);
  return async () => {
    // The dialog closes before the navigation, because loading the page below may take several seconds.
    const dialog = openDialogs.at(-1);
    if (dialog?.inert) return;
    if (dialog) {
      dialog.inert = true;
      await dialogAnimation?.(
        dialog,
        dialog.querySelector(".toast") ? { opacity: [1, 0] } : { opacity: [1, 0], scale: [1, 0.92] },
      );
      dialog.inert = false;
      if (currentKey.current !== key || !dialog.isConnected) return dialog.removeAttribute("style");
      closeModal(dialog);
    }
    if (isOverPage) navigate(-1);
    else navigate(back, { replace: true, preventScrollReset: true });
  };
}

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

function growFrom(element: HTMLElement, opener: Element | null): void {
  const from = opener?.getBoundingClientRect();
  const to = element.getBoundingClientRect();
  if (!from || opener === document.body) return;
  element.style.transformOrigin = `${from.x + from.width / 2 - to.x}px ${from.y + from.height / 2 - to.y}px`;
}
