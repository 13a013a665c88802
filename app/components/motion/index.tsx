/** All animation code, in one module loaded when the browser is idle. The HTML of the server works without it. */
import { type ReactNode, useRef } from "react";
import { useIdleImport } from "../ui/idle-import";

/** The parts in lazy.ts once loaded; null on the server, before that, and for good if loading fails. */
export function useMotion() {
  return useIdleImport(() => import("./lazy"));
}

type MarqueeProps = { label: string; className: string; children: ReactNode };

/**
 * A list that loops past in 40 s: one row where motion is allowed, otherwise laid out as `className` says, with every
 * item in view. Hovering pauses it; while `data-moving` is off it can be scrolled. Items are spaced by their own
 * margins, so that the repeated list follows at the same distance.
 */
export function Marquee({ label, className, children }: MarqueeProps) {
  const strip = useRef<HTMLElement>(null);
  const motion = useMotion();
  return (
    <section ref={strip} aria-label={label} className="marquee">
      <div>
        <ul className={`${className} moves:flex`}>{children}</ul>
        {motion && (
          <motion.MarqueeLoop strip={strip}>
            <ul aria-hidden className={`${className} hidden moves:flex`}>
              {children}
            </ul>
          </motion.MarqueeLoop>
        )}
      </div>
    </section>
  );
}
