import { randomUUID } from "node:crypto";
import { data } from "react-router";
import { createDeskIntents } from "~/actions/desk-intents.server";
import { withdraw } from "~/actions/shipment.server";
import { OpenItemList } from "~/components/desk/open-item-list";
import { TextField } from "~/components/forms/field";
import { SubmitButton } from "~/components/forms/form";
import { getIntentErrors, IntentForm, useIntentForm } from "~/components/forms/intent-form";
import { PageHeading } from "~/components/site/title";
import { ButtonLink } from "~/components/ui/button";
import { getStaffPage } from "~/lib/auth/staff.server";
import { handleIntent } from "~/lib/forms/intent-form.server";
import { areaNotFound } from "~/lib/http/user-error.server";
import { listOpenItems, ShipmentsPage } from "~/models/desk.server";
import { createListSearch } from "~/models/desk-query.server";
import { lastStage, lastWithdrawableStage } from "~/models/shipment";
import { isUuid } from "~/models/shipment.server";
import type { Route } from "./+types/desk.shipments.$shipmentId_.withdraw";

export { revalidateAfterConflict as shouldRevalidate } from "~/lib/browser/revalidate";

export async function loader({ context, url }: Route.LoaderArgs) {
  const { opened } = await getStaffPage(context, ShipmentsPage);
  if (!opened) throw areaNotFound("desk");
  const { id, name, stage, status, version, withdrawal, documents } = opened;
  return {
    ...{ name, stage, status, version },
    isWithdrawn: withdrawal !== null,
    due: listOpenItems(opened).due,
    fileCount: documents.filter(({ uploaded }) => uploaded).length,
    idempotencyKey: randomUUID(),
    page: `/desk/shipments/${id}${createListSearch(url)}`,
  };
}

export async function action({ request, context, params, url }: Route.ActionArgs) {
  if (!isUuid(params.shipmentId)) throw data("Not found", { status: 404 });
  const page = `/desk/shipments/${params.shipmentId}${createListSearch(url)}`;
  return handleIntent(request, context, page, createDeskIntents({ withdraw }, { shipment: params.shipmentId }));
}

export default function WithdrawPage({ loaderData, actionData }: Route.ComponentProps) {
  const { name, stage, status, version, isWithdrawn, due, fileCount, page } = loaderData;
  const { intent, fields } = useIntentForm("withdraw", ["reason"]);
  const items = { missing: [], due };
  const isOpen = !isWithdrawn && stage <= lastWithdrawableStage;
  return (
    <>
      <PageHeading title="Withdraw shipment" className="mb-2 text-xl" form={getIntentErrors(actionData)} />
      <p className="mb-4 wrap-anywhere">
        {name} is at stage {stage} of {lastStage}: {status}.{isWithdrawn && " The shipment is withdrawn."}
        {!isWithdrawn && !isOpen && " You can withdraw a shipment only at stages 1 to 3."}
      </p>
      {isOpen && (
        <>
          <OpenItemList id="withdraw-confirmed" items={items} />
          <ul className="mb-6 max-w-xl list-disc pl-6">
            <li>The shipment leaves all lists of the client and of the desk. The activity log still shows it.</li>
            <li>The client gets an email with your reason. Share links end.</li>
            <li>
              We delete the shipment{fileCount > 0 && " and its files"} 30 days after the withdrawal. Until then, you
              can restore the shipment.
            </li>
          </ul>
        </>
      )}
      {isOpen ? (
        <IntentForm intent={intent} expectedVersion={version} idempotent className="max-w-xl">
          {due.length > 0 && <input type="hidden" name="confirmed" value={JSON.stringify(items)} />}
          <TextField
            field={fields.reason}
            label="Reason"
            hint="The client sees this reason. Example: the shipment was created twice"
            rows={2}
            mandatory
          />
          <div className="flex flex-wrap gap-3">
            <SubmitButton pending="Withdrawing…">
              {due.length > 0 ? "Withdraw shipment anyway" : "Withdraw shipment"}
            </SubmitButton>
            <ButtonLink to={page}>Cancel</ButtonLink>
          </div>
        </IntentForm>
      ) : (
        <ButtonLink to={page}>Back to the shipment</ButtonLink>
      )}
    </>
  );
}
