import { OrganisationData } from "~/components/site/structured-data";
import { PageHeading } from "~/components/site/title";
import { createPageMeta } from "~/lib/http/page-meta";
import { about, certifications, partners, team } from "~/models/content.server";
import type { Route } from "./+types/route";
import { Certifications, Direction, Highlights, Leadership, Partners, Story } from "./sections";

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

export default function AboutPage({ loaderData }: Route.ComponentProps) {
  const { title } = loaderData.about;
  return (
    <>
      <PageHeading title={title} className="max-w-3xl text-2xl" />
      <Story {...loaderData} />
      <Partners {...loaderData} />
      <Highlights {...loaderData} />
      <Leadership {...loaderData} />
      <Direction {...loaderData} />
      <Certifications {...loaderData} />
      <OrganisationData />
    </>
  );
}
