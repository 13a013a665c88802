import { randomUUID } from "node:crypto";
import { Form, redirect, useOutletContext } from "react-router";
import { DescribedFields } from "~/components/forms/described-fields";
import { Field } from "~/components/forms/field";
import { SubmitButton, useActionForm } from "~/components/forms/form";
import { useDraft } from "~/components/portal/use-draft";
import { PageHeading } from "~/components/site/title";
import { buttonClass } from "~/components/ui/button";
import { CloseLink, Dialog } from "~/components/ui/dialog";
import { getViewerOrError } from "~/lib/auth/viewer.server";
import { readForm } from "~/lib/forms/form-data.server";
import { findAccountError } from "~/lib/forms/intent-form.server";
import {
  createErrorToast,
  getFirstError,
  parseForm,
  rejectForm,
  rejectSubmission,
} from "~/lib/forms/rejected-form.server";
import { redirectWithToast } from "~/lib/http/toast.server";
import { userErrorFromThrown } from "~/lib/http/user-error.server";
import { CreateShipmentFields, createShipment } from "~/models/shipment.server";
import { describeNumberFields } from "~/models/shipment-fields.server";
import type { Route } from "./+types/portal.new";
import type { PortalOutletContext } from "./portal";

export function loader() {
  return { idempotencyKey: randomUUID(), numberFields: describeNumberFields() };
}

export async function action({ request, context }: Route.ActionArgs) {
  const client = getViewerOrError(context);
  const form = await readForm(request);
  const submission = parseForm(form, CreateShipmentFields);
  if (submission.status !== "success") {
    // If the idempotency key is invalid, the form gets a new key.
    const result = submission.reply({ hideFields: submission.error?.idempotencyKey ? ["idempotencyKey"] : [] });
    return rejectForm(result, createErrorToast("Failed to create shipment", getFirstError(result)));
  }
  // An empty name creates nothing and shows no message (docs/decisions/042-empty-shipment-name.md).
  if (submission.value.name === "") return redirect("/portal", 303);
  const created =
    "reason" in client
      ? client
      : (findAccountError(form, client) ?? (await createShipment(client, submission.value).catch(userErrorFromThrown)));
  if ("reason" in created) return rejectSubmission(submission, "Failed to create shipment", created);
  return redirectWithToast(context, `/portal/${created.id}`, {
    title: "Shipment created",
    description: "Next, upload the documents.",
    variant: "default",
  });
}

export default function CreateShipmentPage({ actionData, loaderData }: Route.ComponentProps) {
  const { accountHash } = useOutletContext<PortalOutletContext>();
  const [form, fields] = useActionForm("create-shipment", actionData, [
    "name",
    ...loaderData.numberFields.map(({ name }) => name),
  ]);
  useDraft(form.id, accountHash);
  // A retry sends the same idempotency key, so that a retry after a lost response creates no second shipment.
  const sentKey = actionData?.result?.initialValue?.idempotencyKey;
  const idempotencyKey = typeof sentKey === "string" ? sentKey : loaderData.idempotencyKey;
  return (
    <Dialog className="static w-full max-w-xl bg-transparent p-0" label="Create Shipment" back="/portal">
      <PageHeading title="Create Shipment" className="mb-6 text-xl" form={form} />
      <Form method="post" replace id={form.id} noValidate>
        <input type="hidden" name="idempotencyKey" value={idempotencyKey} />
        <input type="hidden" name="pageAccount" value={accountHash} />
        <Field
          field={fields.name}
          label="Shipment name"
          hint='For example "Toyota Noah, Yokohama to Kampala"'
          autoComplete="off"
        />
        <DescribedFields descriptions={loaderData.numberFields} fields={fields} rejected={actionData} />
        <div className="flex flex-wrap gap-3">
          <SubmitButton pending="Creating…">Create Shipment</SubmitButton>{" "}
          <CloseLink to="/portal" className={buttonClass()}>
            Cancel
          </CloseLink>
        </div>
      </Form>
    </Dialog>
  );
}
