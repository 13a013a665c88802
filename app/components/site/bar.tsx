import { type ReactNode, useSyncExternalStore } from "react";

const solidFromPx = 50;

function subscribe(listener: () => void): () => void {
  addEventListener("scroll", listener, { passive: true });
  return () => removeEventListener("scroll", listener);
}

export function Bar({ children }: { children: ReactNode }) {
  const isSolid = useSyncExternalStore(
    subscribe,
    () => scrollY > solidFromPx,
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
