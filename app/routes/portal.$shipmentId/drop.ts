import { type DragEvent, type RefObject, useEffect, useState } from "react";
import { showToast } from "~/components/flash";
import type { Toast } from "~/lib/flash";

const oneEach: Toast = {
  title: "One file for each document",
  description: "Drop each file on the row of its own document.",
  variant: "destructive",
};

const hasFiles = (event: { dataTransfer: DataTransfer | null }) => event.dataTransfer?.types.includes("Files");

/**
 * Lets a file be dropped on an element: it is put into the file field as if it had been picked there. While the field
 * is out of sight nothing is taken. `isOver` is true while a file is held over the element.
 */
export function useDrop(field: RefObject<HTMLInputElement | null>) {
  const [isOver, setOver] = useState(false);
  return {
    isOver,
    handlers: {
      onDragOver(event: DragEvent) {
        if (!hasFiles(event) || !field.current?.offsetParent) return;
        event.preventDefault();
        event.dataTransfer.dropEffect = "copy";
        setOver(true);
      },
      onDragLeave(event: DragEvent) {
        if (!event.currentTarget.contains(event.relatedTarget as Node | null)) setOver(false);
      },
      onDrop(event: DragEvent) {
        setOver(false);
        const input = field.current;
        if (!input?.offsetParent || !event.dataTransfer.files.length) return;
        if (event.dataTransfer.files.length > 1) return showToast(oneEach);
        input.files = event.dataTransfer.files;
        input.dispatchEvent(new Event("change", { bubbles: true }));
        input.focus();
      },
    },
  };
}

/** Ignores a file dropped outside the rows: the browser would leave the page to open it. */
export function useNoStrayDrops(): void {
  useEffect(() => {
    const stay = (event: globalThis.DragEvent) => {
      if (hasFiles(event)) event.preventDefault();
    };
    addEventListener("dragover", stay);
    addEventListener("drop", stay);
    return () => {
      removeEventListener("dragover", stay);
      removeEventListener("drop", stay);
    };
  }, []);
}

/** A file as a file field takes it. */
export function holding(file: File): DataTransfer {
  const transfer = new DataTransfer();
  transfer.items.add(file);
  return transfer;
}
