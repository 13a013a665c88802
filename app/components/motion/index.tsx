/** Everything that moves, in one part that arrives when the browser is idle. The server's page stands without it. */
import { type ReactNode, useRef } from "react";
import { useWhenIdle } from "../when-idle";

/** The parts in lazy.ts, once they are here; null on the server, before, and for good when the line breaks. */
export function useMotion() {
  return useWhenIdle(() => import("./lazy"));
}

type StripProps = { label: string; className: string; children: ReactNode };

/**
 * A list that loops past in 40 s: one row where things may move, otherwise laid out as `className` says, with every item
 * in view. Waits under the pointer. While it stands it can be scrolled. The items keep their distance by a margin of
 * their own, so that the second round follows as they follow each other.
 */
export function Strip({ label, className, children }: StripProps) {
  const strip = useRef<HTMLElement>(null);
  const motion = useMotion();
  return (
    <section ref={strip} aria-label={label} className="strip">
      <div>
        <ul className={`${className} moves:flex`}>{children}</ul>
        {motion && (
          <motion.Loop strip={strip}>
            <ul aria-hidden className={`${className} hidden moves:flex`}>
              {children}
            </ul>
          </motion.Loop>
        )}
      </div>
    </section>
  );
}
