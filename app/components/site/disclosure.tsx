import { type ReactNode, useEffect, useRef } from "react";
import { useLocation } from "react-router";

type DisclosureProps = {
  summary: ReactNode;
  summaryClass: string;
  opensOnHover?: boolean;
  className?: string;
  children: ReactNode;
};

/** `children` must be one element, because bar.css shows and hides the next sibling of the details element. */
export function Disclosure({ summary, summaryClass, opensOnHover = false, className, children }: DisclosureProps) {
  const ref = useRef<HTMLDetailsElement>(null);
  const { key } = useLocation();
  const lastKey = useRef(key);
  useEffect(() => {
    if (lastKey.current !== key && ref.current) ref.current.open = false;
    lastKey.current = key;
  }, [key]);
  useEffect(() => {
    const details = ref.current;
    if (!details) return;
    const controller = new AbortController();
    const { signal } = controller;
    let isOpenedByHover = false;
    const contains = (target: EventTarget | null) =>
      [details, details.nextElementSibling].some((part) => part?.contains(target as Node));
    const openOnHover = ({ pointerType }: PointerEvent) => {
      if (pointerType !== "mouse" || details.open) return;
      details.open = true;
      isOpenedByHover = true;
    };
    const closeAfterHover = () => {
      if (isOpenedByHover) details.open = false;
    };
    const keepOpen = (event: MouseEvent) => {
      // A mouse click (`event.detail` above 0) must not close a menu that hovering has opened.
      if (isOpenedByHover && event.detail) event.preventDefault();
      isOpenedByHover = false;
    };
    const closeOutside = ({ target }: Event) => {
      if (!contains(target)) details.open = false;
    };
    const closeOnEscape = ({ key }: KeyboardEvent) => {
      if (key !== "Escape" || !details.open) return;
      if (contains(document.activeElement)) details.querySelector("summary")?.focus();
      details.open = false;
    };
    if (opensOnHover) {
      details.parentElement?.addEventListener("pointerenter", openOnHover, { signal });
      details.parentElement?.addEventListener("pointerleave", closeAfterHover, { signal });
    }
    details.addEventListener("click", keepOpen, { signal });
    document.addEventListener("pointerdown", closeOutside, { signal });
    document.addEventListener("focusin", closeOutside, { signal });
    document.addEventListener("keydown", closeOnEscape, { signal });
    return () => controller.abort();
  }, [opensOnHover]);
  return (
    <>
      <details ref={ref} className={className}>
        <summary className={summaryClass}>{summary}</summary>
      </details>
      {children}
    </>
  );
}
