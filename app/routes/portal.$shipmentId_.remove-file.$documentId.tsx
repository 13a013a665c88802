import { data } from "react-router";
import { z } from "zod";
import { SubmitButton } from "~/components/forms/form";
import { getIntentErrors, IntentForm } from "~/components/forms/intent-form";
import { PageHeading } from "~/components/site/title";
import { buttonClass } from "~/components/ui/button";
import { CloseLink, Dialog } from "~/components/ui/dialog";
import { requireViewer, type Viewer } from "~/lib/auth/viewer.server";
import { defineIntent, handleIntentFor } from "~/lib/forms/intent-form.server";
import { areaNotFound } from "~/lib/http/user-error.server";
import { removeFile } from "~/models/document.server";
import { shipmentPath } from "~/models/portal.server";
import { isUuid } from "~/models/shipment.server";
import type { Route } from "./+types/portal.$shipmentId_.remove-file.$documentId";
import { requireShipment } from "./portal.$shipmentId/require-shipment.server";

export { revalidateAfterConflict as shouldRevalidate } from "~/lib/browser/revalidate";

export async function loader({ context, params, url }: Route.LoaderArgs) {
  const shipment = await requireShipment(context, params.shipmentId, url);
  const document = shipment.documents.find(({ id }) => id === params.documentId);
  if (!document) throw areaNotFound("portal");
  const { name, uploaded, file_name: fileName, version } = document;
  return { page: shipmentPath(shipment.id, url), name, fileName: uploaded ? (fileName ?? name) : null, version };
}

export async function action({ request, context, params, url }: Route.ActionArgs) {
  const { shipmentId, documentId } = params;
  if (!isUuid(shipmentId) || !isUuid(documentId)) throw data("Not found", { status: 404 });
  return handleIntentFor(requireViewer(context), request, context, shipmentPath(shipmentId, url), {
    "remove-file": defineIntent(z.object({}), async (client: Viewer, _, { expected_version: version = -1 }) => {
      const rejection = await removeFile(client, documentId, version);
      return rejection ?? { toast: "File removed", description: "Upload a new file." };
    }),
  });
}

export default function RemoveFilePage({ loaderData, actionData }: Route.ComponentProps) {
  const { page, name, fileName, version } = loaderData;
  return (
    <Dialog className="static w-full max-w-xl bg-transparent p-0" label="Remove file" back={page}>
      <PageHeading title="Remove file" className="mb-2 text-xl" form={getIntentErrors(actionData)} />
      <p className="mb-6 wrap-anywhere">
        {fileName === null
          ? `The ${name} has no file.`
          : `Remove ${fileName}, the file for the ${name}? You can upload a new file afterwards.`}
      </p>
      <div className="flex flex-wrap gap-3">
        {fileName !== null && (
          <IntentForm intent="remove-file" expectedVersion={version}>
            <SubmitButton pending="Removing…">Remove file</SubmitButton>
          </IntentForm>
        )}
        <CloseLink to={page} className={buttonClass()}>
          Cancel
        </CloseLink>
      </div>
    </Dialog>
  );
}
