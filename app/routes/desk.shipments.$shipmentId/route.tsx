import { randomUUID } from "node:crypto";
import { data, Link } from "react-router";
import { AuditEntryList, DeskWaitingOnLabel } from "~/components/desk/audit-entry-list";
import { getIdempotencyKey, IntentErrorSummary } from "~/components/forms/intent-form";
import { Title } from "~/components/site/title";
import { Card } from "~/components/ui/card";
import { getStaffPage } from "~/lib/auth/staff.server";
import { callServerAction } from "~/lib/browser/connection";
import { eastAfricaTime } from "~/lib/dates";
import { handleIntent } from "~/lib/forms/intent-form.server";
import { areaNotFound } from "~/lib/http/user-error.server";
import { createShipmentSearch, readShipmentFilter } from "~/models/desk";
import { ShipmentsPage } from "~/models/desk.server";
import { sortDocuments } from "~/models/document";
import { lastStage, shortId } from "~/models/shipment";
import { isUuid } from "~/models/shipment.server";
import type { Route } from "./+types/route";
import { Cargo } from "./cargo";
import { Charges } from "./charges";
import { Documents } from "./documents";
import { History } from "./history";
import { createShipmentIntents } from "./intents.server";
import { StageCard } from "./stage-card";

export { revalidateAfterConflict as shouldRevalidate } from "~/lib/browser/revalidate";

export async function loader({ context, url }: Route.LoaderArgs) {
  const { opened } = await getStaffPage(context, ShipmentsPage);
  if (!opened) throw areaNotFound("desk");
  // As many as fit next to everything else that the page may contain.
  const [events, log] = [
    opened.tracking_events.slice(0, 5),
    opened.audit_entries.slice(0, 5).map((act) => ({ ...act, on: null })),
  ];
  const hasOlder = opened.tracking_events.length > events.length;
  const shipment = {
    ...opened,
    documents: sortDocuments(opened.documents),
    tracking_events: events,
    hasOlder,
    audit_entries: log,
  };
  const search = createShipmentSearch(readShipmentFilter(url));
  return { shipment, request: randomUUID(), search, list: `/desk/shipments${search}` };
}

export async function action({ request, context, params, url }: Route.ActionArgs) {
  if (!isUuid(params.shipmentId)) throw data("Not found", { status: 404 });
  const page = `/desk/shipments/${params.shipmentId}${createShipmentSearch(readShipmentFilter(url))}`;
  return handleIntent(request, context, page, createShipmentIntents(params.shipmentId));
}

export function clientAction({ serverAction }: Route.ClientActionArgs) {
  return callServerAction(serverAction);
}

export default function DeskShipmentPage(props: Route.ComponentProps) {
  // Text typed for one shipment must not appear in the form of another one.
  return <ShipmentDetails key={props.loaderData.shipment.id} {...props} />;
}

function ShipmentDetails({ loaderData, actionData }: Route.ComponentProps) {
  const { shipment, list, search } = loaderData;
  const request = getIdempotencyKey(actionData, loaderData.request);
  const { client, stage, status, waiting_on: turn } = shipment;
  return (
    <>
      <Title refused={actionData !== undefined}>{shipment.name}</Title>
      <IntentErrorSummary answer={actionData} />
      <Link to={list} className="inline-flex min-h-11 items-center text-sm underline lg:hidden print:hidden">
        All shipments
      </Link>
      <h1 className="text-xl wrap-anywhere">{shipment.name}</h1>
      <dl className="mt-1 mb-4 flex flex-wrap gap-x-6 gap-y-1 text-sm *:flex *:flex-wrap *:gap-2 [&_dt]:text-quiet">
        <div>
          <dt>Shipment</dt>
          <dd className="font-mono">{shortId(shipment.id)}</dd>
        </div>
        <div>
          <dt>AWB/BL</dt>
          <dd className="font-mono wrap-anywhere">{shipment.awb ?? "N/A"}</dd>
        </div>
        <div>
          <dt>Client</dt>
          <dd>
            <Link
              to={`/desk/clients/${client.id}`}
              className="-my-3 inline-flex min-h-11 items-center wrap-anywhere underline"
            >
              {client.name || client.email}
            </Link>
            {client.closed && " (closed)"}
          </dd>
        </div>
        <div>
          <dt>Stage</dt>
          <dd>
            {stage}/{lastStage} {status}
          </dd>
        </div>
        <div>
          <dt>Move</dt>
          <dd>
            <DeskWaitingOnLabel waitingOn={turn} /> since {eastAfricaTime(shipment.waiting_since)}
          </dd>
        </div>
      </dl>
      <div className="grid items-start gap-6 xl:grid-cols-[3fr_2fr]">
        <div className="grid min-w-0 gap-6">
          <Documents shipment={shipment} actionData={actionData} idempotencyKey={request} />
          <Charges shipment={shipment} actionData={actionData} idempotencyKey={request} />
        </div>
        <div className="grid min-w-0 gap-6 xl:row-span-2">
          <StageCard shipment={shipment} actionData={actionData} idempotencyKey={request} search={search} />
          <Cargo shipment={shipment} actionData={actionData} idempotencyKey={request} />
          <History shipment={shipment} actionData={actionData} idempotencyKey={request} />
        </div>
        <Card title="Log">
          <AuditEntryList acts={shipment.audit_entries} />
          <p className="border-t border-line px-4">
            <Link
              to={`/desk/log?shipment=${shipment.id}`}
              className="inline-flex min-h-11 items-center text-sm underline"
            >
              All of its log
            </Link>
          </p>
        </Card>
      </div>
    </>
  );
}
