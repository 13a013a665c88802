import { QuoteForm } from "~/components/site/quote-form";
import { useSiteData } from "~/components/site/site-data";
import { Title } from "~/components/site/title";
import { dayInEastAfrica } from "~/lib/dates";
import { costRates, services } from "~/models/content.server";
import { parseCostQuery, quoteForCost } from "~/models/cost.server";
import type { Route } from "./+types/_site.quote";

/** Prefills the form from `?service=<id>` or from the query of /resources/cost. */
export function loader({ url }: Route.LoaderArgs) {
  const service = services.services.find(({ id }) => id === url.searchParams.get("service"));
  if (service) {
    const { id, title, quote } = service;
    const message = title === quote ? "" : `${title}: `;
    return { from: `/services?service=${id}`, prefill: { service: quote, message } };
  }
  const cargo = parseCostQuery(url.searchParams, costRates, dayInEastAfrica(new Date()))?.cargo;
  if (!cargo) return { from: "/", prefill: undefined };
  return { from: `/resources/cost${url.search}`, prefill: quoteForCost(cargo, costRates) };
}

export const meta: Route.MetaFunction = () => [{ name: "robots", content: "noindex" }];

export default function PrefilledQuotePage({ loaderData: { from, prefill } }: Route.ComponentProps) {
  const services = useSiteData()?.quoteServices ?? [];
  return (
    <div className="mx-auto max-w-md">
      <Title>Get a Quote</Title>
      <QuoteForm heading="Get a Quote" services={services} from={from} prefill={prefill} />
    </div>
  );
}
