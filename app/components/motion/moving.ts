/** Whether animations may run: the pause switch, prefers-reduced-motion, and what is in the viewport. */
import { useInView } from "framer-motion";
import { type RefObject, useEffect, useSyncExternalStore } from "react";

/** localStorage key of the switch, and the window event fired when it or the number of animated things changes. */
const name = "motion";
let paused: boolean | null = null;
let things = 0;

/** Where localStorage is refused, the switch counts for this document only. */
function isPaused(): boolean {
  try {
    paused ??= localStorage.getItem(name) === "paused";
  } catch {
    paused = false;
  }
  return paused;
}

/** Pauses or resumes everything; kept for the next visit. */
export function setPaused(value: boolean): void {
  paused = value;
  try {
    localStorage.setItem(name, value ? "paused" : "moving");
  } catch {}
  dispatchEvent(new Event(name));
}

function countThings(change: number): void {
  things += change;
  dispatchEvent(new Event(name));
}

const stillness = () => matchMedia("(prefers-reduced-motion: reduce)");

function subscribe(listener: () => void): () => void {
  const off = new AbortController();
  const { signal } = off;
  const reread = () => {
    paused = null;
    listener();
  };
  addEventListener(name, listener, { signal });
  addEventListener("storage", reread, { signal });
  document.addEventListener("visibilitychange", listener, { signal });
  stillness().addEventListener("change", listener, { signal });
  return () => off.abort();
}

/** Whether anything may move now in this document: not for those who paused it or want less motion, nor in a hidden tab. */
export function mayMove(): boolean {
  return !isPaused() && !stillness().matches && !document.hidden;
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
    countThings(1);
    return () => countThings(-1);
  }, []);
  return isAllowed && isInView;
}

/** The state of the one switch: null where nothing would move anyway, so that there is nothing to switch. */
export function useSwitch(): "paused" | "moving" | null {
  return useSyncExternalStore(
    subscribe,
    () => (things === 0 || stillness().matches ? null : isPaused() ? "paused" : "moving"),
    () => null,
  );
}
