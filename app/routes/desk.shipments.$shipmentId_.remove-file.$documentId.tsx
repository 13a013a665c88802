import { randomUUID } from "node:crypto";
import { createDeskIntents } from "~/actions/desk-intents.server";
import { removeClientFile } from "~/actions/document.server";
import { TextField } from "~/components/forms/field";
import { SubmitButton } from "~/components/forms/form";
import { getIntentErrors, IntentForm, useIntentForm } from "~/components/forms/intent-form";
import { PageHeading } from "~/components/site/title";
import { ButtonLink } from "~/components/ui/button";
import { FactList } from "~/components/ui/fact-list";
import { handleIntent } from "~/lib/forms/intent-form.server";
import type { Route } from "./+types/desk.shipments.$shipmentId_.remove-file.$documentId";
import {
  getDeskDocument,
  getDeskShipmentPath,
  requireDocumentIds,
} from "./desk.shipments.$shipmentId/desk-document.server";

export { revalidateAfterConflict as shouldRevalidate } from "~/lib/browser/revalidate";

export async function loader({ context, params, url }: Route.LoaderArgs) {
  const { page, document, isClosed, facts } = await getDeskDocument(context, params.documentId, url);
  const { name, uploaded, verified, file_name, added, version } = document;
  const text = !uploaded
    ? `The ${name} has no file.`
    : !added
      ? `The client uploaded the file of the ${name}. Request a new file instead.`
      : verified
        ? `The ${name} is verified. Undo the verification first.`
        : isClosed
          ? "This shipment is closed. Reopen the shipment to remove the file."
          : `${file_name}. ${added}`;
  const isRemovable = uploaded && added !== undefined && !verified && !isClosed;
  return { page, facts, text, isRemovable, version, idempotencyKey: randomUUID() };
}

export async function action({ request, context, params, url }: Route.ActionArgs) {
  const { shipmentId, documentId } = requireDocumentIds(params);
  const intents = createDeskIntents({ "remove-file": removeClientFile }, { document: documentId });
  return handleIntent(request, context, getDeskShipmentPath(shipmentId, url), intents);
}

export default function RemoveAddedFilePage({ loaderData, actionData }: Route.ComponentProps) {
  const { page, facts, text, isRemovable, version } = loaderData;
  const { intent, fields, rejected } = useIntentForm("remove-file", ["reason"]);
  return (
    <>
      <PageHeading title="Remove the added file" className="mb-2 text-xl" form={getIntentErrors(actionData)} />
      <FactList facts={facts} className="mb-4" />
      <p className="mb-4 wrap-anywhere">{text}</p>
      {isRemovable || rejected ? (
        <IntentForm intent={intent} expectedVersion={version} idempotent className="max-w-xl">
          <TextField
            field={fields.reason}
            label="Reason"
            hint="For the activity log. The client gets no email."
            rows={2}
            mandatory
          />
          <div className="flex flex-wrap gap-3">
            <SubmitButton pending="Removing…">Remove file</SubmitButton>
            <ButtonLink to={page}>Cancel</ButtonLink>
          </div>
        </IntentForm>
      ) : (
        <ButtonLink to={page}>Back to the shipment</ButtonLink>
      )}
    </>
  );
}
