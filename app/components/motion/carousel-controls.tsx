import { type RefObject, useEffect, useState } from "react";
import { useCarousel } from "./carousel";
import { SlideButton } from "./carousel-buttons";
import { useMoving } from "./moving";

const slideIntervalMs = 8000;

type CarouselControlsProps = {
  carousel: RefObject<HTMLElement | null>;
  list: RefObject<HTMLElement | null>;
  itemName: string;
  count: number;
  onChange: (index: number, isPlaying: boolean) => void;
};

/** Shows the next slide automatically, except while the pointer or the focus is in the carousel. */
export function CarouselControls({ carousel, list, itemName, count, onChange }: CarouselControlsProps) {
  const { index, show } = useCarousel(list);
  const showNext = (step: 1 | -1) => show((index + step + count) % count);
  const isInUse = useHoverOrFocus(carousel);
  const isPlaying = useMoving(carousel) && !isInUse;
  useEffect(() => onChange(index, isPlaying), [index, isPlaying, onChange]);
  useEffect(() => {
    if (!isPlaying) return;
    const timer = setTimeout(() => showNext(1), slideIntervalMs);
    return () => clearTimeout(timer);
  }, [isPlaying, index]);
  return (
    <>
      <SlideButton direction="Previous" itemName={itemName} onClick={() => showNext(-1)} />
      <ul className="relative flex min-w-0 before:absolute before:inset-x-5 before:top-1/2 before:h-0.5 before:-mt-px before:bg-line">
        {Array.from({ length: count }, (_, slide) => (
          <li key={slide} className="min-w-0">
            <button
              type="button"
              aria-current={slide === index || undefined}
              onClick={() => show(slide)}
              className="group relative flex h-11 w-11 max-w-full items-center justify-center rounded-label"
            >
              <span className="size-3.5 rounded-full border-2 border-edge bg-surface group-hover:border-action group-aria-[current]:border-action group-aria-[current]:bg-action" />
              <span className="sr-only">
                Show {itemName} {slide + 1}
              </span>
            </button>
          </li>
        ))}
      </ul>
      <SlideButton direction="Next" itemName={itemName} onClick={() => showNext(1)} />
    </>
  );
}

function useHoverOrFocus(ref: RefObject<HTMLElement | null>): boolean {
  const [inUse, setInUse] = useState({ pointer: false, focus: false });
  useEffect(() => {
    const controller = new AbortController();
    const updateUse = ({ type }: Event) => {
      const change = type.startsWith("focus") ? { focus: type === "focusin" } : { pointer: type === "pointerenter" };
      setInUse((previous) => ({ ...previous, ...change }));
    };
    for (const type of ["pointerenter", "pointerleave", "focusin", "focusout"]) {
      ref.current?.addEventListener(type, updateUse, { signal: controller.signal });
    }
    return () => controller.abort();
  }, [ref]);
  return inUse.pointer || inUse.focus;
}
