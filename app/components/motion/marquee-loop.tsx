import { type ReactNode, type RefObject, useEffect, useState } from "react";
import { useMoving } from "./moving";

export function MarqueeLoop({ strip, children }: { strip: RefObject<HTMLElement | null>; children: ReactNode }) {
  const moving = useMoving(strip);
  const [hasMoved, setMoved] = useState(false);
  useEffect(() => {
    if (!strip.current) return;
    // A scrollable row must be reachable by keyboard.
    strip.current.tabIndex = 0;
    strip.current.toggleAttribute("data-moving", moving);
    if (!moving) return;
    strip.current.scrollLeft = 0;
    setMoved(true);
  }, [strip, moving]);
  return hasMoved && children;
}
