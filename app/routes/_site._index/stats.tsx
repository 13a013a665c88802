import type { Route } from "./+types/route";
import { Stop } from "./stop";

/** Our years, people and deliveries. */
export function Stats({ stats, founded }: Pick<Route.ComponentProps["loaderData"], "stats" | "founded">) {
  return (
    <Stop id="stats" title={`Since ${founded}`} first>
      <dl className="flex flex-wrap gap-x-10 gap-y-6">
        {stats.map(({ value, suffix, label }) => (
          <div key={label} className="flex flex-col-reverse">
            <dt className="text-quiet">{label}</dt>
            <dd className="text-2xl font-semibold tracking-tight tabular-nums">
              {value.toLocaleString("en")}
              {suffix}
            </dd>
          </div>
        ))}
      </dl>
    </Stop>
  );
}
