/** Whether animations may run: the pause switch, prefers-reduced-motion, and what is in the viewport. */
import { useInView } from "framer-motion";
import { type RefObject, useEffect, useSyncExternalStore } from "react";

/** localStorage key of the switch, and the window event fired when it or the number of animated things changes. */
const storageKey = "motion";
let paused: boolean | null = null;
let animatedCount = 0;

/** Where localStorage is refused, the switch counts for this document only. */
function isPaused(): boolean {
  try {
    paused ??= localStorage.getItem(storageKey) === "paused";
  } catch {
    paused = false;
  }
  return paused;
}

/** Pauses or resumes everything; kept for the next visit. */
export function setPaused(value: boolean): void {
  paused = value;
  try {
    localStorage.setItem(storageKey, value ? "paused" : "moving");
  } catch {}
  dispatchEvent(new Event(storageKey));
}

function changeAnimatedCount(change: number): void {
  animatedCount += change;
  dispatchEvent(new Event(storageKey));
}

const getReducedMotionQuery = () => matchMedia("(prefers-reduced-motion: reduce)");

function subscribe(listener: () => void): () => void {
  const off = new AbortController();
  const { signal } = off;
  const reread = () => {
    paused = null;
    listener();
  };
  addEventListener(storageKey, listener, { signal });
  addEventListener("storage", reread, { signal });
  document.addEventListener("visibilitychange", listener, { signal });
  getReducedMotionQuery().addEventListener("change", listener, { signal });
  return () => off.abort();
}

/** Whether anything may move now in this document: not for those who paused it or want less motion, nor in a hidden tab. */
export function mayMove(): boolean {
  return !isPaused() && !getReducedMotionQuery().matches && !document.hidden;
}

/** The same as a state: no on the server. */
export function useMayMove(): boolean {
  return useSyncExternalStore(subscribe, mayMove, () => false);
}

/** The same for one thing on the page, which has to be in the viewport with at least this share of its area. */
export function useMoving(thing: RefObject<Element | null>, share = 0): boolean {
  const isAllowed = useMayMove();
  const isInView = useInView(thing, { amount: share });
  useEffect(() => {
    changeAnimatedCount(1);
    return () => changeAnimatedCount(-1);
  }, []);
  return isAllowed && isInView;
}

/** The state of the one switch: null where nothing would move anyway, so that there is nothing to switch. */
export function useMotionSwitch(): "paused" | "moving" | null {
  return useSyncExternalStore(
    subscribe,
    () => (animatedCount === 0 || getReducedMotionQuery().matches ? null : isPaused() ? "paused" : "moving"),
    () => null,
  );
}
