import { initials, Monogram } from "~/components/site/monogram";
import type { team } from "~/models/content.server";

type LeadershipProps = { note: string | undefined; team: typeof team };

export function Leadership({ note, team }: LeadershipProps) {
  return (
    <section aria-labelledby="leadership" className="mt-20">
      <h2 id="leadership" className="text-xl">
        Leadership Team
      </h2>
      {note && <p className="mt-2 text-quiet">{note}</p>}
      <ul className="mt-6 grid gap-x-8 gap-y-6 lg:grid-cols-3">
        {team.map((person) => (
          <li key={person.name} className="flex gap-5 border-t border-line pt-6">
            <Monogram shape="pass" letters={initials(person.name)} className="w-18 shrink-0 self-start" />
            <div>
              <h3 className="text-lg">{person.name}</h3>
              <p className="text-sm font-semibold text-action">{person.role}</p>
              <p className="mt-2 max-w-prose text-sm text-quiet">{person.description}</p>
            </div>
          </li>
        ))}
      </ul>
    </section>
  );
}
