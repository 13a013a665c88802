import { Marquee } from "~/components/site/marquee";
import { Monogram } from "~/components/site/monogram";
import type { partners } from "~/models/content.server";

type PartnersProps = { intro: string; partners: typeof partners };

export function Partners({ intro, partners }: PartnersProps) {
  return (
    <section aria-labelledby="partners" className="mt-20">
      <h2 id="partners" className="text-xl">
        Our Trusted Partners
      </h2>
      <p className="mt-2 mb-8 max-w-prose text-pretty text-quiet">{intro}</p>
      <Marquee
        label="Logos of our partners"
        className="grid grid-cols-3 gap-x-4 gap-y-6 sm:grid-cols-5 lg:grid-cols-7 moves:gap-x-0"
      >
        {partners.map((partner) => (
          <li key={partner.name} className="text-xs text-quiet moves:mr-6 moves:w-28">
            <Monogram shape="container" letters={partner.monogram} className="mb-2 w-full" />
            <p>{partner.name}</p>
          </li>
        ))}
      </Marquee>
    </section>
  );
}
