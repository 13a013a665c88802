import { Check } from "lucide";
import { Icon } from "~/components/ui/icon";
import type { Route } from "./+types/route";
import { Stop } from "./stop";
import { WideArt } from "./wide-art";

export function Clearance({ clearance_services }: Pick<Route.ComponentProps["loaderData"], "clearance_services">) {
  return (
    <Stop
      id="clearance"
      title="Customs clearance services"
      intro="We handle every step, from classifying your goods to returning the empty container."
    >
      <WideArt part="border-post.svg#scene" viewBox="0 0 1200 300" className="block h-40 lg:-mt-8 lg:h-80" />
      <div className="relative -mt-6 grid gap-px rounded-label border border-edge bg-line lg:-mt-10 lg:grid-cols-3">
        {clearance_services.map(({ title, items }) => (
          <div key={title} className="bg-raised p-5">
            <h3 className="border-b border-line pb-3 text-base">{title}</h3>
            <ul className="mt-4 grid gap-3">
              {items.map((item) => (
                <li key={item} className="flex gap-3 text-sm">
                  <Icon of={Check} className="mt-0.5 size-4 shrink-0 text-done" />
                  {item}
                </li>
              ))}
            </ul>
          </div>
        ))}
      </div>
    </Stop>
  );
}
