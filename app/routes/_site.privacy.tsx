import { data } from "react-router";
import { Glance, LongText } from "~/components/site/prose";
import { PageHeading } from "~/components/site/title";
import { calendarDate, dayInEastAfrica } from "~/lib/dates";
import { getDailyHeaders, isDataRequest } from "~/lib/http/headers.server";
import { createPageMeta } from "~/lib/http/page-meta";
import { citeFigures, getLegalText, toLoaderData } from "~/models/article.server";
import type { Route } from "./+types/_site.privacy";

export { revalidateExceptForQuote as shouldRevalidate } from "~/lib/browser/revalidate";

export function loader({ request }: Route.LoaderArgs) {
  const text = citeFigures(getLegalText("privacy"), dayInEastAfrica(new Date()));
  return data(toLoaderData(text, isDataRequest(request)), { headers: getDailyHeaders() });
}

export const headers: Route.HeadersFunction = ({ loaderHeaders }) => loaderHeaders;

export const meta: Route.MetaFunction = ({ matches, loaderData }) =>
  loaderData
    ? createPageMeta(matches, { title: loaderData.title, description: loaderData.description, path: "/privacy" })
    : [];

export default function PrivacyPage({ loaderData }: Route.ComponentProps) {
  const { title, updated, html, headings, glance } = loaderData;
  return (
    <>
      <PageHeading title={title} className="text-2xl" />
      {updated && (
        <p className="mt-3 mb-8 text-quiet">
          Last updated <time dateTime={updated}>{calendarDate(updated)}</time>
        </p>
      )}
      <LongText html={html} headings={headings} contents="On this page" aside={<Glance points={glance} />} />
    </>
  );
}
