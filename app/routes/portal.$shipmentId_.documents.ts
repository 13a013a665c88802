import { redirect } from "react-router";
import { getViewerOrError } from "~/lib/auth/viewer.server";
import { toViewerPath } from "~/lib/http/redirect.server";
import { redirectWithToast } from "~/lib/http/toast.server";
import { getShipment } from "~/models/portal.server";
import type { Route } from "./+types/portal.$shipmentId_.documents";
import {
  createFailedResult,
  noShipmentError,
  storeUploadedFile,
  type UploadResult,
} from "./portal.$shipmentId/file-storage.server";

/** JavaScript requests JSON. The server redirects other requests to the shipment. */
export async function action({ request, context, params }: Route.ActionArgs) {
  const { toast, status } = await storeUpload(request, context, params.shipmentId);
  if (request.headers.get("Accept")?.includes("application/json")) return Response.json({ toast }, { status });
  return redirectWithToast(context, toViewerPath(`/portal/${params.shipmentId}`), toast);
}

export function loader({ params }: Route.LoaderArgs) {
  return redirect(toViewerPath(`/portal/${params.shipmentId}`), 303);
}

async function storeUpload(request: Request, context: Route.ActionArgs["context"], id: string): Promise<UploadResult> {
  const client = getViewerOrError(context);
  if ("reason" in client) return createFailedResult(client);
  const shipment = (await getShipment(client, id)) ?? noShipmentError;
  if ("reason" in shipment) return createFailedResult(shipment);
  return storeUploadedFile(context, client, shipment, request);
}
