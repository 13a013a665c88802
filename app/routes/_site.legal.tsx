import { Glance, LongText } from "~/components/site/prose";
import { PageHeading } from "~/components/site/title";
import { isDataRequest } from "~/lib/http/headers.server";
import { createPageMeta } from "~/lib/http/page-meta";
import { getLegalText, toLoaderData } from "~/models/article.server";
import type { Route } from "./+types/_site.legal";

export { revalidateExceptForQuote as shouldRevalidate } from "~/lib/browser/revalidate";

export function loader({ request }: Route.LoaderArgs) {
  return toLoaderData(getLegalText("legal"), isDataRequest(request));
}

export const meta: Route.MetaFunction = ({ matches, loaderData }) =>
  loaderData
    ? createPageMeta(matches, { title: loaderData.title, description: loaderData.description, path: "/legal" })
    : [];

export default function LegalPage({ loaderData }: Route.ComponentProps) {
  const { title, html, headings, glance } = loaderData;
  return (
    <>
      <PageHeading title={title} className="mb-8 text-2xl" />
      <LongText html={html} headings={headings} contents="On this page" aside={<Glance points={glance} />} />
    </>
  );
}
