import { Close, Provider, Root, Viewport } from "@radix-ui/react-toast";
import { X } from "lucide";
import { type RefObject, useEffect, useRef, useState } from "react";
import { createPortal } from "react-dom";
import { Icon } from "~/components/ui/icon";
import type { Toast } from "~/lib/flash";
import { atSignOut } from "~/lib/signed-out";
import { useTopDialog } from "./dialog";
import {
  type Current,
  closeLook,
  endToast,
  forgetWaiting,
  showToastNext,
  ToastFace,
  toastLook,
  toastsAreReady,
  useToasts,
} from "./flash";

/** How long the toast takes to go, in milliseconds; as .toast has it in app.css. */
const leaving = 150;

/**
 * The toast region of section 2 of the specification: 5000 ms, waits under the pointer and while it has the focus, ends
 * by Escape, its button, or a swipe of 50 px to the right; F8 leads to it. Inside an open dialog, since everything else
 * is out of reach then.
 */
export default function ToastRegion() {
  const { current, waiting, isReady } = useToasts();
  const dialog = useTopDialog();
  // What was spoken already is announced where nobody hears it.
  const [nowhere] = useState(() => document.createElement("div"));
  const container = dialog ?? document.body;
  const cameFrom = useRef<HTMLElement>(null);
  useEffect(toastsAreReady, []);
  useWaiting(waiting);
  useEffect(() => atSignOut(forgetWaiting), []);
  return (
    <Provider
      duration={5000}
      swipeDirection="right"
      swipeThreshold={50}
      announcerContainer={current?.spoken ? nowhere : container}
    >
      {isReady && current && <One key={current.id} {...current} cameFrom={cameFrom} />}
      {createPortal(
        <Viewport
          className="toasts"
          onFocus={({ currentTarget, relatedTarget }) => {
            const isOutside = !currentTarget.parentElement?.contains(relatedTarget);
            if (isOutside) cameFrom.current = relatedTarget as HTMLElement | null;
          }}
        />,
        container,
      )}
    </Provider>
  );
}

/** Under this name the tab keeps the toast that waits: it was never in view, so it comes on the next page. */
const waitingKey = "waiting-toast";

function useWaiting(waiting: Toast | null): void {
  const isNew = useRef(true);
  useEffect(() => {
    try {
      const left = isNew.current && sessionStorage.getItem(waitingKey);
      isNew.current = false;
      if (waiting) sessionStorage.setItem(waitingKey, JSON.stringify(waiting));
      else sessionStorage.removeItem(waitingKey);
      if (left && !waiting) showToastNext(JSON.parse(left));
    } catch {
      // Storage may be switched off or full: the page in view has it.
    }
  }, [waiting]);
}

function One({ id, toast, printed, cameFrom }: Current & { cameFrom: RefObject<HTMLElement | null> }) {
  const [open, setOpen] = useState(true);
  const root = useRef<HTMLLIElement>(null);
  const close = () => {
    if (root.current?.parentElement?.contains(document.activeElement)) cameFrom.current?.focus();
    setOpen(false);
    setTimeout(() => endToast(id), leaving);
  };
  return (
    <Root
      ref={root}
      open={open}
      onOpenChange={close}
      duration={toast.duration}
      type={toast.variant === "destructive" ? "foreground" : "background"}
      data-toast={toast.variant}
      data-new={printed ? undefined : ""}
      className={toastLook(toast)}
      onEscapeKeyDown={(event) => {
        // One press ends one thing: a dialog under the toast stays.
        event.preventDefault();
        close();
      }}
      onSwipeMove={({ detail }) => root.current?.style.setProperty("translate", `${detail.delta.x}px`)}
      onSwipeCancel={() => root.current?.style.removeProperty("translate")}
    >
      <div className="relative pr-8">
        <ToastFace toast={toast} />
        <Close className={closeLook}>
          <Icon of={X} className="size-5" />
          <span className="sr-only">Close</span>
        </Close>
      </div>
    </Root>
  );
}
