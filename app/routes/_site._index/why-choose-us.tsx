import type { Route } from "./+types/route";
import { Stop } from "./stop";

type WhyChooseUsProps = Pick<Route.ComponentProps["loaderData"], "why_choose_us" | "why_statement">;

export function WhyChooseUs({ why_choose_us, why_statement }: WhyChooseUsProps) {
  return (
    <Stop
      id="why"
      title="Why choose us"
      intro={<p className="mt-6 text-2xl font-semibold tracking-tight text-balance text-ink">{why_statement}</p>}
      className="lg:grid lg:grid-cols-[2fr_3fr] lg:gap-16"
    >
      <ul className="grid gap-x-8 gap-y-5 sm:grid-cols-2">
        {why_choose_us.map(({ title, text }) => (
          <li key={title} className="border-t border-edge pt-3">
            <h3 className="text-base">{title}</h3>
            <p className="mt-1 text-sm text-quiet">{text}</p>
          </li>
        ))}
      </ul>
    </Stop>
  );
}
