import { type ReactNode, useLayoutEffect, useRef, useState } from "react";
import { useNavigate } from "react-router";

/**
 * The content of a nested route: a part of the page as the server sends it, a dialog over the page once script runs.
 * Escape and a press beside it go to `back`, as its own links do; focus returns to what opened it.
 */
export function RouteDialog({ label, back, children }: { label: string; back: string; children: ReactNode }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [modal, setModal] = useState(false);
  const navigate = useNavigate();
  useLayoutEffect(() => {
    const element = dialog.current;
    element?.close();
    element?.showModal();
    setModal(true);
    return () => element?.close();
  }, []);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the keyboard's way out is Escape, which arrives as `cancel`
    <dialog
      ref={dialog}
      open
      aria-label={label}
      onCancel={(event) => {
        event.preventDefault();
        navigate(back);
      }}
      onClick={(event) => {
        if (event.target === event.currentTarget) navigate(back);
      }}
      className={
        modal
          ? "m-auto max-h-[92dvh] w-[min(36rem,calc(100vw-2rem))] overflow-y-auto rounded-label border border-line bg-raised p-0 text-ink shadow-float backdrop:bg-sunken/90"
          : "static m-0 w-full max-w-xl bg-transparent p-0 text-ink"
      }
    >
      <div className={modal ? "p-4 sm:p-6" : ""}>{children}</div>
    </dialog>
  );
}
