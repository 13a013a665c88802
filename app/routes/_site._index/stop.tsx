import type { ReactNode } from "react";

type StopProps = {
  id: string;
  title: string;
  intro?: ReactNode;
  sunken?: boolean;
  className?: string;
  children: ReactNode;
};

export const nextToLineClass = "relative z-1 -ml-4 py-8 pl-6 lg:ml-0 lg:py-14 lg:pl-10";

// A border image fills the window's width without making the page wider.
const sunkenPlaneClass = "[border-image:conic-gradient(var(--color-sunken)_0_0)_fill_0//0_100vw]";

export function Stop({ id, title, intro, sunken = false, className = "", children }: StopProps) {
  return (
    <section
      id={id}
      aria-labelledby={`${id}-title`}
      className={`${nextToLineClass} ${sunken ? sunkenPlaneClass : ""} ${className}`}
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

/** The centres of `Line` and `Station` are both 8 px from the left edge. */
export function Line({ className }: { className: string }) {
  return <span className={`absolute left-[6.5px] w-[3px] bg-action ${className}`} />;
}

export function Station({ className = "bg-surface" }: { className?: string }) {
  return <span className={`absolute left-px mt-2.5 size-3.5 rounded-full border-3 border-action ${className}`} />;
}
