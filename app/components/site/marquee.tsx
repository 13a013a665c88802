import { type ReactNode, useRef } from "react";
import { useMotion } from "../motion";

/** Items need margins instead of a CSS gap, because a gap would be missing between the list and its copy. */
export function Marquee({ label, className, children }: { label: string; className: string; children: ReactNode }) {
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
