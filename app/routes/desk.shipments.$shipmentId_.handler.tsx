import { randomUUID } from "node:crypto";
import { data } from "react-router";
import { createDeskIntents } from "~/actions/desk-intents.server";
import { handOver } from "~/actions/shipment.server";
import { SelectField, TextField } from "~/components/forms/field";
import { SubmitButton } from "~/components/forms/form";
import { getIntentErrors, IntentForm, useIntentForm } from "~/components/forms/intent-form";
import { PageHeading } from "~/components/site/title";
import { ButtonLink } from "~/components/ui/button";
import { getStaffPage, requireStaff } from "~/lib/auth/staff.server";
import { handleIntent } from "~/lib/forms/intent-form.server";
import { areaNotFound } from "~/lib/http/user-error.server";
import { ShipmentsPage } from "~/models/desk.server";
import { createListSearch } from "~/models/desk-query.server";
import { isUuid } from "~/models/shipment.server";
import { listCurrentStaff } from "~/models/staff.server";
import type { Route } from "./+types/desk.shipments.$shipmentId_.handler";

export { revalidateAfterConflict as shouldRevalidate } from "~/lib/browser/revalidate";

export async function loader({ context, url }: Route.LoaderArgs) {
  const { opened } = await getStaffPage(context, ShipmentsPage);
  if (!opened) throw areaNotFound("desk");
  const { id: viewer, supabase } = requireStaff(context);
  const { id, name, handler } = opened;
  const members = await listCurrentStaff(supabase);
  return {
    name,
    handler,
    suggested: handler?.id === viewer ? "" : viewer,
    options: [
      ["nobody", "Nobody"] as const,
      ...members.map(({ account_id, name }) => [account_id, account_id === viewer ? `${name} (you)` : name] as const),
    ].filter(([value]) => value !== (handler?.id ?? "nobody")),
    idempotencyKey: randomUUID(),
    page: `/desk/shipments/${id}${createListSearch(url)}`,
  };
}

export async function action({ request, context, params, url }: Route.ActionArgs) {
  if (!isUuid(params.shipmentId)) throw data("Not found", { status: 404 });
  const page = `/desk/shipments/${params.shipmentId}${createListSearch(url)}`;
  return handleIntent(
    request,
    context,
    page,
    createDeskIntents({ "hand-over": handOver }, { shipment: params.shipmentId }),
  );
}

export default function HandlerPage({ loaderData, actionData }: Route.ComponentProps) {
  const { name, handler, suggested, options, page } = loaderData;
  const { intent, fields } = useIntentForm("hand-over", ["handler", "note"], { stored: { handler: suggested } });
  return (
    <div className="max-w-xl">
      <PageHeading title="Hand over the shipment" className="mb-2 text-xl" form={getIntentErrors(actionData)} />
      <p className="mb-4 wrap-anywhere">
        {name} is handled by {handler?.name ?? "nobody"}.
      </p>
      <IntentForm intent={intent} idempotent>
        <input type="hidden" name="from" value={handler?.id ?? "nobody"} />
        <SelectField field={fields.handler} label="Hand over to" options={options} prompt="Choose a team member" />
        <TextField field={fields.note} label="Note for the team" rows={2} />
        <div className="flex flex-wrap gap-3">
          <SubmitButton>Hand over</SubmitButton>
          <ButtonLink to={page}>Cancel</ButtonLink>
        </div>
      </IntentForm>
    </div>
  );
}
