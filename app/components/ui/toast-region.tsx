import { X } from "lucide";
import { type MouseEvent, type RefObject, useEffect, useRef, useState } from "react";
import { createPortal } from "react-dom";
import { useLocation, useNavigation } from "react-router";
import { Icon } from "~/components/ui/icon";
import { onSignOut } from "~/lib/browser/sign-out";
import type { Toast } from "~/lib/http/toast";
import move from "../motion/move";
import { useSwipe } from "../motion/swipe";
import { cancelNavigation } from "../offline/connection-lost";
import { setDialogAnimation, useTopDialog } from "./dialog";
import { closeButtonClass, ToastContent, toastClass } from "./toast-content";
import {
  type CurrentToast,
  dropWaitingToast,
  endToast,
  markToastsReady,
  showToastNext,
  useToasts,
} from "./toast-state";

setDialogAnimation(move);

/**
 * The toast region of section 2 of the specification: 5000 ms, paused while hovered or focused; closed by Escape, its
 * button, or a swipe of 50 px to the right; F8 focuses it. Rendered inside an open modal dialog, since everything else
 * is inert then.
 */
export default function ToastRegion() {
  const { current, waiting, isReady } = useToasts();
  const container = useTopDialog() ?? document.body;
  const [list, setList] = useState<HTMLElement | null>(null);
  const [isFocused, setFocused] = useState(false);
  const cameFrom = useRef<HTMLElement>(null);
  const announcement = useAnnouncement(current, list);
  useEffect(markToastsReady, []);
  // What else a page needs when it is idle comes after it.
  useEffect(
    () =>
      void import("../offline").then(
        ({ startOffline: begin }) => begin(),
        () => {},
      ),
    [],
  );
  usePersistedWaitingToast(waiting);
  useDismissReachedToast(current, waiting);
  useEffect(() => onSignOut(dropWaitingToast), []);
  const id = current?.id;
  // The focus goes with a toast that has it, and no event tells.
  useEffect(() => setFocused(false), [id, list]);
  useEffect(() => {
    const keyDown = ({ key }: KeyboardEvent) => key === "F8" && list?.focus();
    addEventListener("keydown", keyDown);
    return () => removeEventListener("keydown", keyDown);
  }, [list]);
  return (
    <>
      {createPortal(
        <section aria-label="Notifications (F8)">
          <p aria-live={current?.toast.variant === "destructive" ? "assertive" : "polite"} className="sr-only">
            {announcement}
          </p>
          <ol
            ref={setList}
            tabIndex={-1}
            className="toasts"
            onFocus={({ currentTarget, relatedTarget }) => {
              if (!currentTarget.contains(relatedTarget)) cameFrom.current = relatedTarget as HTMLElement | null;
              setFocused(true);
            }}
            onBlur={({ currentTarget, relatedTarget }) => setFocused(currentTarget.contains(relatedTarget))}
          />
        </section>,
        container,
      )}
      {isReady && list && current && (
        <ToastItem key={current.id} {...current} list={list} isFocused={isFocused} previousFocus={cameFrom} />
      )}
    </>
  );
}

/**
 * What screen readers are to say of a toast, unless they announced its banner. The words come two frames after their region,
 * or it would not be heard; a region in a dialog that opens later says nothing again.
 */
function useAnnouncement(current: CurrentToast | null, region: HTMLElement | null): string {
  const [words, setWords] = useState("");
  useEffect(() => setWords(""), [region]);
  const id = current?.id;
  useEffect(() => {
    setWords("");
    if (!current || current.announced) return;
    const { title, description = "" } = current.toast;
    let frame = requestAnimationFrame(() => {
      frame = requestAnimationFrame(() => setWords(`Notification ${title} ${description}`));
    });
    return () => cancelAnimationFrame(frame);
  }, [id]);
  return words;
}

/** sessionStorage key of the waiting toast: if the document is left before it shows, the next one shows it. */
const waitingToastKey = "waiting-toast";

function usePersistedWaitingToast(waiting: Toast | null): void {
  const isNew = useRef(true);
  useEffect(() => {
    try {
      const left = isNew.current && sessionStorage.getItem(waitingToastKey);
      isNew.current = false;
      if (waiting) sessionStorage.setItem(waitingToastKey, JSON.stringify(waiting));
      else sessionStorage.removeItem(waitingToastKey);
      if (left && !waiting) showToastNext(JSON.parse(left));
    } catch {
      // Storage may be switched off or full: this document still has it.
    }
  }, [waiting]);
}

