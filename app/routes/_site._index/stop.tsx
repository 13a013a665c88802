import type { ReactNode } from "react";

type StopProps = {
  /** Names the section in addresses, and its heading. */
  id: string;
  title: string;
  intro?: ReactNode;
  /** A plane of its own behind it, as wide as the window. */
  sunken?: boolean;
  /** Classes for the layout of wide screens. */
  className?: string;
  children: ReactNode;
};

/** Room for the line beside a section. */
export const besideLineClass = "relative z-1 -ml-4 py-8 pl-6 lg:ml-0 lg:py-14 lg:pl-10";

// An image at the border is painted beyond the box without making the page wider.
const sunkenPlaneClass = "[border-image:conic-gradient(var(--color-sunken)_0_0)_fill_0//0_100vw]";

/** A section as one stop of the route line that runs down the page: the station stands at its heading. */
export function Stop({ id, title, intro, sunken = false, className = "", children }: StopProps) {
  return (
    <section
      id={id}
      aria-labelledby={`${id}-title`}
      className={`${besideLineClass} ${sunken ? sunkenPlaneClass : ""} ${className}`}
    >
      <Line className="top-0 bottom-0" />
      <header className="mb-6">
        <Station />
        <h2 id={`${id}-title`} className="text-xl">
          {title}
        </h2>
        {intro && <div className="mt-2 max-w-prose text-quiet">{intro}</div>}
      </header>
      {children}
    </section>
  );
}

/** The line itself; its middle is 8 px from the left edge of a phone, or of the column on wider screens. */
export function Line({ className }: { className: string }) {
  return <span className={`absolute left-[6.5px] w-[3px] bg-action ${className}`} />;
}

/** A station on the line, at the height of a heading beside it. */
export function Station({ className = "bg-surface" }: { className?: string }) {
  return <span className={`absolute left-px mt-2.5 size-3.5 rounded-full border-3 border-action ${className}`} />;
}
