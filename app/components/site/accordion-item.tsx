import type { MouseEvent, ReactNode } from "react";

export function AccordionItem(props: { name: string; open: boolean; className: string; children: ReactNode }) {
  const { name, open, className, children } = props;
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: browsers fire a click for keys on the summary
    <details name={name} open={open} onClick={holdScrollPosition} className={`group ${className}`}>
      {children}
    </details>
  );
}

/** Scrolls so that the clicked summary stays in place on the screen when an accordion item above it closes. */
function holdScrollPosition({ currentTarget, target }: MouseEvent<HTMLElement>): void {
  const summary = currentTarget.querySelector("summary");
  if (!summary?.contains(target as Node)) return;
  const { top } = summary.getBoundingClientRect();
  requestAnimationFrame(() => scrollBy({ top: summary.getBoundingClientRect().top - top, behavior: "instant" }));
}
