import type { MouseEvent, ReactNode } from "react";

export function AccordionItem(props: { name: string; open: boolean; className: string; children: ReactNode }) {
  const { name, open, className, children } = props;
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the keys Enter and Space on the summary also fire a click
    <details name={name} open={open} onClick={holdScrollPosition} className={`group ${className}`}>
      {children}
    </details>
  );
}

/** Scrolls the page, so that the clicked summary does not move on the screen when an accordion item above closes. */
function holdScrollPosition({ currentTarget, target }: MouseEvent<HTMLElement>): void {
  const summary = currentTarget.querySelector("summary");
  if (!summary?.contains(target as Node)) return;
  const { top } = summary.getBoundingClientRect();
  requestAnimationFrame(() => scrollBy({ top: summary.getBoundingClientRect().top - top, behavior: "instant" }));
}
