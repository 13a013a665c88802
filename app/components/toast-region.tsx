import { Close, Provider, Root, Viewport } from "@radix-ui/react-toast";
import { X } from "lucide";
import { type RefObject, useEffect, useRef, useState } from "react";
import { createPortal } from "react-dom";
import { useLocation } from "react-router";
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

/** How long the closing animation takes, in milliseconds; as .toast in parts.css. */
const leaving = 150;

/**
 * The toast region of section 2 of the specification: 5000 ms, paused while hovered or focused; closed by Escape, its
 * button, or a swipe of 50 px to the right; F8 focuses it. Rendered inside an open modal dialog, since everything else
 * is inert then.
 */
export default function ToastRegion() {
  const { current, waiting, isReady } = useToasts();
  const dialog = useTopDialog();
  // Detached: a toast announced as a banner is not announced again.
  const [nowhere] = useState(() => document.createElement("div"));
  const container = dialog ?? document.body;
  const cameFrom = useRef<HTMLElement>(null);
  useEffect(toastsAreReady, []);
  useWaiting(waiting);
  useReached(current, waiting);
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

/** sessionStorage key of the waiting toast: if the document is left before it shows, the next one shows it. */
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
      // Storage may be switched off or full: this document still has it.
    }
  }, [waiting]);
}

/** Ends, or never shows, a toast whose link leads to the page in view. */
function useReached(current: Current | null, waiting: Toast | null): void {
  const { pathname } = useLocation();
  useEffect(() => {
    if (waiting?.action?.to === pathname) forgetWaiting();
    if (current?.toast.action?.to === pathname) endToast(current.id);
  }, [pathname, current, waiting]);
}

function One({ id, toast, printed, cameFrom }: Current & { cameFrom: RefObject<HTMLElement | null> }) {
  const [open, setOpen] = useState(true);
  // A toast that moves into a dialog is a new element, and does not slide in again.
  const [isNew, setNew] = useState(!printed);
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
      data-new={isNew ? "" : undefined}
      onAnimationEnd={() => setNew(false)}
      className={toastLook(toast)}
      onEscapeKeyDown={(event) => {
        // One Escape closes one thing: a dialog under the toast stays.
        event.preventDefault();
        close();
      }}
      onSwipeMove={({ detail }) => root.current?.style.setProperty("translate", `${detail.delta.x}px`)}
      onSwipeCancel={() => root.current?.style.removeProperty("translate")}
    >
      <div className="relative pr-8">
        <ToastFace toast={toast} onFollow={close} />
        <Close className={closeLook}>
          <Icon of={X} className="size-5" />
          <span className="sr-only">Close</span>
        </Close>
      </div>
    </Root>
  );
}
