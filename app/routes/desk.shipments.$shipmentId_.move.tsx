import { randomUUID } from "node:crypto";
import { data } from "react-router";
import { createDeskIntents } from "~/actions/desk-intents.server";
import { move } from "~/actions/shipment.server";
import { OpenItemList } from "~/components/desk/open-item-list";
import { Field, TextField } from "~/components/forms/field";
import { SubmitButton } from "~/components/forms/form";
import { getIntentErrors, IntentForm, useIntentForm } from "~/components/forms/intent-form";
import { PageHeading } from "~/components/site/title";
import { ButtonLink } from "~/components/ui/button";
import { getStaffPage } from "~/lib/auth/staff.server";
import { handleIntent } from "~/lib/forms/intent-form.server";
import { areaNotFound } from "~/lib/http/user-error.server";
import { listOpenItems, ShipmentsPage } from "~/models/desk.server";
import { createListSearch } from "~/models/desk-query.server";
import { getOpenItems, lastStage, STAGES } from "~/models/shipment";
import { isUuid } from "~/models/shipment.server";
import type { Route } from "./+types/desk.shipments.$shipmentId_.move";

export { revalidateAfterConflict as shouldRevalidate } from "~/lib/browser/revalidate";

export async function loader({ context, url }: Route.LoaderArgs) {
  const { opened } = await getStaffPage(context, ShipmentsPage);
  if (!opened) throw areaNotFound("desk");
  const { id, name, stage, status, version } = opened;
  const isWithdrawn = opened.withdrawal !== null;
  const isMovable = stage < lastStage && !isWithdrawn;
  const items = isMovable ? getOpenItems(stage, listOpenItems(opened), stage + 1) : { missing: [], due: [] };
  const page = `/desk/shipments/${id}${createListSearch(url)}`;
  return { name, stage, status, version, items, isWithdrawn, isMovable, idempotencyKey: randomUUID(), page };
}

export async function action({ request, context, params, url }: Route.ActionArgs) {
  if (!isUuid(params.shipmentId)) throw data("Not found", { status: 404 });
  const page = `/desk/shipments/${params.shipmentId}${createListSearch(url)}`;
  return handleIntent(request, context, page, createDeskIntents({ move }, { shipment: params.shipmentId }));
}

export default function MovePage({ loaderData, actionData }: Route.ComponentProps) {
  const { name, stage, status, version, items, isWithdrawn, isMovable, page } = loaderData;
  const { intent, fields, rejected } = useIntentForm("move", ["location", "note"]);
  const next = STAGES[stage];
  const asks = items.missing.length + items.due.length > 0;
  // The heading asks the question, so only a question about changed items is an error.
  const isFirstQuestion = rejected?.result?.error?.confirmed && !rejected.result.initialValue?.confirmed;
  return (
    <>
      <PageHeading
        title={createTitle(loaderData)}
        className="mb-2 text-xl"
        form={isFirstQuestion ? undefined : getIntentErrors(actionData)}
      />
      <p className="mb-4 wrap-anywhere">
        {name} is at stage {stage} of {lastStage}: {status}.{isWithdrawn && " The shipment is withdrawn."}
      </p>
      <OpenItemList id="move-confirmed" items={items} />
      {isMovable && (
        <IntentForm intent={intent} expectedVersion={version} idempotent className="max-w-xl">
          {asks && <input type="hidden" name="confirmed" value={JSON.stringify(items)} />}
          <Field field={fields.location} label="Location" optional autoComplete="off" />
          <TextField field={fields.note} label="Note to the client" rows={2} />
          <div className="flex flex-wrap gap-3">
            <SubmitButton pending="Moving…">{asks ? `Move to ${next} anyway` : `Move to ${next}`}</SubmitButton>
            <ButtonLink to={page}>Cancel</ButtonLink>
          </div>
        </IntentForm>
      )}
      {!isMovable && <ButtonLink to={page}>Back to the shipment</ButtonLink>}
    </>
  );
}

function createTitle({ stage, items: { missing, due } }: Route.ComponentProps["loaderData"]): string {
  const verb = stage === lastStage - 1 ? "Close the shipment" : "Move";
  if (due.length > 0 && missing.length > 0) return `${verb} with an amount due and without the missing documents?`;
  if (due.length > 0) return `${verb} with an amount due?`;
  return missing.length > 0 ? `${verb} without the missing documents?` : "Move to the next stage";
}
