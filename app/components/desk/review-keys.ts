import { useEffect } from "react";

/** The HTML ids of the elements that the keys use. */
export const reviewIds = { verify: "verify", reject: "reject", next: "next-document", controls: "view-controls" };

/** The key v verifies the document, r focuses the reasons for requesting a new file, and n opens the next document. */
export function useReviewKeys(): void {
  useEffect(() => {
    const handleKeyDown = (event: KeyboardEvent) => {
      const { target, key, ctrlKey, metaKey, altKey, shiftKey, repeat } = event;
      if (ctrlKey || metaKey || altKey || shiftKey || repeat || !(target instanceof Element)) return;
      const isField = target.closest("input, select, textarea, dialog, [contenteditable]");
      if (isField && !target.closest(`#${reviewIds.controls}`)) return;
      if (key === "v") document.querySelector<HTMLElement>(`#${reviewIds.verify} button`)?.click();
      else if (key === "r") document.querySelector<HTMLElement>(`#${reviewIds.reject} [type=radio]`)?.focus();
      else if (key === "n") document.getElementById(reviewIds.next)?.click();
      else return;
      event.preventDefault();
    };
    addEventListener("keydown", handleKeyDown);
    return () => removeEventListener("keydown", handleKeyDown);
  }, []);
}
