import { type RefObject, useEffect, useState } from "react";

/** How far a mouse moves before its press is a drag and no click, in pixels. */
const dragThreshold = 5;

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

/**
 * Lets the mouse drag a row of list items that scrolls and snaps natively; a drag is never a click. Returns which item
 * is first, whether the row is at its end, and how to scroll an item to the front. While it is dragged and until it
 * comes to rest the row has `data-dragged`, which turns snapping off.
 */
export function useCarousel(ref: RefObject<HTMLElement | null>) {
  const [place, setPlace] = useState({ index: 0, atEnd: false });
  useEffect(() => {
    const row = ref.current;
    if (!row) return;
    const off = new AbortController();
    const { signal } = off;
    let press: { x: number; left: number } | null = null;
    let dragged = false;
    let rest = 0;

    const settle = () => {
      if (press) return;
      row.removeAttribute("data-dragged");
      const atEnd = row.scrollLeft + row.clientWidth > row.scrollWidth - 2;
      setPlace({ index: findNearestIndex(row, row.scrollLeft), atEnd });
    };
    const scrolled = () => {
      clearTimeout(rest);
      rest = window.setTimeout(settle, 100);
    };
    const down = (event: PointerEvent) => {
      dragged = false;
      if (event.pointerType === "mouse" && event.button === 0) press = { x: event.clientX, left: row.scrollLeft };
    };
    const move = (event: PointerEvent) => {
      if (!press) return;
      // The button may have been let go outside the window.
      if (!event.buttons) return up();
      const way = press.x - event.clientX;
      if (!dragged && Math.abs(way) < dragThreshold) return;
      if (!dragged) row.setPointerCapture(event.pointerId);
      dragged = true;
      row.setAttribute("data-dragged", "");
      row.scrollTo({ left: press.left + way, behavior: "instant" });
    };
    const up = () => {
      if (press && dragged) {
        const way = row.scrollLeft - press.left;
        // Dragging by a sixth of an item is enough to go on to the next in that direction.
        scrollToItem(
          row,
          findNearestIndex(row, row.scrollLeft + (Math.sign(way) * (getItems(row)[0]?.offsetWidth ?? 0)) / 3),
        );
        scrolled();
      }
      press = null;
    };
    const click = (event: MouseEvent) => {
      // Clicks by keyboard have detail 0.
      if (!dragged || !event.detail) return;
      event.preventDefault();
      event.stopPropagation();
    };

    row.addEventListener("scroll", scrolled, { passive: true, signal });
    row.addEventListener("pointerdown", down, { signal });
    addEventListener("pointermove", move, { signal });
    addEventListener("pointerup", up, { signal });
    addEventListener("pointercancel", up, { signal });
    row.addEventListener("click", click, { capture: true, signal });
    settle();
    return () => {
      clearTimeout(rest);
      off.abort();
    };
  }, [ref]);

  const show = (index: number) => {
    if (ref.current) scrollToItem(ref.current, index);
    setPlace({ ...place, index });
  };
  return { ...place, show };
}
