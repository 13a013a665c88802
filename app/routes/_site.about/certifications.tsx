import { Monogram } from "~/components/site/monogram";
import type { certifications } from "~/lib/content.server";

export function Certifications({ certifications: all }: { certifications: (typeof certifications)["about"] }) {
  return (
    <section aria-labelledby="certifications" className="mt-20 mb-8">
      <h2 id="certifications" className="text-xl">
        Certifications & Memberships
      </h2>
      <ul className="mt-6 grid gap-3 sm:grid-cols-2 lg:grid-cols-4">
        {all.map((certification) => (
          <li key={certification.name} className="flex gap-4 rounded-label border border-line p-5 sm:flex-col">
            <Monogram shape="seal" letters={certification.short} className="w-20 shrink-0 self-start" />
            <div>
              <h3 className="text-lg">{certification.name}</h3>
              <p className="mt-1 max-w-prose text-sm text-quiet">{certification.description}</p>
            </div>
          </li>
        ))}
      </ul>
    </section>
  );
}
