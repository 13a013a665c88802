import { type ReactNode, useSyncExternalStore } from "react";

/** How far the page may be scrolled before the bar turns solid, in pixels. */
const threshold = 50;

function subscribe(listener: () => void): () => void {
  addEventListener("scroll", listener, { passive: true });
  return () => removeEventListener("scroll", listener);
}

/**
 * The bar is sticky, unless the window is too low for it. Once hydrated, it is transparent while the page is scrolled
 * to its top.
 */
export function Bar({ children }: { children: ReactNode }) {
  const isSolid = useSyncExternalStore(
    subscribe,
    () => scrollY > threshold,
    () => true,
  );
  return (
    <header
      className={`@container top-0 z-10 border-b transition-[background-color,border-color] duration-200 ease-out [@media(height>=30rem)_and_(width>=20rem)]:sticky ${isSolid ? "border-line bg-surface" : "border-transparent"}`}
    >
      {children}
    </header>
  );
}
