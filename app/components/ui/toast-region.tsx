import { X } from "lucide";
import { type MouseEvent, type RefObject, useEffect, useRef, useState } from "react";
import { createPortal } from "react-dom";
import { useLocation, useNavigation } from "react-router";
import { Icon } from "~/components/ui/icon";
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

/** While a modal dialog is open, the toasts are inside the dialog, because the rest of the page is inert. */
export default function ToastRegion() {
  const { current, waiting, isReady } = useToasts();
  const container = useTopDialog() ?? document.body;
  const [list, setList] = useState<HTMLElement | null>(null);
  const [isFocused, setFocused] = useState(false);
  const previousFocus = useRef<HTMLElement>(null);
  const announcement = useAnnouncement(current, list);
  useEffect(markToastsReady, []);
  // The offline module loads last, so that the page and the toasts load faster.
  useEffect(
    () =>
      void import("../offline").then(
        ({ startOffline }) => startOffline(),
        () => {},
      ),
    [],
  );
  usePersistedWaitingToast(waiting);
  useDismissReachedToast(current, waiting);
  const id = current?.id;
  // Browsers fire no blur event when the focused toast is removed.
  useEffect(() => setFocused(false), [id, list]);
  useEffect(() => {
    const focusOnF8 = ({ key }: KeyboardEvent) => key === "F8" && list?.focus();
    addEventListener("keydown", focusOnF8);
    return () => removeEventListener("keydown", focusOnF8);
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
              if (!currentTarget.contains(relatedTarget)) previousFocus.current = relatedTarget as HTMLElement | null;
              setFocused(true);
            }}
            onBlur={({ currentTarget, relatedTarget }) => setFocused(currentTarget.contains(relatedTarget))}
          />
        </section>,
        container,
      )}
      {isReady && list && current && (
        <ToastItem key={current.id} {...current} list={list} isFocused={isFocused} previousFocus={previousFocus} />
      )}
    </>
  );
}

/** Screen readers ignore text that is inserted together with its live region, so the text is inserted later. */
function useAnnouncement(current: CurrentToast | null, region: HTMLElement | null): string {
  const [text, setText] = useState("");
  useEffect(() => setText(""), [region]);
  const id = current?.id;
  useEffect(() => {
    setText("");
    if (!current || current.announced) return;
    const { title, description = "" } = current.toast;
    let frame = requestAnimationFrame(() => {
      frame = requestAnimationFrame(() => setText(`Notification ${title} ${description}`));
    });
    return () => cancelAnimationFrame(frame);
  }, [id]);
  return text;
}

/** sessionStorage contains the waiting toast, so that the toast survives a full page load. */
const waitingToastKey = "waiting-toast";

function usePersistedWaitingToast(waiting: Toast | null): void {
  const isNew = useRef(true);
  useEffect(() => {
    try {
      const stored = isNew.current && sessionStorage.getItem(waitingToastKey);
      isNew.current = false;
      if (waiting) sessionStorage.setItem(waitingToastKey, JSON.stringify(waiting));
      else sessionStorage.removeItem(waitingToastKey);
      if (stored && !waiting) showToastNext(JSON.parse(stored));
    } catch {}
  }, [waiting]);
}

function useDismissReachedToast(current: CurrentToast | null, waiting: Toast | null): void {
  const { pathname } = useLocation();
  const { state } = useNavigation();
  useEffect(() => {
    if (current?.toast.lastsForNavigation && state === "idle") endToast(current.id);
  }, [state, current]);
  useEffect(() => {
    if (waiting?.action?.to === pathname) dropWaitingToast();
    // A toast with a link ends on the linked page. A toast without a link ends when the visitor leaves the page.
    if (current && (current.toast.action ? current.toast.action.to === pathname : current.path !== location.pathname))
      endToast(current.id);
  }, [pathname, current, waiting]);
}

function usePausableTimeout(duration: number, isPaused: boolean, callback: () => void): void {
  const remaining = useRef(duration);
  useEffect(() => {
    if (isPaused) return;
    const start = Date.now();
    const timer = setTimeout(callback, remaining.current);
    return () => {
      clearTimeout(timer);
      remaining.current -= Date.now() - start;
    };
  }, [isPaused]);
}

type ToastItemProps = CurrentToast & {
  list: HTMLElement;
  isFocused: boolean;
  previousFocus: RefObject<HTMLElement | null>;
};

/** createPortal preserves the toast's timer and state when the list of toasts moves into a dialog. */
function ToastItem({ id, toast, bannerShown, list, isFocused, previousFocus }: ToastItemProps) {
  const [isOpen, setOpen] = useState(true);
  const [isHovered, setHovered] = useState(false);
  const [isBlurred, setBlurred] = useState(() => !document.hasFocus());
  const root = useRef<HTMLLIElement>(null);
  const isOver = useRef(false);
  const isNew = useRef(!bannerShown);

  const close = async (swipedPx?: number) => {
    if (isOver.current) return;
    isOver.current = true;
    if (list.contains(document.activeElement)) restoreFocus(previousFocus.current, list);
    setOpen(false);
    const translate = swipedPx === undefined ? ["0 0", "0 1rem"] : [`${swipedPx}px 0`, `${swipedPx + 100}px 0`];
    if (root.current) await move(root.current, { opacity: [1, 0], translate });
    endToast(id);
  };
  const followLink = (event: MouseEvent) => {
    if (toast.lastsForNavigation) {
      event.preventDefault();
      void cancelNavigation();
    }
    void close();
  };
  usePausableTimeout(
    toast.duration ?? 5000,
    isHovered || isFocused || isBlurred || toast.lastsForNavigation === true,
    close,
  );
  const swipe = useSwipe(root, isOver, close);

  useEffect(() => {
    if (isNew.current && root.current) move(root.current, { opacity: [0, 1], translate: ["0 1rem", "0 0"] });
    isNew.current = false;
    const controller = new AbortController();
    const { signal } = controller;
    const closeOnEscape = (event: KeyboardEvent) => {
      if (event.key !== "Escape" || isOver.current) return;
      // Escape must close only the toast, not a dialog or menu below the toast.
      event.preventDefault();
      event.stopPropagation();
      close();
    };
    addEventListener("keydown", closeOnEscape, { signal, capture: true });
    addEventListener("blur", () => setBlurred(true), { signal });
    addEventListener("focus", () => setBlurred(false), { signal });
    return () => controller.abort();
  }, []);

  return createPortal(
    <li
      ref={root}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: keyboard users must reach the toast with Tab
      tabIndex={0}
      data-state={isOpen ? "open" : "closed"}
      data-toast={toast.variant}
      className={toastClass(toast)}
      onPointerEnter={() => setHovered(true)}
      onPointerMove={() => setHovered(true)}
      onPointerLeave={() => setHovered(false)}
      {...swipe}
    >
      <div className="relative pr-8">
        <ToastContent toast={toast} onFollow={followLink} />
        <button type="button" className={closeButtonClass} onClick={() => close()}>
          <Icon of={X} className="size-5" />
          <span className="sr-only">Close</span>
        </button>
      </div>
    </li>,
    list,
  );
}

function restoreFocus(previous: HTMLElement | null, list: HTMLElement): void {
  const fallback =
    list.closest("dialog")?.querySelector<HTMLElement>("a, button, input") ?? document.getElementById("main");
  (previous?.isConnected ? previous : fallback)?.focus({ preventScroll: true });
}
