import { ExternalLink } from "lucide";
import { PageHeading } from "~/components/site/title";
import { Icon } from "~/components/ui/icon";
import { createPageMeta } from "~/lib/http/page-meta";
import { feeds } from "~/models/content.server";
import type { Route } from "./+types/_site.resources.feeds";

export { revalidateExceptForQuote as shouldRevalidate } from "~/lib/browser/revalidate";

export function loader() {
  return { feeds };
}

export const meta: Route.MetaFunction = ({ matches }) =>
  createPageMeta(matches, {
    title: "Feeds Update",
    description:
      "News pages for importers and shippers in East Africa, about customs, ports, world markets, shipping and maritime rules.",
    path: "/resources/feeds",
  });

export default function FeedsPage({ loaderData: { feeds } }: Route.ComponentProps) {
  return (
    <>
      <PageHeading title="Feeds Update" className="max-w-2xl text-2xl" />
      <p className="mt-4 max-w-prose text-lg text-pretty text-quiet">
        Read news that can affect your delivery dates and costs. Links open other organisations' sites in a new tab.
      </p>
      <ul className="mt-10 mb-8 grid gap-3 sm:auto-rows-fr sm:grid-cols-2 lg:grid-cols-3">
        {feeds.map((feed) => (
          <li key={feed.url} className="flex flex-col rounded-label border border-line bg-raised">
            <p className="relative border-b-2 border-line px-5 py-3 text-xs text-quiet before:absolute before:-bottom-[7px] before:left-5 before:size-3 before:rounded-full before:border-2 before:border-action before:bg-raised">
              {new URL(feed.url).host.replace(/^www\./, "")}
            </p>
            <div className="flex grow flex-col items-start p-5">
              <h2 className="text-lg wrap-anywhere">{feed.name}</h2>
              <p className="mt-2 mb-6 max-w-prose text-sm text-quiet">{feed.text}</p>
              <a
                href={feed.url}
                target="_blank"
                rel="noreferrer"
                className="mt-auto inline-flex min-h-11 items-center gap-2 rounded-label border border-edge px-4 py-2 text-sm font-semibold no-underline hover:border-ink"
              >
                Visit News Center
                <Icon of={ExternalLink} className="size-4" />
                <span className="sr-only">: {feed.name} (opens in a new tab)</span>
              </a>
            </div>
          </li>
        ))}
      </ul>
    </>
  );
}
