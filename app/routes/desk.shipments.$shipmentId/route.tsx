import { randomUUID } from "node:crypto";
import { data } from "react-router";
import { labelAuditEntry } from "~/actions/all-staff-actions.server";
import * as charge from "~/actions/charge.server";
import { createDeskIntents } from "~/actions/desk-intents.server";
import * as document from "~/actions/document.server";
import * as shipmentActions from "~/actions/shipment.server";
import { AuditLogCard, DeskWaitingOnLabel } from "~/components/desk/audit-log-card";
import { PhoneLinks } from "~/components/desk/phone-links";
import { ErrorSummary } from "~/components/forms/form";
import { getIntentErrors } from "~/components/forms/intent-form";
import { Title } from "~/components/site/title";
import { TextLink } from "~/components/ui/button";
import { type Fact, FactList } from "~/components/ui/fact-list";
import { getStaffPage } from "~/lib/auth/staff.server";
import { handleIntent } from "~/lib/forms/intent-form.server";
import { areaNotFound } from "~/lib/http/user-error.server";
import { createDeskShipmentView, ShipmentsPage, takeShort } from "~/models/desk.server";
import { createListSearch } from "~/models/desk-query.server";
import { lastStage, shortId } from "~/models/shipment";
import { isUuid } from "~/models/shipment.server";
import type { Route } from "./+types/route";
import { Cargo } from "./cargo";
import { Charges } from "./charges";
import { Documents } from "./documents";
import { History } from "./history";
import { StageCard } from "./stage-card";
import { Withdrawal } from "./withdrawal";

export { revalidateAfterConflict as shouldRevalidate } from "~/lib/browser/revalidate";

export async function loader({ context, url }: Route.LoaderArgs) {
  const { opened } = await getStaffPage(context, ShipmentsPage);
  if (!opened) throw areaNotFound("desk");
  const search = createListSearch(url);
  const shipment = {
    ...createDeskShipmentView(opened),
    audit_entries: takeShort(
      opened.audit_entries.map(({ on: _, ...entry }) => labelAuditEntry(entry)),
      800,
    ),
  };
  return { shipment, idempotencyKey: randomUUID(), search, list: `/desk/shipments${search}` };
}

export async function action({ request, context, params, url }: Route.ActionArgs) {
  if (!isUuid(params.shipmentId)) throw data("Not found", { status: 404 });
  const page = `/desk/shipments/${params.shipmentId}${createListSearch(url)}`;
  const actions = {
    correct: shipmentActions.correct,
    numbers: shipmentActions.saveNumbers,
    note: shipmentActions.note,
    charge: charge.save,
    "mark-paid": charge.markPaid,
    "mark-unpaid": charge.markUnpaid,
    verify: document.verify,
    reject: document.requestNewFile,
    unverify: document.unverify,
    restore: shipmentActions.restore,
  };
  return handleIntent(request, context, page, createDeskIntents(actions, { shipment: params.shipmentId }));
}

export default function DeskShipmentPage(props: Route.ComponentProps) {
  // Without the key, text typed for one shipment would appear in the forms of the next shipment.
  return <ShipmentDetails key={props.loaderData.shipment.id} {...props} />;
}

function ShipmentDetails({ loaderData, actionData }: Route.ComponentProps) {
  const { shipment, list, search } = loaderData;
  const { client, stage, status, waiting_on: waitingOn } = shipment;
  const numbers = shipment.numbers.filter(({ stored, none }) => stored || none);
  return (
    <>
      <Title rejected={actionData !== undefined}>{shipment.name}</Title>
      <ErrorSummary {...getIntentErrors(actionData)} />
      <TextLink to={list} className="text-sm lg:hidden print:hidden">
        All shipments
      </TextLink>
      <h1 className="text-xl wrap-anywhere">{shipment.name}</h1>
      <FactList
        className="mt-1 mb-4 *:flex-wrap"
        facts={[
          ["Shipment", shortId(shipment.id), "font-mono"],
          ...numbers.map(({ label, stored, none }): Fact => [label, stored || none, "font-mono wrap-anywhere"]),
          [
            "Client",
            <>
              <TextLink to={`/desk/clients/${client.id}`} className="-my-3 wrap-anywhere">
                {client.name || client.email}
              </TextLink>
              {client.closed && " (closed)"}
            </>,
          ],
          ...(client.phone
            ? [["Telephone", <PhoneLinks key="phone" phone={client.phone} shipment={shipment} />] as Fact]
            : []),
          [
            "Handled by",
            <>
              {shipment.handler}
              {!shipment.withdrawal && (
                <>
                  {" "}
                  <TextLink to={`/desk/shipments/${shipment.id}/handler${search}`} className="-my-3">
                    Hand over
                  </TextLink>
                </>
              )}
            </>,
          ],
          ["Stage", `${stage}/${lastStage} ${status}`],
          shipment.withdrawal
            ? ["Withdrawn", shipment.withdrawal.at]
            : [
                "Who acts next",
                <>
                  <DeskWaitingOnLabel waitingOn={waitingOn} /> since {shipment.waitingSince}
                  {stage === lastStage && shipment.due && `. ${shipment.due}`}
                </>,
              ],
        ]}
      />
      <div className="grid items-start gap-6 xl:grid-cols-[3fr_2fr]">
        {shipment.withdrawal ? (
          <Withdrawal shipment={shipment} {...shipment.withdrawal} />
        ) : (
          <>
            <div className="grid min-w-0 gap-6">
              <Documents shipment={shipment} search={search} />
              <Charges shipment={shipment} />
            </div>
            <div className="grid min-w-0 gap-6 xl:row-span-2">
              <StageCard shipment={shipment} search={search} />
              <Cargo shipment={shipment} search={search} />
              <History shipment={shipment} />
            </div>
          </>
        )}
        <AuditLogCard entries={shipment.audit_entries} search={`shipment=${shipment.id}`} />
      </div>
    </>
  );
}
