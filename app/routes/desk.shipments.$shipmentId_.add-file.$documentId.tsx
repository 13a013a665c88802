import { randomUUID } from "node:crypto";
import { createDeskIntents } from "~/actions/desk-intents.server";
import { addClientFile } from "~/actions/document.server";
import { FileField, TextField } from "~/components/forms/field";
import { SubmitButton } from "~/components/forms/form";
import { getIntentErrors, IntentForm, useIntentForm } from "~/components/forms/intent-form";
import { RadioField } from "~/components/forms/radio-field";
import { PageHeading } from "~/components/site/title";
import { ButtonLink } from "~/components/ui/button";
import { FactList } from "~/components/ui/fact-list";
import { eastAfricaTime } from "~/lib/dates";
import { handleUploadIntent } from "~/lib/forms/intent-form.server";
import { FILE_SOURCES } from "~/models/desk-labels";
import { fileLimits, uploadHints } from "~/models/document.server";
import type { Route } from "./+types/desk.shipments.$shipmentId_.add-file.$documentId";
import {
  getDeskDocument,
  getDeskShipmentPath,
  requireDocumentIds,
} from "./desk.shipments.$shipmentId/desk-document.server";

export { revalidateAfterConflict as shouldRevalidate } from "~/lib/browser/revalidate";

export async function loader({ context, params, url }: Route.LoaderArgs) {
  const { page, document, isClosed, facts } = await getDeskDocument(context, params.documentId, url);
  const { name, uploaded, rejected_at, rejection_reason, version } = document;
  const obstacle = uploaded
    ? `The ${name} already has a file.`
    : isClosed
      ? "This shipment is closed. Reopen the shipment to add a file."
      : null;
  return {
    page,
    facts,
    obstacle,
    rejected: rejected_at && `New file requested on ${eastAfricaTime(rejected_at)}. Reason: ${rejection_reason}`,
    version,
    accept: uploadHints.accept,
    limits: fileLimits,
    idempotencyKey: randomUUID(),
  };
}

export async function action({ request, context, params, url }: Route.ActionArgs) {
  const { shipmentId, documentId } = requireDocumentIds(params);
  const intents = createDeskIntents({ "add-file": addClientFile }, { document: documentId });
  const form = { intent: "add-file", fileField: "file" };
  return handleUploadIntent(request, context, getDeskShipmentPath(shipmentId, url), intents, form);
}

export default function AddFilePage({ loaderData, actionData }: Route.ComponentProps) {
  const { page, facts, obstacle, rejected, version, accept, limits } = loaderData;
  const form = useIntentForm("add-file", ["from", "note", "file"]);
  const { from, note, file } = form.fields;
  return (
    <>
      <PageHeading title="Add a file for the client" className="mb-2 text-xl" form={getIntentErrors(actionData)} />
      <FactList facts={facts} className="mb-4" />
      {rejected && <p className="mb-4 wrap-anywhere text-attention">{rejected}</p>}
      {obstacle && <p className="mb-4 font-semibold">{obstacle}</p>}
      {/* After a rejection, the form remains with the typed texts. */}
      {(!obstacle || form.rejected) && (
        <IntentForm
          intent={form.intent}
          expectedVersion={version}
          idempotent
          encType="multipart/form-data"
          className="max-w-xl"
        >
          <RadioField field={from} label="How it came" options={Object.entries(FILE_SOURCES)} />
          <TextField field={note} label="Note to the client" hint="Optional. The client sees this note." rows={2} />
          {/* The file is the last field, because the site does not read the fields after a file that is too large. */}
          <FileField field={file} label="File" hint={limits} accept={accept} />
          <div className="flex flex-wrap gap-3">
            <SubmitButton pending="Adding…">Add file</SubmitButton>
            <ButtonLink to={page}>Cancel</ButtonLink>
          </div>
        </IntentForm>
      )}
      {obstacle && !form.rejected && <ButtonLink to={page}>Back to the shipment</ButtonLink>}
    </>
  );
}
