import { randomUUID } from "node:crypto";
import { data } from "react-router";
import { createDeskIntents } from "~/actions/desk-intents.server";
import { open, openSeveral, type ShipmentReview } from "~/actions/open-shipments.server";
import { DescribedFields } from "~/components/forms/described-fields";
import { Field } from "~/components/forms/field";
import { SubmitButton } from "~/components/forms/form";
import { getIntentErrors, IntentForm, type RejectedIntent, useIntentForm } from "~/components/forms/intent-form";
import { PageHeading } from "~/components/site/title";
import { ButtonLink, TextLink } from "~/components/ui/button";
import { Card } from "~/components/ui/card";
import { getStaffPage } from "~/lib/auth/staff.server";
import { eastAfricaTime } from "~/lib/dates";
import { handleIntent } from "~/lib/forms/intent-form.server";
import { areaNotFound } from "~/lib/http/user-error.server";
import { ClientsPage } from "~/models/desk.server";
import { isUuid } from "~/models/shipment.server";
import { describeNumberFields } from "~/models/shipment-fields.server";
import { maxOpenedShipments } from "~/models/shipment-lines.server";
import type { Route } from "./+types/route";
import { LinesForm } from "./lines-form";
import { Review } from "./review";

export { revalidateAfterConflict as shouldRevalidate } from "~/lib/browser/revalidate";

export async function loader({ context }: Route.LoaderArgs) {
  const { opened } = await getStaffPage(context, ClientsPage);
  if (!opened) throw areaNotFound("desk");
  const { id, name, email, closed, confirmed, erasure_requested_at } = opened;
  return {
    client: { id, name: name || email },
    obstacle: closed
      ? "This account is closed. Reopen the account to open a shipment."
      : confirmed
        ? null
        : "The client has not confirmed the email address yet. You can open a shipment after the confirmation.",
    erasure: erasure_requested_at && eastAfricaTime(erasure_requested_at),
    numberFields: describeNumberFields(),
    maxOpenedShipments,
    idempotencyKey: randomUUID(),
  };
}

export async function action({ request, context, params }: Route.ActionArgs) {
  const id = params.accountId;
  if (!isUuid(id)) throw data("Not found", { status: 404 });
  const intents = createDeskIntents({ open, "open-several": openSeveral }, { account: id });
  return handleIntent(request, context, `/desk/clients/${id}`, intents);
}

/** `mustConfirm` is true if the shipment has a number of another open shipment. */
type Rejected = RejectedIntent & { review?: ShipmentReview; mustConfirm?: boolean };

export default function OpenShipmentsPage({ loaderData, actionData }: Route.ComponentProps) {
  const { client, obstacle, erasure, numberFields, maxOpenedShipments } = loaderData;
  const { review, mustConfirm, result } = (actionData ?? {}) as Partial<Rejected>;
  const errors = getIntentErrors(actionData as Rejected | undefined);
  const form = errors.problems.length > 0 ? errors : undefined;
  const typed = String(result?.initialValue?.lines ?? "");
  const page = `/desk/clients/${client.id}`;
  const heading = review ? "Check the lines" : "Open shipments";
  return (
    <>
      <PageHeading title={`${heading}: ${client.name}`} className="mb-1 text-xl wrap-anywhere" form={form} />
      <p className="mb-4 flex flex-wrap items-center gap-x-4 text-sm">
        <TextLink to={page}>Back to the client</TextLink>
      </p>
      {erasure && (
        <p className="mb-4 font-semibold text-attention">
          The client requested the erasure of this account on {erasure}.
        </p>
      )}
      {obstacle ? (
        <p>{obstacle}</p>
      ) : review ? (
        <Review review={review} typed={typed} maxLines={maxOpenedShipments} />
      ) : (
        <div className="grid items-start gap-6 lg:grid-cols-2">
          <Card title="Open a shipment">
            <OpenForm numberFields={numberFields} mustConfirm={mustConfirm} page={page} />
          </Card>
          <Card title="Open several" id="several">
            <LinesForm typed={typed} maxLines={maxOpenedShipments} />
          </Card>
        </div>
      )}
    </>
  );
}

function OpenForm(props: {
  numberFields: Route.ComponentProps["loaderData"]["numberFields"];
  mustConfirm: boolean | undefined;
  page: string;
}) {
  const { numberFields, mustConfirm, page } = props;
  const { intent, fields, rejected } = useIntentForm("open", ["name", ...numberFields.map(({ name }) => name)]);
  return (
    <IntentForm intent={intent} idempotent className="px-4 py-3">
      {mustConfirm && <input type="hidden" name="confirmRepeated" value="yes" />}
      <Field
        field={fields.name}
        label="Shipment name"
        hint='For example "Toyota Noah, Yokohama to Kampala"'
        autoComplete="off"
      />
      <DescribedFields descriptions={numberFields} fields={fields} rejected={rejected} />
      <div className="flex flex-wrap gap-3">
        <SubmitButton pending="Opening…">{mustConfirm ? "Open shipment anyway" : "Open shipment"}</SubmitButton>
        <ButtonLink to={page}>Cancel</ButtonLink>
      </div>
    </IntentForm>
  );
}
