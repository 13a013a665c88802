import { randomUUID } from "node:crypto";
import { data } from "react-router";
import { createDeskIntents } from "~/actions/desk-intents.server";
import { removeArrival, saveArrival } from "~/actions/shipment.server";
import { Field, SelectField } from "~/components/forms/field";
import { SubmitButton } from "~/components/forms/form";
import { getIntentErrors, IntentForm, ReasonForm, useIntentForm } from "~/components/forms/intent-form";
import { PageHeading } from "~/components/site/title";
import { ButtonLink } from "~/components/ui/button";
import { getStaffPage } from "~/lib/auth/staff.server";
import { handleIntent } from "~/lib/forms/intent-form.server";
import { areaNotFound } from "~/lib/http/user-error.server";
import { describeArrivalForDesk, storageLocationGroups } from "~/models/arrival.server";
import { ShipmentsPage } from "~/models/desk.server";
import { CARGO_KINDS } from "~/models/desk-labels";
import { createListSearch } from "~/models/desk-query.server";
import { isUuid } from "~/models/shipment.server";
import type { Route } from "./+types/desk.shipments.$shipmentId_.arrival";

export { revalidateAfterConflict as shouldRevalidate } from "~/lib/browser/revalidate";

export async function loader({ context, url }: Route.LoaderArgs) {
  const { opened } = await getStaffPage(context, ShipmentsPage);
  if (!opened) throw areaNotFound("desk");
  const { id, name, version, arrival } = opened;
  return {
    name,
    version,
    arrival: arrival && {
      text: describeArrivalForDesk(arrival),
      stored: { storageLocation: arrival.storage_location, cargo: arrival.cargo, day: arrival.day },
    },
    places: storageLocationGroups.map(({ group, places }) => ({ name: group, options: Object.entries(places) })),
    idempotencyKey: randomUUID(),
    page: `/desk/shipments/${id}${createListSearch(url)}`,
  };
}

export async function action({ request, context, params, url }: Route.ActionArgs) {
  if (!isUuid(params.shipmentId)) throw data("Not found", { status: 404 });
  const page = `/desk/shipments/${params.shipmentId}${createListSearch(url)}`;
  const actions = { arrival: saveArrival, "remove-arrival": removeArrival };
  return handleIntent(request, context, page, createDeskIntents(actions, { shipment: params.shipmentId }));
}

export default function ArrivalPage({ loaderData, actionData }: Route.ComponentProps) {
  const { name, version, arrival, places, page } = loaderData;
  const { intent, fields } = useIntentForm("arrival", ["storageLocation", "cargo", "day"], {
    stored: arrival?.stored,
  });
  return (
    <div className="max-w-xl">
      <PageHeading
        title={arrival ? "Change the arrival" : "Add the arrival"}
        className="mb-2 text-xl"
        form={getIntentErrors(actionData)}
      />
      <p className="mb-4 wrap-anywhere">
        {name}. {arrival?.text}
      </p>
      <IntentForm intent={intent} expectedVersion={version} idempotent>
        <SelectField field={fields.storageLocation} label="Place" groups={places} prompt="Choose the place" />
        <SelectField
          field={fields.cargo}
          label="Cargo"
          hint="Only air freight arrives at airports."
          options={Object.entries(CARGO_KINDS)}
          prompt="Choose the cargo"
        />
        <Field field={fields.day} label="Arrival date" type="date" />
        <p className="mb-5 text-sm text-quiet">
          The client gets an email about the arrival. If our tariffs cover the arrival, the client sees when free
          storage ends. Otherwise the client reads "Ask us for the free days".
        </p>
        <div className="flex flex-wrap gap-3">
          <SubmitButton>Save arrival</SubmitButton>
          <ButtonLink to={page}>Cancel</ButtonLink>
        </div>
      </IntentForm>
      {arrival && (
        <div className="mt-6 border-t border-line pt-2">
          <div className="-mx-4">
            <ReasonForm
              intent="remove-arrival"
              title="Remove arrival"
              text="The client no longer sees the arrival and gets no email about the removal. If the client knows about the arrival, send a note."
              expectedVersion={version}
              idempotent
            />
          </div>
        </div>
      )}
    </div>
  );
}
