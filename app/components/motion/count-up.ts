import { type RefObject, useEffect, useState } from "react";
import { useMayMove, useMoving } from "./moving";

const durationMs = 2000;

/** Does not animate if `list` is visible when the page opens, because visitors may already have read the numbers. */
export function CountUp({ list, show }: { list: RefObject<Element | null>; show: (share: number) => void }) {
  const [state, setState] = useState<"waiting" | "done">("done");
  const mayMove = useMayMove();
  const moving = useMoving(list, 0.5);
  useEffect(() => {
    const box = list.current?.getBoundingClientRect();
    if (box && (box.top >= innerHeight || box.bottom <= 0)) setState("waiting");
  }, [list]);
  useEffect(() => {
    if (state === "done" || !mayMove) return;
    show(0);
    if (!moving) return () => show(1);
    const start = performance.now();
    let frame = requestAnimationFrame(function step() {
      const share = Math.min((performance.now() - start) / durationMs, 1);
      show(share);
      if (share < 1) frame = requestAnimationFrame(step);
    });
    return () => {
      cancelAnimationFrame(frame);
      show(1);
      setState("done");
    };
  }, [state, mayMove, moving, show]);
  return null;
}
