import { useEffect } from "react";
import { showToast } from "~/components/ui/toast-state";
import type { Toast } from "~/lib/http/toast";

const tooManyFilesToast: Toast = {
  title: "Drop one file at a time",
  description: "Drop each file on the row of its document.",
  variant: "destructive",
};

const dropTargetAttribute = "data-drop";

/**
 * Puts a dropped file into the file field of the row under the pointer. Cancels other drops, because browsers would
 * open the dropped file.
 */
export function useFileDrop(): void {
  useEffect(() => {
    const mark = (row: Element | null) => {
      for (const marked of document.querySelectorAll(`[${dropTargetAttribute}]`))
        if (marked !== row) marked.removeAttribute(dropTargetAttribute);
      row?.setAttribute(dropTargetAttribute, "");
    };
    const onDragOver = (event: DragEvent) => {
      if (!event.dataTransfer?.types.includes("Files")) return;
      event.preventDefault();
      const field = findFileField(event);
      if (field) event.dataTransfer.dropEffect = "copy";
      mark(field?.closest("li") ?? null);
    };
    const onDragLeave = (event: DragEvent) => {
      if (!event.relatedTarget) mark(null);
    };
    const onDrop = (event: DragEvent) => {
      if (!event.dataTransfer?.types.includes("Files")) return;
      event.preventDefault();
      mark(null);
      const field = findFileField(event);
      if (!field || !event.dataTransfer.files.length) return;
      if (event.dataTransfer.files.length > 1) return showToast(tooManyFilesToast);
      field.files = event.dataTransfer.files;
      field.dispatchEvent(new Event("change", { bubbles: true }));
      field.focus();
    };
    const controller = new AbortController();
    const { signal } = controller;
    addEventListener("dragover", onDragOver, { signal });
    addEventListener("dragleave", onDragLeave, { signal });
    addEventListener("drop", onDrop, { signal });
    return () => controller.abort();
  }, []);
}

/** Returns the file field of the row under the pointer, or null if the row has no visible file field. */
function findFileField({ target }: DragEvent): HTMLInputElement | null {
  const row = target instanceof Element ? target.closest("li") : null;
  const field = row?.querySelector<HTMLInputElement>("input[type=file]");
  return field?.offsetParent ? field : null;
}
