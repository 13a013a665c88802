import { useInView } from "framer-motion";
import { type RefObject, useEffect, useSyncExternalStore } from "react";

/** The localStorage key `motion` has the value "paused" or "moving". The window event `motion` reports changes. */
const storageKey = "motion";
let paused: boolean | null = null;
let animatedCount = 0;

/** If the browser blocks localStorage, a pause ends when the visitor closes or reloads the page. */
function isPaused(): boolean {
  try {
    paused ??= localStorage.getItem(storageKey) === "paused";
  } catch {
    paused = false;
  }
  return paused;
}

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
  const controller = new AbortController();
  const { signal } = controller;
  const handleStorage = () => {
    paused = null;
    listener();
  };
  addEventListener(storageKey, listener, { signal });
  addEventListener("storage", handleStorage, { signal });
  document.addEventListener("visibilitychange", listener, { signal });
  getReducedMotionQuery().addEventListener("change", listener, { signal });
  return () => controller.abort();
}

export function mayMove(): boolean {
  return !isPaused() && !getReducedMotionQuery().matches && !document.hidden;
}

export function useMayMove(): boolean {
  return useSyncExternalStore(subscribe, mayMove, () => false);
}

/** True while animations are allowed and at least `share` (0 to 1) of the element's area is in the viewport. */
export function useMoving(target: RefObject<Element | null>, share = 0): boolean {
  const isAllowed = useMayMove();
  const isInView = useInView(target, { amount: share });
  useEffect(() => {
    changeAnimatedCount(1);
    return () => changeAnimatedCount(-1);
  }, []);
  return isAllowed && isInView;
}

/** Returns null if the page has no animation that can be paused. */
export function useMotionSwitch(): "paused" | "moving" | null {
  return useSyncExternalStore(
    subscribe,
    () => (animatedCount === 0 || getReducedMotionQuery().matches ? null : isPaused() ? "paused" : "moving"),
    () => null,
  );
}
