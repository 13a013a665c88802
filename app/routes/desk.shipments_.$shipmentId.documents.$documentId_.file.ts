import { redirect } from "react-router";
import { requireStaff } from "~/lib/auth/staff.server";
import { createFileRoute, isDownloadClick, noFormAction, respondWithDownload } from "~/lib/http/file-route.server";
import { areaNotFound, userErrorData, userErrorFromThrown } from "~/lib/http/user-error.server";
import { createLongReadClient, serviceRoleClient } from "~/lib/supabase/client.server";
import { openFileForStaff } from "~/models/document-file.server";
import { isUuid } from "~/models/shipment.server";

const file = createFileRoute(async ({ request, context, params }) => {
  const { supabase: backend, id } = requireStaff(context);
  const { shipmentId = "", documentId = "" } = params;
  if (!isUuid(shipmentId) || !isUuid(documentId)) throw areaNotFound("desk");
  // The audit log records each opened file, so only a click may open a file.
  if (!isDownloadClick(request)) return redirect(`/desk/shipments/${shipmentId}/documents/${documentId}`, 303);
  const document = { id: documentId, shipment: shipmentId };
  const longReadClient = await createLongReadClient(backend);
  const response = await respondWithDownload({ request, context }, { account: id, group: "staff" }, () =>
    openFileForStaff(longReadClient, serviceRoleClient(), document).catch(userErrorFromThrown),
  );
  if ("reason" in response) throw response.status === 404 ? areaNotFound("desk") : userErrorData(response);
  return response;
});

export const middleware = file.middleware;
export const loader = file.loader;
export const action = noFormAction;

export { FormOnlyRoute as default } from "~/components/forms/form-only-route";
