import { data, Form } from "react-router";
import { DescribedFields } from "~/components/forms/described-fields";
import { SubmitButton, useActionForm } from "~/components/forms/form";
import { PageHeading } from "~/components/site/title";
import { buttonClass } from "~/components/ui/button";
import { CloseLink, Dialog } from "~/components/ui/dialog";
import { requireViewer } from "~/lib/auth/viewer.server";
import { readForm } from "~/lib/forms/form-data.server";
import { readIntentMetadata } from "~/lib/forms/intent-form.server";
import { parseForm, rejectSubmission } from "~/lib/forms/rejected-form.server";
import { redirectWithToast } from "~/lib/http/toast.server";
import { userErrorFromThrown } from "~/lib/http/user-error.server";
import { shipmentPath } from "~/models/portal.server";
import { ChangeShipmentFields, changeShipment, isUuid } from "~/models/shipment.server";
import { describeNumberFields } from "~/models/shipment-fields.server";
import type { Route } from "./+types/portal.$shipmentId_.change";
import { requireShipment } from "./portal.$shipmentId/require-shipment.server";

export { revalidateAfterConflict as shouldRevalidate } from "~/lib/browser/revalidate";

export async function loader({ context, params, url }: Route.LoaderArgs) {
  const shipment = await requireShipment(context, params.shipmentId, url);
  const { id, name, stage, version } = shipment;
  const fields = [
    { name: "name" as const, label: "Shipment name", stored: name, isRequired: true },
    ...describeNumberFields(shipment),
  ];
  return { page: shipmentPath(id, url), fields, isOpen: stage === 1, version };
}

export async function action({ request, context, params, url }: Route.ActionArgs) {
  const id = params.shipmentId;
  if (!isUuid(id)) throw data("Not found", { status: 404 });
  const client = requireViewer(context);
  const form = await readForm(request);
  const submission = parseForm(form, ChangeShipmentFields);
  if (submission.status !== "success") return rejectSubmission(submission, null);
  const { expected_version: version = -1 } = readIntentMetadata(form);
  const rejection = await changeShipment(client, id, submission.value, version).catch(userErrorFromThrown);
  if (rejection) return rejectSubmission(submission, null, rejection);
  return redirectWithToast(context, shipmentPath(id, url), { title: "Changes saved", variant: "default" });
}

export default function ChangeShipmentPage({ loaderData, actionData }: Route.ComponentProps) {
  const { page, isOpen, version } = loaderData;
  const names = loaderData.fields.map(({ name }) => name);
  const [form, fields] = useActionForm("change-shipment", actionData, names);
  return (
    <Dialog className="static w-full max-w-xl bg-transparent p-0" label="Change shipment" back={page}>
      <PageHeading title="Change shipment" className="mb-6 text-xl" form={form} />
      {isOpen ? (
        <Form method="post" replace id={form.id} noValidate>
          <input type="hidden" name="expectedVersion" value={version} />
          <DescribedFields descriptions={loaderData.fields} fields={fields} rejected={actionData} />
          <div className="flex flex-wrap gap-3">
            <SubmitButton>Save changes</SubmitButton>{" "}
            <CloseLink to={page} className={buttonClass()}>
              Cancel
            </CloseLink>
          </div>
        </Form>
      ) : (
        <p id={fields.name.id}>
          You can change the name and numbers only at stage 1. Call us to change them now.{" "}
          <CloseLink to={page} className="inline-flex min-h-11 items-center underline">
            Back to the shipment
          </CloseLink>
        </p>
      )}
    </Dialog>
  );
}
