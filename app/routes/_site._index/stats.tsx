import { useRef, useState } from "react";
import { useMotion } from "~/components/motion";
import type { Route } from "./+types/route";
import { Stop } from "./stop";

/** Our years, people and deliveries. */
export function Stats({ stats, founded }: Pick<Route.ComponentProps["loaderData"], "stats" | "founded">) {
  const list = useRef<HTMLDListElement>(null);
  const [share, setShare] = useState(1);
  const motion = useMotion();
  const print = (value: number) => Math.round(value).toLocaleString("en");
  return (
    <Stop id="stats" title={`Since ${founded}`} first>
      <dl ref={list} className="flex flex-wrap gap-x-10 gap-y-6">
        {stats.map(({ value, suffix, label }) => (
          <div key={label} className="flex flex-col-reverse">
            <dt className="text-quiet">{label}</dt>
            <dd className="relative text-2xl font-semibold tracking-tight tabular-nums">
              {/* Keeps its width, and is read aloud and printed, while the span below shows the count. */}
              <span className={share < 1 ? "opacity-0 print:opacity-100" : undefined}>
                {print(value)}
                {suffix}
              </span>
              {share < 1 && (
                <span aria-hidden className="absolute inset-0 print:hidden">
                  {print(value * share)}
                  {suffix}
                </span>
              )}
            </dd>
          </div>
        ))}
      </dl>
      {motion && <motion.CountUp list={list} show={setShare} />}
    </Stop>
  );
}
