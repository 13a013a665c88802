import { ChevronDown } from "lucide";
import { type ComponentProps, type RefObject, useEffect, useState } from "react";
import { Icon } from "~/components/ui/icon";
import { Button } from "../ui/button";
import { useMoving } from "./moving";

const dragThresholdPx = 5;
const slideIntervalMs = 8000;

const getItems = (row: HTMLElement) => [...row.querySelectorAll("li")];
const getItemOffset = (item: HTMLElement, [first]: HTMLElement[]) => item.offsetLeft - (first?.offsetLeft ?? 0);

function findNearestIndex(row: HTMLElement, to: number): number {
  const items = getItems(row);
  const distances = items.map((item) => Math.abs(getItemOffset(item, items) - to));
  return distances.indexOf(Math.min(...distances));
}

function scrollToItem(row: HTMLElement, index: number): void {
  const items = getItems(row);
  const item = items[index];
  if (item) row.scrollTo({ left: getItemOffset(item, items) });
}

/** Makes a scrollable row draggable with the mouse. The attribute `data-dragged` turns off scroll snapping. */
function useCarousel(ref: RefObject<HTMLElement | null>) {
  const [position, setPosition] = useState({ index: 0, atEnd: false });
  useEffect(() => {
    const row = ref.current;
    if (!row) return;
    const controller = new AbortController();
    const { signal } = controller;
    let dragStart: { x: number; left: number } | null = null;
    let isDragged = false;
    let settleTimer = 0;

    const settle = () => {
      if (dragStart) return;
      row.removeAttribute("data-dragged");
      const atEnd = row.scrollLeft + row.clientWidth > row.scrollWidth - 2;
      setPosition({ index: findNearestIndex(row, row.scrollLeft), atEnd });
    };
    const settleLater = () => {
      clearTimeout(settleTimer);
      settleTimer = window.setTimeout(settle, 100);
    };
    const startDrag = (event: PointerEvent) => {
      isDragged = false;
      if (event.pointerType === "mouse" && event.button === 0) dragStart = { x: event.clientX, left: row.scrollLeft };
    };
    const drag = (event: PointerEvent) => {
      if (!dragStart) return;
      // The visitor may have released the mouse button outside the window.
      if (!event.buttons) return endDrag();
      const distance = dragStart.x - event.clientX;
      if (!isDragged && Math.abs(distance) < dragThresholdPx) return;
      if (!isDragged) row.setPointerCapture(event.pointerId);
      isDragged = true;
      row.setAttribute("data-dragged", "");
      row.scrollTo({ left: dragStart.left + distance, behavior: "instant" });
    };
    const endDrag = () => {
      if (dragStart && isDragged) {
        const distance = row.scrollLeft - dragStart.left;
        // Adds a third of an item's width, so that a drag over a sixth of the width is enough to show the next item.
        const itemWidth = getItems(row)[0]?.offsetWidth ?? 0;
        scrollToItem(row, findNearestIndex(row, row.scrollLeft + (Math.sign(distance) * itemWidth) / 3));
        settleLater();
      }
      dragStart = null;
    };
    const preventClick = (event: MouseEvent) => {
      // `event.detail` is 0 for a click by keyboard, which never ends a drag.
      if (!isDragged || !event.detail) return;
      event.preventDefault();
      event.stopPropagation();
    };

    row.addEventListener("scroll", settleLater, { passive: true, signal });
    row.addEventListener("pointerdown", startDrag, { signal });
    addEventListener("pointermove", drag, { signal });
    addEventListener("pointerup", endDrag, { signal });
    addEventListener("pointercancel", endDrag, { signal });
    row.addEventListener("click", preventClick, { capture: true, signal });
    settle();
    return () => {
      clearTimeout(settleTimer);
      controller.abort();
    };
  }, [ref]);

  const show = (index: number) => {
    if (ref.current) scrollToItem(ref.current, index);
    setPosition({ ...position, index });
  };
  return { ...position, show };
}

export function CarouselButtons({ row, itemName }: { row: RefObject<HTMLElement | null>; itemName: string }) {
  const { index, atEnd } = useCarousel(row);
  const scroll = (direction: 1 | -1) => row.current?.scrollBy({ left: direction * 0.8 * row.current.clientWidth });
  return (
    <>
      <SlideButton direction="Previous" itemName={itemName} aria-disabled={index === 0} onClick={() => scroll(-1)} />
      <SlideButton direction="Next" itemName={itemName} aria-disabled={atEnd} onClick={() => scroll(1)} />
    </>
  );
}

type SlideButtonProps = ComponentProps<typeof Button> & { direction: "Previous" | "Next"; itemName: string };

function SlideButton({ direction, itemName, ...props }: SlideButtonProps) {
  return (
    <Button type="button" look="icon" {...props}>
      <Icon of={ChevronDown} className={`size-5 ${direction === "Next" ? "-rotate-90" : "rotate-90"}`} />
      <span className="sr-only">
        {direction} {itemName}
      </span>
    </Button>
  );
}

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
