import { type PointerEvent, type RefObject, useRef } from "react";
import move from "./move";

const swipeThresholdPx = 50;

/** Returns pointer event handlers for a swipe to the right. If the swipe is too short, the element moves back. */
export function useSwipe(
  ref: RefObject<HTMLElement | null>,
  isOver: RefObject<boolean>,
  onSwipe: (distancePx: number) => void,
) {
  const startX = useRef<number>(null);
  const getDistance = ({ clientX }: PointerEvent) =>
    startX.current === null ? 0 : Math.max(0, clientX - startX.current);
  const endSwipe = (event: PointerEvent, mayComplete: boolean) => {
    const distance = getDistance(event);
    startX.current = null;
    if (distance === 0) return;
    if (mayComplete && distance >= swipeThresholdPx) return onSwipe(distance);
    ref.current?.style.removeProperty("translate");
    if (ref.current) move(ref.current, { translate: [`${distance}px 0`, "0 0"] });
  };
  return {
    onPointerDown: (event: PointerEvent) => {
      if (event.button === 0 && !isOver.current) startX.current = event.clientX;
    },
    onPointerMoveCapture: (event: PointerEvent) => {
      // The visitor may have released the mouse button outside the window.
      if (!event.buttons) startX.current = null;
      const distance = getDistance(event);
      if (distance === 0) return;
      // Pointer capture prevents the end of a swipe from clicking a button of the toast.
      if (distance > 5) event.currentTarget.setPointerCapture(event.pointerId);
      ref.current?.style.setProperty("translate", `${distance}px`);
    },
    onPointerUp: (event: PointerEvent) => endSwipe(event, true),
    onPointerCancel: (event: PointerEvent) => endSwipe(event, false),
  };
}
