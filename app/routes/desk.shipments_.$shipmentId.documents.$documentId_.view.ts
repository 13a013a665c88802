import { redirect } from "react-router";
import { requireStaff } from "~/lib/auth/staff.server";
import { createFileRoute, isEmbedded, noFormAction, respondWithDownload } from "~/lib/http/file-route.server";
import { areaNotFound, userErrorFromThrown } from "~/lib/http/user-error.server";
import { createLongReadClient, serviceRoleClient } from "~/lib/supabase/client.server";
import { openViewForStaff } from "~/models/document-view.server";
import { isUuid } from "~/models/shipment.server";

const file = createFileRoute(async ({ request, context, params, url }) => {
  const { supabase: backend, id } = requireStaff(context);
  const { shipmentId = "", documentId = "" } = params;
  if (!isUuid(shipmentId) || !isUuid(documentId)) throw areaNotFound("desk");
  if (!isEmbedded(request)) return redirect(`/desk/shipments/${shipmentId}/documents/${documentId}`, 303);
  const page = Math.trunc(Number(url.searchParams.get("page"))) || 1;
  const view = { id: documentId, shipment: shipmentId, page: Math.max(1, page), signal: request.signal };
  const longReadClient = await createLongReadClient(backend);
  const response = await respondWithDownload(
    { request, context },
    { account: id, group: "staff", isWholeFile: true },
    () => openViewForStaff(longReadClient, serviceRoleClient(), view).catch(userErrorFromThrown),
  );
  if (!("reason" in response)) return response;
  if (response.status === 404) throw areaNotFound("desk");
  // Browsers show the text of the review page instead of this response, because the status is an error.
  return new Response(response.reason, { status: response.status, headers: { "Cache-Control": "private, no-store" } });
});

export const middleware = file.middleware;
export const loader = file.loader;
export const action = noFormAction;

export { FormOnlyRoute as default } from "~/components/forms/form-only-route";
