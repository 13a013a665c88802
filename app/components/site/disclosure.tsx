import { type ReactNode, useEffect, useRef } from "react";

type DisclosureProps = {
  summary: ReactNode;
  summaryLook: string;
  hover?: boolean;
  className: string;
  children: ReactNode;
};

/**
 * A native disclosure in the bar. Once script runs it closes on Escape, on a press outside and when the focus leaves;
 * with `hover` a mouse opens it by pointing at it, and a click then keeps it open.
 */
export function Disclosure({ summary, summaryLook, hover = false, className, children }: DisclosureProps) {
  const ref = useRef<HTMLDetailsElement>(null);
  useEffect(() => {
    const details = ref.current;
    if (!details) return;
    const off = new AbortController();
    const { signal } = off;
    let isPeeked = false;
    const point = ({ pointerType }: PointerEvent) => {
      if (!hover || pointerType !== "mouse" || details.open) return;
      details.open = true;
      isPeeked = true;
    };
    const unpoint = () => {
      if (isPeeked) details.open = false;
    };
    const press = (event: MouseEvent) => {
      // The keyboard's clicks have no detail; they open and close as ever.
      if (isPeeked && event.detail && details.firstChild?.contains(event.target as Node)) event.preventDefault();
      isPeeked = false;
    };
    const leave = ({ target }: Event) => {
      if (!details.contains(target as Node)) details.open = false;
    };
    const keyDown = ({ key }: KeyboardEvent) => {
      if (key !== "Escape" || !details.open) return;
      if (details.contains(document.activeElement)) details.querySelector("summary")?.focus();
      details.open = false;
    };
    details.addEventListener("pointerenter", point, { signal });
    details.addEventListener("pointerleave", unpoint, { signal });
    details.addEventListener("click", press, { signal });
    document.addEventListener("pointerdown", leave, { signal });
    document.addEventListener("focusin", leave, { signal });
    document.addEventListener("keydown", keyDown, { signal });
    return () => off.abort();
  }, [hover]);
  return (
    <details ref={ref} className={className}>
      <summary className={summaryLook}>{summary}</summary>
      {children}
    </details>
  );
}
