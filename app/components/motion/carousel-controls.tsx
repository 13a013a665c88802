import { type RefObject, useEffect, useState } from "react";
import { useCarousel } from "./carousel";
import { SlideButton } from "./carousel-buttons";
import { useMoving } from "./moving";

/** How long each slide is shown, in milliseconds. */
const slideInterval = 8000;

type CarouselControlsProps = {
  carousel: RefObject<HTMLElement | null>;
  list: RefObject<HTMLElement | null>;
  /** What one slide is called. */
  itemName: string;
  count: number;
  /** Called with the slide shown, and whether the carousel advances by itself. */
  onChange: (index: number, isTurning: boolean) => void;
};

/**
 * Previous, next and a dot for each slide, wrapping both ways. The next slide follows by itself, but not while the
 * pointer is over the carousel or the focus within.
 */
export function CarouselControls({ carousel, list: row, itemName: of, count: all, onChange }: CarouselControlsProps) {
  const { index, show } = useCarousel(row);
  const turn = (way: 1 | -1) => show((index + way + all) % all);
  const isHeld = useHoverOrFocus(carousel);
  const isTurning = useMoving(carousel) && !isHeld;
  useEffect(() => onChange(index, isTurning), [index, isTurning, onChange]);
  useEffect(() => {
    if (!isTurning) return;
    const timer = setTimeout(() => turn(1), slideInterval);
    return () => clearTimeout(timer);
  }, [isTurning, index]);
  return (
    <>
      <SlideButton direction="Previous" itemName={of} onClick={() => turn(-1)} />
      <ul className="relative flex min-w-0 before:absolute before:inset-x-5 before:top-1/2 before:h-0.5 before:-mt-px before:bg-line">
        {Array.from({ length: all }, (_, at) => (
          <li key={at} className="min-w-0">
            <button
              type="button"
              aria-current={at === index || undefined}
              onClick={() => show(at)}
              className="group relative flex h-11 w-11 max-w-full items-center justify-center rounded-label"
            >
              <span className="size-3.5 rounded-full border-2 border-edge bg-surface group-hover:border-action group-aria-[current]:border-action group-aria-[current]:bg-action" />
              <span className="sr-only">
                Show {of} {at + 1}
              </span>
            </button>
          </li>
        ))}
      </ul>
      <SlideButton direction="Next" itemName={of} onClick={() => turn(1)} />
    </>
  );
}

/** Whether a pointer is over something or the focus within. */
function useHoverOrFocus(ref: RefObject<HTMLElement | null>): boolean {
  const [held, setHeld] = useState({ pointer: false, focus: false });
  useEffect(() => {
    const off = new AbortController();
    const hold = (event: Event) => {
      const { type } = event;
      if (type.startsWith("focus")) setHeld((before) => ({ ...before, focus: type === "focusin" }));
      // A finger leaves when it is lifted.
      else setHeld((before) => ({ ...before, pointer: type === "pointerenter" }));
    };
    for (const type of ["pointerenter", "pointerleave", "focusin", "focusout"]) {
      ref.current?.addEventListener(type, hold, { signal: off.signal });
    }
    return () => off.abort();
  }, [ref]);
  return held.pointer || held.focus;
}
