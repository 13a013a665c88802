import { type RefObject, useEffect, useState } from "react";

const dragThresholdPx = 5;

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

/** Adds mouse dragging to a scrollable row. The attribute `data-dragged` turns off scroll snapping during a drag. */
export function useCarousel(ref: RefObject<HTMLElement | null>) {
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
        // Adds a third of an item's width in the drag's direction. The nearest item then changes after a drag of a
        // sixth of the width instead of half.
        const itemWidth = getItems(row)[0]?.offsetWidth ?? 0;
        scrollToItem(row, findNearestIndex(row, row.scrollLeft + (Math.sign(distance) * itemWidth) / 3));
        settleLater();
      }
      dragStart = null;
    };
    const preventClick = (event: MouseEvent) => {
      // A click by keyboard has `detail` 0. Only a click by mouse can end a drag.
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
