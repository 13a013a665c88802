import { randomUUID } from "node:crypto";
import { data, Link } from "react-router";
import { ActProblems, requestOf } from "~/components/act-form";
import { LogLines, TurnMark } from "~/components/desk/parts";
import { Title } from "~/components/title";
import { Card } from "~/components/ui/card";
import { answerForm } from "~/lib/act-form.server";
import { keepTyped } from "~/lib/connection";
import { eastAfricaTime } from "~/lib/dates";
import { deskPage } from "~/lib/desk.server";
import { noPageOf } from "~/lib/refusal.server";
import { filterOf, searchOf } from "~/models/desk";
import { ShipmentsPage } from "~/models/desk.server";
import { inOrder } from "~/models/document";
import { lastStage, shortId } from "~/models/shipment";
import { isUuid } from "~/models/shipment.server";
import type { Route } from "./+types/route";
import { formsOf } from "./acts.server";
import { Charges } from "./charges";
import { Documents } from "./documents";
import { Facts } from "./facts";
import { History } from "./history";
import { MoveForm } from "./move-form";

export { afterConflict as shouldRevalidate } from "~/lib/revalidate";

export async function loader({ context, url }: Route.LoaderArgs) {
  const { opened } = await deskPage(context, ShipmentsPage);
  if (!opened) throw noPageOf("desk");
  // As many as fit the page with all else that can be on it.
  const [events, log] = [opened.events.slice(0, 5), opened.log.slice(0, 5).map((act) => ({ ...act, on: null }))];
  const hasOlder = opened.events.length > events.length;
  const shipment = { ...opened, documents: inOrder(opened.documents), events, hasOlder, log };
  const search = searchOf(filterOf(url));
  return { shipment, request: randomUUID(), search, list: `/desk/shipments${search}` };
}

/** One of the page's forms, which names itself by its field `act`. */
export async function action({ request, context, params, url }: Route.ActionArgs) {
  if (!isUuid(params.shipmentId)) throw data("Not found", { status: 404 });
  const page = `/desk/shipments/${params.shipmentId}${searchOf(filterOf(url))}`;
  return answerForm(request, context, page, formsOf(params.shipmentId));
}

export function clientAction({ serverAction }: Route.ClientActionArgs) {
  return keepTyped(serverAction);
}

export default function DeskShipment(props: Route.ComponentProps) {
  // What was typed beside one shipment does not stay when another one is opened beside the list.
  return <Opened key={props.loaderData.shipment.id} {...props} />;
}

function Opened({ loaderData, actionData }: Route.ComponentProps) {
  const { shipment, list, search } = loaderData;
  const request = requestOf(actionData, loaderData.request);
  const { client, stage, status, turn } = shipment;
  return (
    <>
      <Title refused={actionData !== undefined}>{shipment.name}</Title>
      <ActProblems answer={actionData} />
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
            <TurnMark turn={turn} /> since {eastAfricaTime(shipment.turn_since)}
          </dd>
        </div>
      </dl>
      <div className="grid items-start gap-6 xl:grid-cols-[3fr_2fr]">
        <div className="grid min-w-0 gap-6">
          <Documents shipment={shipment} answer={actionData} request={request} />
          <Charges shipment={shipment} answer={actionData} request={request} />
        </div>
        <div className="grid min-w-0 gap-6 xl:row-span-2">
          <MoveForm shipment={shipment} answer={actionData} request={request} search={search} />
          <Facts shipment={shipment} answer={actionData} request={request} />
          <History shipment={shipment} answer={actionData} request={request} />
        </div>
        <Card title="Log">
          <LogLines acts={shipment.log} />
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
