import { data } from "react-router";
import { Stations } from "~/components/portal/route-line";
import { OfficePhone } from "~/components/site/office-phone";
import { Title } from "~/components/site/title";
import { eastAfricaTime } from "~/lib/dates";
import { noStoreMiddleware } from "~/lib/http/headers.server";
import { userErrorData } from "~/lib/http/user-error.server";
import { companyDetails } from "~/models/content.server";
import { openShareLink } from "~/models/share-link.server";
import { noHistoryText, STAGES } from "~/models/shipment";
import type { Route } from "./+types/s.$token";

export const handle = { bare: true };

export const middleware: Route.MiddlewareFunction[] = [
  async (args, next) => {
    const response = (await noStoreMiddleware(args, next)) as Response;
    response.headers.set("Referrer-Policy", "no-referrer");
    return response;
  },
];

export async function loader({ params }: Route.LoaderArgs) {
  const shipment = await openShareLink(params.token);
  if (!shipment) return data({ company: companyDetails.name, name: null }, { status: 404 });
  if ("reason" in shipment) throw userErrorData(shipment);
  const events = shipment.tracking_events.map((event) => ({ ...event, at: eastAfricaTime(event.created_at) }));
  return data({ ...shipment, company: companyDetails.name, changed: eastAfricaTime(shipment.changed_at), events });
}

export { noFormAction as action } from "~/lib/http/file-route.server";

export const meta: Route.MetaFunction = () => [{ name: "robots", content: "noindex, nofollow" }];

export default function ShareLinkPage({ loaderData: shipment }: Route.ComponentProps) {
  if (shipment.name === null) {
    return (
      <>
        <Title>This link does not work</Title>
        <p className="mb-2 text-sm text-quiet">{shipment.company}</p>
        <h1 className="text-xl">This link does not work</h1>
        <p className="mt-2">
          The link is no longer valid or is incomplete. Ask the sender for a new link, or call <OfficePhone />.
        </p>
      </>
    );
  }
  const { company, name, stage, status, changed, events } = shipment;
  return (
    <>
      <Title>{name}</Title>
      <p className="mb-2 text-sm text-quiet">{company}</p>
      <h1 className="text-xl wrap-anywhere">{name}</h1>
      <p className="mt-2 text-lg font-semibold">{status}</p>
      <p className="text-sm text-quiet">
        Stage {stage} of {STAGES.length}. Last change: {changed}
      </p>
      <Stations stage={stage} />
      <h2 className="mt-6 mb-2 text-base font-semibold">History</h2>
      {events.length === 0 && <p className="text-quiet">{noHistoryText}</p>}
      <ol className="ruled">
        {events.map(({ status, location, created_at, at }) => (
          <li key={created_at} className="py-2">
            <p className="font-semibold">{status}</p>
            <p className="text-sm text-quiet">
              {location && `${location}, `}
              <time dateTime={created_at}>{at}</time>
            </p>
          </li>
        ))}
      </ol>
      <p className="mt-6 text-sm text-quiet">
        One of our clients shared this link and can end it at any time. Questions? Call <OfficePhone />.
      </p>
    </>
  );
}
