import { Glance, LongText } from "~/components/site/prose";
import { Title } from "~/components/title";
import { seo } from "~/lib/seo";
import { forPage, legalText } from "~/models/article.server";
import type { Route } from "./+types/_site.legal";

export { exceptForQuote as shouldRevalidate } from "~/lib/revalidate";

export function loader({ request }: Route.LoaderArgs) {
  return forPage(legalText("legal"), request);
}

export const meta: Route.MetaFunction = ({ matches, loaderData }) =>
  loaderData ? seo(matches, { title: loaderData.title, description: loaderData.description, path: "/legal" }) : [];

export default function LegalPage({ loaderData }: Route.ComponentProps) {
  const { title, html, headings, glance } = loaderData;
  return (
    <>
      <Title>{title}</Title>
      <h1 className="mb-8 text-2xl">{title}</h1>
      <LongText html={html} headings={headings} contents="On this page" aside={<Glance points={glance} />} />
    </>
  );
}
