import { type ReactNode, useEffect, useRef } from "react";
import { useLocation } from "react-router";

type DisclosureProps = {
  summary: ReactNode;
  summaryClass: string;
  opensOnHover?: boolean;
  className?: string;
  /** One element: the content that opens. */
  children: ReactNode;
};

/**
 * A native disclosure in the bar, followed by the content it opens (bar.css). With script it closes on Escape, on a
 * press outside, when the focus leaves and on navigation; with `hover`, a mouse over the parent element opens it, and a
 * click then keeps it open.
 */
export function Disclosure({
  summary,
  summaryClass: summaryLook,
  opensOnHover: hover = false,
  className,
  children,
}: DisclosureProps) {
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
    const leavePointer = () => {
      if (isPeeked) details.open = false;
    };
    const press = (event: MouseEvent) => {
      // Clicks by keyboard have detail 0; they toggle natively.
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
      details.parentElement?.addEventListener("pointerleave", leavePointer, { signal });
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
