import { data, type RouterContextProvider } from "react-router";
import { requireViewer } from "~/lib/auth/viewer.server";
import { areaNotFound, userErrorData } from "~/lib/http/user-error.server";
import { getShipment, withdrawnStatus } from "~/models/portal.server";

/** Throws the same 404 for another client's shipment as for an unknown shipment ID. */
export async function requireShipment(context: Readonly<RouterContextProvider>, id: string, url?: URL) {
  const shipment = await getShipment(requireViewer(context), id, url);
  if (!shipment) throw areaNotFound("portal");
  if ("reason" in shipment && shipment.status === withdrawnStatus) {
    const { data: link } = areaNotFound("portal");
    throw data({ ...link, title: "Shipment withdrawn", reason: shipment.reason }, { status: withdrawnStatus });
  }
  if ("reason" in shipment) throw userErrorData(shipment);
  return shipment;
}
