import type { certifications } from "~/models/content.server";
import { Monogram } from "./monogram";

/** We may not use the logos of the issuing bodies, so the list shows our own seals. */
export function Certificates({ of, className = "" }: { of: (typeof certifications)["home"]; className?: string }) {
  return (
    <ul className={`grid gap-x-8 gap-y-6 sm:grid-cols-2 ${className}`}>
      {of.map(({ name, short, description }) => (
        <li key={name} className="flex gap-4">
          <Monogram shape="seal" letters={short} className="size-16 shrink-0 self-start" />
          <div>
            <h3 className="text-base">{name}</h3>
            <p className="text-sm text-quiet">{description}</p>
          </div>
        </li>
      ))}
    </ul>
  );
}
