import { randomUUID } from "node:crypto";
import { data } from "react-router";
import { createDeskIntents } from "~/actions/desk-intents.server";
import { move } from "~/actions/shipment.server";
import { Field, TextField } from "~/components/forms/field";
import { SubmitButton } from "~/components/forms/form";
import { getIntentErrors, IntentForm, useIntentForm } from "~/components/forms/intent-form";
import { PageHeading } from "~/components/site/title";
import { ButtonLink } from "~/components/ui/button";
import { getStaffPage } from "~/lib/auth/staff.server";
import { handleIntent } from "~/lib/forms/intent-form.server";
import { areaNotFound } from "~/lib/http/user-error.server";
import { ShipmentsPage } from "~/models/desk.server";
import { describeAmountsDue, lastStage, STAGES } from "~/models/shipment";
import { isUuid } from "~/models/shipment.server";
import { createShipmentSearch, readShipmentFilter } from "~/models/shipment-filter";
import type { Route } from "./+types/desk.shipments.$shipmentId_.move";

export { revalidateAfterConflict as shouldRevalidate } from "~/lib/browser/revalidate";

export async function loader({ context, url }: Route.LoaderArgs) {
  const { opened } = await getStaffPage(context, ShipmentsPage);
  if (!opened) throw areaNotFound("desk");
  const { id, name, stage, status, version, documents, charges } = opened;
  const missing = documents.filter(({ uploaded }) => !uploaded).map((document) => document.name);
  const due = stage === lastStage - 1 ? describeAmountsDue(charges) : null;
  const page = `/desk/shipments/${id}${createShipmentSearch(readShipmentFilter(url))}`;
  return { name, stage, status, version, missing, due, idempotencyKey: randomUUID(), page };
}

export async function action({ request, context, params, url }: Route.ActionArgs) {
  if (!isUuid(params.shipmentId)) throw data("Not found", { status: 404 });
  const page = `/desk/shipments/${params.shipmentId}${createShipmentSearch(readShipmentFilter(url))}`;
  return handleIntent(request, context, page, createDeskIntents({ move }, { shipment: params.shipmentId }));
}

export default function MovePage({ loaderData, actionData }: Route.ComponentProps) {
  const { name, stage, status, version, missing, due, page } = loaderData;
  const { intent, fields } = useIntentForm("move", ["location", "note"]);
  const next = STAGES[stage];
  const asks = missing.length > 0 || due !== null;
  const title = due
    ? "Close the shipment with an amount due?"
    : asks
      ? "Move without the missing documents?"
      : "Move to the next stage";
  return (
    <>
      <PageHeading title={title} className="mb-2 text-xl" form={getIntentErrors(actionData)} />
      <p className="mb-4 wrap-anywhere">
        {name} is at stage {stage} of {lastStage}: {status}.
      </p>
      {due && <p className="mb-4 font-semibold text-attention">{due}</p>}
      {missing.length > 0 && (
        <>
          <p>These documents are missing:</p>
          <ul className="mb-6 list-disc pl-6">
            {missing.map((document) => (
              <li key={document}>{document}</li>
            ))}
          </ul>
        </>
      )}
      {next && (
        <IntentForm intent={intent} expectedVersion={version} idempotent className="max-w-xl">
          {missing.length > 0 && <input type="hidden" name="confirmMissing" value="yes" />}
          {due && <input type="hidden" name="confirmDue" value="yes" />}
          <Field field={fields.location} label="Location" optional autoComplete="off" />
          <TextField field={fields.note} label="Note to the client" rows={2} />
          <div className="flex flex-wrap gap-3">
            <SubmitButton pending="Moving…">{asks ? `Move to ${next} anyway` : `Move to ${next}`}</SubmitButton>
            <ButtonLink to={page}>Cancel</ButtonLink>
          </div>
        </IntentForm>
      )}
    </>
  );
}
