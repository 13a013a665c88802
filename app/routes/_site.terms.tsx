import { Glance, LongText } from "~/components/site/prose";
import { PageHeading } from "~/components/site/title";
import { calendarDate } from "~/lib/dates";
import { isDataRequest } from "~/lib/http/headers.server";
import { createPageMeta } from "~/lib/http/page-meta";
import { getLegalText, toLoaderData } from "~/models/article.server";
import type { Route } from "./+types/_site.terms";

export { revalidateExceptForQuote as shouldRevalidate } from "~/lib/browser/revalidate";

export function loader({ request }: Route.LoaderArgs) {
  return toLoaderData(getLegalText("terms"), isDataRequest(request));
}

export const meta: Route.MetaFunction = ({ matches, loaderData }) =>
  loaderData
    ? createPageMeta(matches, { title: loaderData.title, description: loaderData.description, path: "/terms" })
    : [];

export default function TermsPage({ loaderData }: Route.ComponentProps) {
  const { title, updated, html, headings, glance } = loaderData;
  return (
    <>
      <PageHeading title={title} className="text-2xl" />
      {updated && (
        <p className="mt-3 mb-8 text-quiet">
          Effective <time dateTime={updated}>{calendarDate(updated)}</time>
        </p>
      )}
      <LongText html={html} headings={headings} contents="On this page" aside={<Glance points={glance} />} />
    </>
  );
}
