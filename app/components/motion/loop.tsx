import { type ReactNode, type RefObject, useEffect, useState } from "react";
import { useMoving } from "./moving";

/** Sets a strip going, and follows its list with a second round of the same, which nobody hears twice. */
export function Loop({ strip, children }: { strip: RefObject<HTMLElement | null>; children: ReactNode }) {
  const moving = useMoving(strip);
  const [hasMoved, setMoved] = useState(false);
  useEffect(() => {
    if (!strip.current) return;
    // Standing still, a row that scrolls has to be reachable by keyboard.
    strip.current.tabIndex = 0;
    strip.current.toggleAttribute("data-moving", moving);
    if (!moving) return;
    strip.current.scrollLeft = 0;
    setMoved(true);
  }, [strip, moving]);
  return hasMoved && children;
}
