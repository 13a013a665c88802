/** Uploads sent by script. Without script, the page's own form posts to the page. */
import { redirect } from "react-router";
import { failure } from "~/lib/answer.server";
import { redirectWithFlash } from "~/lib/flash.server";
import { portalPath } from "~/lib/redirect.server";
import { clientOrRefusal } from "~/lib/session.server";
import { getShipment } from "~/models/shipment.server";
import type { Route } from "./+types/portal.$shipmentId_.documents";
import { type Received, receiveFile } from "./portal.$shipmentId/receive.server";

/** Answers `{ toast }` to who asks for JSON; a browser without script goes to the shipment and sees it there. */
export async function action({ request, context, params }: Route.ActionArgs) {
  const { toast, status } = await receive(request, context, params.shipmentId);
  if (request.headers.get("Accept")?.includes("application/json")) return Response.json({ toast }, { status });
  return redirectWithFlash(context, portalPath(`/portal/${params.shipmentId}`), toast);
}

export function loader({ params }: Route.LoaderArgs) {
  return redirect(portalPath(`/portal/${params.shipmentId}`), 303);
}

async function receive(
  request: Request,
  context: Route.ActionArgs["context"],
  id: string,
): Promise<Pick<Received, "toast" | "status">> {
  const client = clientOrRefusal(context);
  if ("reason" in client) return failed(client);
  const shipment = await getShipment(client, id);
  if (!shipment) return failed({ reason: "There is no such shipment.", status: 404 });
  if ("reason" in shipment) return failed(shipment);
  return receiveFile(context, client, shipment, request);
}

function failed({ reason, status }: { reason: string; status: number }) {
  return { toast: failure("Upload failed", reason), status };
}
