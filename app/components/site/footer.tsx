import type { Company } from "~/lib/content.server";

/** The foot of every page: who we are and how to reach a person. */
export function Footer({ company }: { company: Company }) {
  return (
    <footer className="border-t border-line bg-sunken">
      <div className="mx-auto grid max-w-6xl gap-8 px-4 py-10 text-sm sm:grid-cols-2 lg:grid-cols-3">
        <div>
          <p className="font-semibold">{company.name}</p>
          <p className="mt-1 text-quiet">{company.taglines[0]}</p>
          <p className="mt-4 text-quiet">
            © {company.copyright_year} {company.name}
          </p>
        </div>
        {company.offices.map((office) => (
          <address key={office.name} className="not-italic">
            <p className="font-semibold">{office.name}</p>
            <p className="mt-1 text-quiet">{office.address}</p>
            <ul className="mt-1">
              <li>
                <a
                  className="inline-flex min-h-11 items-center underline"
                  href={`tel:${office.phone.replaceAll(" ", "")}`}
                >
                  {office.phone}
                </a>
              </li>
              <li>
                <a className="inline-flex min-h-11 items-center underline" href={`mailto:${office.email}`}>
                  {office.email}
                </a>
              </li>
              <li>
                <a className="inline-flex min-h-11 items-center underline" href={office.map} rel="noreferrer">
                  Map
                </a>
              </li>
            </ul>
          </address>
        ))}
      </div>
    </footer>
  );
}
