import { QuoteForm } from "~/components/site/quote-form";
import { useSiteData } from "~/components/site/site-data";
import { Title } from "~/components/site/title";
import { dayInEastAfrica } from "~/lib/dates";
import { costRates, services } from "~/models/content.server";
import { parseCostQuery, quoteForCost } from "~/models/cost.server";
import type { Route } from "./+types/_site.quote";

/**
 * The quote form, begun: `?service=<id>` chooses a service of ours; `?what=…`, the search of /resources/cost, fills in the
 * answers given there. Anything else leaves it empty. What is typed goes to /actions/quote.
 */
export function loader({ url }: Route.LoaderArgs) {
  const service = services.services.find(({ id }) => id === url.searchParams.get("service"));
  if (service) {
    const { id, title, quote } = service;
    const message = title === quote ? "" : `${title}: `;
    return { from: `/services?service=${id}`, begun: { service: quote, message } };
  }
  const cargo = parseCostQuery(url.searchParams, costRates, dayInEastAfrica(new Date()))?.cargo;
  if (!cargo) return { from: "/", begun: null };
  return { from: `/resources/cost${url.search}`, begun: quoteForCost(cargo, costRates) };
}

export const meta: Route.MetaFunction = () => [{ name: "robots", content: "noindex" }];

export default function PrefilledQuotePage({ loaderData: { from, begun } }: Route.ComponentProps) {
  const services = useSiteData()?.quoteServices ?? [];
  return (
    <div className="mx-auto max-w-md">
      <Title>Get a Quote</Title>
      <QuoteForm heading="Get a Quote" services={services} from={from} begun={begun} />
    </div>
  );
}
