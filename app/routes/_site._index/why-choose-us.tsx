import type { Route } from "./+types/route";
import { Stop } from "./stop";

/** Six reasons, hung on lines like labels. */
export function WhyChooseUs({ why_choose_us }: Pick<Route.ComponentProps["loaderData"], "why_choose_us">) {
  return (
    <Stop id="why" title="Why choose us" intro="What you get from us on every file.">
      <ul className="grid gap-y-10 sm:grid-cols-2 lg:mt-3 xl:grid-cols-3">
        {why_choose_us.map(({ title, text }) => (
          <li
            key={title}
            className="relative border-t border-edge pt-5 pr-5 before:absolute before:-top-1.5 before:size-[11px] before:rounded-full before:border-2 before:border-edge before:bg-surface"
          >
            <h3 className="text-base">{title}</h3>
            <p className="mt-1 text-quiet">{text}</p>
          </li>
        ))}
      </ul>
    </Stop>
  );
}
