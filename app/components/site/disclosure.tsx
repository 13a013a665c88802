import { type ReactNode, useEffect, useRef } from "react";
import { useLocation } from "react-router";

type DisclosureProps = {
  summary: ReactNode;
  summaryLook: string;
  hover?: boolean;
  className?: string;
  /** One element: what is opened. */
  children: ReactNode;
};

/**
 * A native disclosure in the bar, and after it what it opens (bar.css). Once script runs it closes on Escape, on a press
 * outside, when the focus leaves and with the page; with `hover` a mouse opens it by pointing at the element both stand
 * in, and a click then keeps it open.
 */
export function Disclosure({ summary, summaryLook, hover = false, className, children }: DisclosureProps) {
  const ref = useRef<HTMLDetailsElement>(null);
  const { key } = useLocation();
  const openedOn = useRef(key);
  useEffect(() => {
    if (openedOn.current !== key && ref.current) ref.current.open = false;
    openedOn.current = key;
  }, [key]);
  useEffect(() => {
    const details = ref.current;
    if (!details) return;
    const off = new AbortController();
    const { signal } = off;
    let isPeeked = false;
    const has = (target: EventTarget | null) =>
      [details, details.nextElementSibling].some((part) => part?.contains(target as Node));
    const point = ({ pointerType }: PointerEvent) => {
      if (pointerType !== "mouse" || details.open) return;
      details.open = true;
      isPeeked = true;
    };
    const unpoint = () => {
      if (isPeeked) details.open = false;
    };
    const press = (event: MouseEvent) => {
      // The keyboard's clicks have no detail; they open and close as ever.
      if (isPeeked && event.detail) event.preventDefault();
      isPeeked = false;
    };
    const leave = ({ target }: Event) => {
      if (!has(target)) details.open = false;
    };
    const keyDown = ({ key }: KeyboardEvent) => {
      if (key !== "Escape" || !details.open) return;
      if (has(document.activeElement)) details.querySelector("summary")?.focus();
      details.open = false;
    };
    if (hover) {
      details.parentElement?.addEventListener("pointerenter", point, { signal });
      details.parentElement?.addEventListener("pointerleave", unpoint, { signal });
    }
    details.addEventListener("click", press, { signal });
    document.addEventListener("pointerdown", leave, { signal });
    document.addEventListener("focusin", leave, { signal });
    document.addEventListener("keydown", keyDown, { signal });
    return () => off.abort();
  }, [hover]);
  return (
    <>
      <details ref={ref} className={className}>
        <summary className={summaryLook}>{summary}</summary>
      </details>
      {children}
    </>
  );
}
