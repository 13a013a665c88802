import { X } from "lucide";
import { type MouseEvent, type RefObject, useEffect, useRef, useState } from "react";
import { createPortal } from "react-dom";
import { useLocation, useNavigation } from "react-router";
import { Icon } from "~/components/ui/icon";
import type { Toast } from "~/lib/flash";
import { atSignOut } from "~/lib/signed-out";
import { moveDialogsBy, useTopDialog } from "./dialog";
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
import { stay } from "./lost-connection";
import move from "./motion/move";
import { useSwipe } from "./motion/swipe";

moveDialogsBy(move);

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
  useEffect(toastsAreReady, []);
  // What else a page needs when it is idle comes after it.
  useEffect(
    () =>
      void import("./no-line").then(
        ({ begin }) => begin(),
        () => {},
      ),
    [],
  );
  useWaiting(waiting);
  useReached(current, waiting);
  useEffect(() => atSignOut(forgetWaiting), []);
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
        <One key={current.id} {...current} list={list} isFocused={isFocused} cameFrom={cameFrom} />
      )}
    </>
  );
}

/**
 * What screen readers are to say of a toast, unless they announced its banner. The words come two frames after their region,
 * or it would not be heard; a region in a dialog that opens later says nothing again.
 */
function useAnnouncement(current: Current | null, region: HTMLElement | null): string {
  const [words, setWords] = useState("");
  useEffect(() => setWords(""), [region]);
  const id = current?.id;
  useEffect(() => {
    setWords("");
    if (!current || current.spoken) return;
    const { title, description = "" } = current.toast;
    let frame = requestAnimationFrame(() => {
      frame = requestAnimationFrame(() => setWords(`Notification ${title} ${description}`));
    });
    return () => cancelAnimationFrame(frame);
  }, [id]);
  return words;
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

/** Ends, or never shows, a toast whose link leads to the page in view, or whose navigation is over. */
function useReached(current: Current | null, waiting: Toast | null): void {
  const { pathname } = useLocation();
  const { state } = useNavigation();
  useEffect(() => {
    if (current?.toast.isOfNavigation && state === "idle") endToast(current.id);
  }, [state, current]);
  useEffect(() => {
    if (waiting?.action?.to === pathname) forgetWaiting();
    if (current?.toast.action?.to === pathname) endToast(current.id);
  }, [pathname, current, waiting]);
}

/** Calls back after a time in milliseconds that stands still while `isPaused`. */
function useTimeLeft(duration: number, isPaused: boolean, callback: () => void): void {
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

type OneProps = Current & { list: HTMLElement; isFocused: boolean; cameFrom: RefObject<HTMLElement | null> };

/** Its time and state outlive a move of its element to the list in a dialog. */
function One({ id, toast, printed, list, isFocused, cameFrom }: OneProps) {
  const [isOpen, setOpen] = useState(true);
  const [pointed, setPointed] = useState(false);
  const [away, setAway] = useState(() => !document.hasFocus());
  const root = useRef<HTMLLIElement>(null);
  const isOver = useRef(false);
  // In its place from the beginning, where the banner was before; otherwise it comes from below.
  const isNew = useRef(!printed);

  /** It leaves as it came, or on in the direction of the swipe. */
  const close = async (swiped?: number) => {
    if (isOver.current) return;
    isOver.current = true;
    if (list.contains(document.activeElement)) giveFocusBack(cameFrom.current, list);
    setOpen(false);
    const off = swiped === undefined ? ["0 0", "0 1rem"] : [`${swiped}px 0`, `${swiped + 100}px 0`];
    if (root.current) await move(root.current, { opacity: [1, 0], translate: off });
    endToast(id);
  };
  const follow = (event: MouseEvent) => {
    if (toast.isOfNavigation) {
      event.preventDefault();
      void stay();
    }
    void close();
  };
  useTimeLeft(toast.duration ?? 5000, pointed || isFocused || away || toast.isOfNavigation === true, close);
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
      className={toastLook(toast)}
      onPointerEnter={() => setPointed(true)}
      onPointerMove={() => setPointed(true)}
      onPointerLeave={() => setPointed(false)}
      {...swipe}
    >
      <div className="relative pr-8">
        <ToastFace toast={toast} onFollow={follow} />
        <button type="button" className={closeLook} onClick={() => close()}>
          <Icon of={X} className="size-5" />
          <span className="sr-only">Close</span>
        </button>
      </div>
    </li>,
    list,
  );
}

/** Focuses what had the focus before, or else what is around the toasts: the dialog they are in, or the page. */
function giveFocusBack(before: HTMLElement | null, list: HTMLElement): void {
  const around =
    list.closest("dialog")?.querySelector<HTMLElement>("a, button, input") ?? document.getElementById("main");
  (before?.isConnected ? before : around)?.focus({ preventScroll: true });
}
