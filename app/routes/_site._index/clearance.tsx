import { Check } from "lucide";
import { Art } from "~/components/site/art";
import { Icon } from "~/components/ui/icon";
import type { Route } from "./+types/route";
import { Stop } from "./stop";

/** What we do at customs, in the three columns of a form. */
export function Clearance({ clearance_services }: Pick<Route.ComponentProps["loaderData"], "clearance_services">) {
  return (
    <Stop
      id="clearance"
      title="Customs clearance services"
      intro={
        <>
          <p>From the first tariff code to the return of the empty container.</p>
          <Art name="stamped-entry" className="mt-6 hidden w-full lg:block" />
        </>
      }
    >
      <div className="grid ruled rounded-label border border-line bg-raised md:grid-cols-3 md:[&>*+*]:border-t-0 md:[&>*+*]:border-l">
        {clearance_services.map(({ title, items }) => (
          <div key={title} className="p-5">
            <h3 className="border-b border-line pb-3 text-base md:min-h-17">{title}</h3>
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