/** Ends, or never shows, a toast whose link leads to the page in view, or whose navigation is over. */
function useDismissReachedToast(current: CurrentToast | null, waiting: Toast | null): void {
  const { pathname } = useLocation();
  const { state } = useNavigation();
  useEffect(() => {
    if (current?.toast.lastsForNavigation && state === "idle") endToast(current.id);
  }, [state, current]);
  useEffect(() => {
    if (waiting?.action?.to === pathname) dropWaitingToast();
    if (current?.toast.action?.to === pathname) endToast(current.id);
  }, [pathname, current, waiting]);
}

/** Calls back after a time in milliseconds that stands still while `isPaused`. */
function usePausableTimeout(duration: number, isPaused: boolean, callback: () => void): void {
  const left = useRef(duration);
  useEffect(() => {
    if (isPaused) return;
    const since = Date.now();
    const timer = setTimeout(callback, left.current);
    return () => {
      clearTimeout(timer);
      left.current -= Date.now() - since;
    };
  }, [isPaused]);
}

type ToastItemProps = CurrentToast & {
  list: HTMLElement;
  isFocused: boolean;
  previousFocus: RefObject<HTMLElement | null>;
};

/** Its time and state outlive a move of its element to the list in a dialog. */
function ToastItem({ id, toast, bannerShown, list, isFocused, previousFocus: cameFrom }: ToastItemProps) {
  const [isOpen, setOpen] = useState(true);
  const [pointed, setPointed] = useState(false);
  const [away, setAway] = useState(() => !document.hasFocus());
  const root = useRef<HTMLLIElement>(null);
  const isOver = useRef(false);
  // In its place from the beginning, where the banner was before; otherwise it comes from below.
  const isNew = useRef(!bannerShown);

  /** It leaves as it came, or on in the direction of the swipe. */
  const close = async (swiped?: number) => {
    if (isOver.current) return;
    isOver.current = true;
    if (list.contains(document.activeElement)) restoreFocus(cameFrom.current, list);
    setOpen(false);
    const off = swiped === undefined ? ["0 0", "0 1rem"] : [`${swiped}px 0`, `${swiped + 100}px 0`];
    if (root.current) await move(root.current, { opacity: [1, 0], translate: off });
    endToast(id);
  };
  const follow = (event: MouseEvent) => {
    if (toast.lastsForNavigation) {
      event.preventDefault();
      void cancelNavigation();
    }
    void close();
  };
  usePausableTimeout(toast.duration ?? 5000, pointed || isFocused || away || toast.lastsForNavigation === true, close);
  const swipe = useSwipe(root, isOver, close);

  useEffect(() => {
    if (isNew.current && root.current) move(root.current, { opacity: [0, 1], translate: ["0 1rem", "0 0"] });
    isNew.current = false;
    const off = new AbortController();
    const { signal } = off;
    const keyDown = (event: KeyboardEvent) => {
      if (event.key !== "Escape" || isOver.current) return;
      // One Escape closes one thing: a dialog or a list under the toast stays.
      event.preventDefault();
      event.stopPropagation();
      close();
    };
    addEventListener("keydown", keyDown, { signal, capture: true });
    addEventListener("blur", () => setAway(true), { signal });
    addEventListener("focus", () => setAway(false), { signal });
    return () => off.abort();
  }, []);

  return createPortal(
    <li
      ref={root}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: F8 and Tab lead to what it says
      tabIndex={0}
      data-state={isOpen ? "open" : "closed"}
      data-toast={toast.variant}
      className={toastClass(toast)}
      onPointerEnter={() => setPointed(true)}
      onPointerMove={() => setPointed(true)}
      onPointerLeave={() => setPointed(false)}
      {...swipe}
    >
      <div className="relative pr-8">
        <ToastContent toast={toast} onFollow={follow} />
        <button type="button" className={closeButtonClass} onClick={() => close()}>
          <Icon of={X} className="size-5" />
          <span className="sr-only">Close</span>
        </button>
      </div>
    </li>,
    list,
  );
}

/** Focuses what had the focus before, or else what is around the toasts: the dialog they are in, or the page. */
function restoreFocus(before: HTMLElement | null, list: HTMLElement): void {
  const around =
    list.closest("dialog")?.querySelector<HTMLElement>("a, button, input") ?? document.getElementById("main");
  (before?.isConnected ? before : around)?.focus({ preventScroll: true });
}
