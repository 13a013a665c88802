import type { Route } from "./+types/route";
import { Stop } from "./stop";

/** Licences, standards and memberships under our own monograms: the bodies' logos are not ours to use. */
export function Certifications({ certifications }: Pick<Route.ComponentProps["loaderData"], "certifications">) {
  return (
    <Stop
      id="certifications"
      title="Certifications and accreditations"
      intro="Ask us for the certificate behind any of these."
      sunken
    >
      <ul className="grid gap-x-8 gap-y-6 sm:grid-cols-2">
        {certifications.map(({ name, short, description }) => (
          <li key={name} className="flex gap-4">
            <span
              aria-hidden
              className="grid size-16 shrink-0 place-items-center rounded-label border border-edge text-sm font-semibold tracking-wide outline-1 -outline-offset-4 outline-line"
            >
              {short}
            </span>
            <div className="min-w-0">
              <h3 className="text-base">{name}</h3>
              <p className="text-sm text-quiet">{description}</p>
            </div>
          </li>
        ))}
      </ul>
    </Stop>
  );
}
