import type { ReactNode } from "react";

type StopProps = {
  /** Names the section in addresses, and its heading. */
  id: string;
  title: string;
  intro?: ReactNode;
  /** Whether the line begins here. */
  first?: boolean;
  /** A plane of its own behind it, as wide as the window. */
  sunken?: boolean;
  children: ReactNode;
};

/** The line itself; its middle is 8 px from the left edge of a phone, or of the column on wider screens. */
export const rail = "before:absolute before:bottom-0 before:left-[6.5px] before:w-[3px] before:bg-action";

// An image at the border is painted beyond the box without making the page wider.
const sunkenPlane = "[border-image:conic-gradient(var(--color-sunken)_0_0)_fill_0//0_100vw]";

/** A section as one stop of the route line that runs down the page: the station stands at its heading. */
export function Stop({ id, title, intro, first = false, sunken = false, children }: StopProps) {
  return (
    <section
      id={id}
      aria-labelledby={`${id}-title`}
      className={`relative z-1 -ml-4 py-10 pl-4 lg:ml-0 lg:grid lg:grid-cols-[17rem_1fr] lg:gap-x-12 lg:py-14 lg:pl-10 ${rail} ${first ? "before:top-14 lg:before:top-18" : "before:top-0"} ${sunken ? sunkenPlane : ""}`}
    >
      <header className="mb-8 pl-2 lg:mb-0 lg:pl-0">
        <span
          aria-hidden
          className={`absolute left-px mt-2.5 size-3.5 rounded-full border-3 border-action ${first ? "bg-action" : "bg-surface"}`}
        />
        <h2 id={`${id}-title`} className="text-xl">
          {title}
        </h2>
        {intro && <div className="mt-2 max-w-prose text-quiet">{intro}</div>}
      </header>
      <div className="min-w-0 pl-2 lg:pl-0">{children}</div>
    </section>
  );
}
