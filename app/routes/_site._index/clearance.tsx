import { Check } from "lucide";
import { WideArt } from "~/components/site/art";
import { Icon } from "~/components/ui/icon";
import type { Route } from "./+types/route";
import { Stop } from "./stop";

/** What we do at customs, in the three columns of a form that lies on the drawing of a border post. */
export function Clearance({ clearance_services }: Pick<Route.ComponentProps["loaderData"], "clearance_services">) {
  return (
    <Stop
      id="clearance"
      title="Customs clearance services"
      intro="From the first tariff code to the return of the empty container."
    >
      <WideArt part="border-post.svg#scene" viewBox="0 0 1200 300" className="block h-40 sm:h-56 lg:-mt-8 lg:h-80" />
      <div className="relative -mt-6 grid ruled rounded-label border border-edge bg-raised md:-mt-10 md:grid-cols-3 md:[&>*+*]:border-t-0 md:[&>*+*]:border-l">
        {clearance_services.map(({ title, items }) => (
          <div key={title} className="p-5">
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
