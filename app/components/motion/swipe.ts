import { type PointerEvent, type RefObject, useRef } from "react";
import move from "./move";

/** How far a toast is swiped to the right until it ends, in pixels. */
const swipeThreshold = 50;

/**
 * Handlers by which an element follows a finger or a mouse to the right, until it `isOver`; `onFar` is told how far, else it
 * comes back.
 */
export function useSwipe(ref: RefObject<HTMLElement | null>, isOver: RefObject<boolean>, onFar: (by: number) => void) {
  const from = useRef<number>(null);
  const by = ({ clientX }: PointerEvent) => (from.current === null ? 0 : Math.max(0, clientX - from.current));
  const letGo = (event: PointerEvent, isFar: boolean) => {
    const way = by(event);
    from.current = null;
    if (way === 0) return;
    if (isFar && way >= swipeThreshold) return onFar(way);
    ref.current?.style.removeProperty("translate");
    if (ref.current) move(ref.current, { translate: [`${way}px 0`, "0 0"] });
  };
  return {
    onPointerDown: (event: PointerEvent) => {
      if (event.button === 0 && !isOver.current) from.current = event.clientX;
    },
    onPointerMoveCapture: (event: PointerEvent) => {
      // The button may have been let go outside.
      if (!event.buttons) from.current = null;
      const way = by(event);
      if (way === 0) return;
      // What is pressed in it is not clicked at the end of a swipe.
      if (way > 5) event.currentTarget.setPointerCapture(event.pointerId);
      ref.current?.style.setProperty("translate", `${way}px`);
    },
    onPointerUp: (event: PointerEvent) => letGo(event, true),
    onPointerCancel: (event: PointerEvent) => letGo(event, false),
  };
}
