import { useRef, useState } from "react";
import { useMotion } from "~/components/motion";
import type { HomeData } from "./sections";
import { Line, nextToLineClass, Station } from "./stop";

export function Stats({ stats, founded }: HomeData) {
  const list = useRef<HTMLDListElement>(null);
  const [share, setShare] = useState(1);
  const motion = useMotion();
  const formatCount = (value: number) => Math.round(value).toLocaleString("en");
  return (
    <section id="stats" aria-labelledby="stats-title" className={`${nextToLineClass} md:flex`}>
      <Line className="top-12 bottom-0 lg:top-18" />
      <span
        aria-hidden
        className="absolute right-0 left-2 mt-4 hidden h-[3px] [border-image:conic-gradient(var(--color-action)_0_0)_fill_0//0_100vw_0_0] md:block"
      />
      <Station className="bg-action" />
      <h2 id="stats-title" className="text-xl md:grow md:pt-12 md:pr-6 lg:pt-16">
        Our work since {founded}
      </h2>
      <dl ref={list} className="md:flex md:grow-3 md:flex-wrap">
        {stats.map(({ value, suffix, label }) => (
          <div key={label} className="mt-6 flex flex-col-reverse md:relative md:mt-0 md:grow md:pt-12 md:pr-6">
            <dt className="text-sm text-quiet">{label}</dt>
            <dd className="text-2xl font-semibold md:text-xl lg:text-2xl tracking-tight tabular-nums">
              <Station className="bg-surface md:top-0" />
              {/* During the animation, the final number stays in the page for screen readers and printing. */}
              <span className="relative">
                <span className={share < 1 ? "opacity-0 print:opacity-100" : undefined}>
                  {formatCount(value)}
                  {suffix}
                </span>
                {share < 1 && (
                  <span aria-hidden className="absolute inset-0 print:hidden">
                    {formatCount(value * share)}
                    {suffix}
                  </span>
                )}
              </span>
            </dd>
          </div>
        ))}
      </dl>
      {motion && <motion.CountUp list={list} show={setShare} />}
    </section>
  );
}
