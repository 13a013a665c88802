import { OrganisationData } from "~/components/site/structured-data";
import { Title } from "~/components/site/title";
import { createPageMeta } from "~/lib/http/page-meta";
import { about, certifications, partners, team } from "~/models/content.server";
import type { Route } from "./+types/route";
import { Certifications } from "./certifications";
import { Direction } from "./direction";
import { Highlights } from "./highlights";
import { Leadership } from "./leadership";
import { Partners } from "./partners";
import { Story } from "./story";

export { revalidateExceptForQuote as shouldRevalidate } from "~/lib/browser/revalidate";

export function loader() {
  return { about, partners, team, certifications: certifications.about };
}

export const meta: Route.MetaFunction = ({ matches, loaderData }) =>
  createPageMeta(matches, {
    title: loaderData?.about.title ?? "About",
    description: loaderData?.about.description ?? "",
    path: "/about",
  });

export default function AboutPage({ loaderData: { about, partners, team, certifications } }: Route.ComponentProps) {
  return (
    <>
      <Title>{about.title}</Title>
      <h1 className="max-w-3xl text-2xl">{about.title}</h1>
      <Story {...about.story} />
      <Partners intro={about.partners} partners={partners} />
      <Highlights highlights={about.highlights} />
      <Leadership note={about.notes.leadership} team={team} />
      <Direction steps={[about.vision, about.mission]} />
      <Certifications note={about.notes.certifications} certifications={certifications} />
      <OrganisationData />
    </>
  );
}
