import { useSiteData } from "~/components/site/site-data";
import type { Route } from "./+types/route";

const linkClass = "inline-flex min-h-11 min-w-11 items-center underline";

export function Offices({ hours }: Pick<Route.ComponentProps["loaderData"], "hours">) {
  const company = useSiteData()?.company;
  return (
    <div className="grid content-start gap-8 sm:grid-cols-2 lg:grid-cols-1">
      {company?.offices.map((office, index) => (
        <address key={office.name} className="border-l-2 border-action pl-4 not-italic">
          <h2 className="font-semibold">{office.name}</h2>
          <p className="text-quiet">{office.address}</p>
          <ul className="flex flex-wrap gap-x-4 text-sm">
            {index === 0 && (
              <li>
                <a className={linkClass} href={`tel:${office.phone.replaceAll(" ", "")}`}>
                  {office.phone}
                </a>
              </li>
            )}
            <li>
              <a className={linkClass} href={`mailto:${office.email}`}>
                {office.email}
              </a>
            </li>
            <li>
              <a className={linkClass} href={office.map} target="_blank" rel="noreferrer">
                Map<span className="sr-only">: {office.name}</span>
              </a>
            </li>
          </ul>
        </address>
      ))}
      <section className="border-l-2 border-line pl-4 sm:col-span-2 lg:col-span-1">
        <h2 className="font-semibold">Working hours</h2>
        <dl className="mt-1 max-w-md text-quiet">
          {hours.map((period) => (
            <div key={period.days} className="flex flex-wrap justify-between gap-x-6">
              <dt>{period.days}</dt>
              <dd className="tabular-nums">{period.hours}</dd>
            </div>
          ))}
        </dl>
        <p className="mt-1 text-sm text-quiet">East Africa Time</p>
      </section>
    </div>
  );
}
