import type { RouterContextProvider } from "react-router";
import { getStaffPage } from "~/lib/auth/staff.server";
import { areaNotFound } from "~/lib/http/user-error.server";
import { createDeskDocumentView, ShipmentsPage } from "~/models/desk.server";
import { createListSearch } from "~/models/desk-query.server";
import { lastStage } from "~/models/shipment";
import { isUuid } from "~/models/shipment.server";

/** Returns the document of the opened shipment, and the facts with which a team member recognises the document. */
export async function getDeskDocument(context: Readonly<RouterContextProvider>, documentId: string, url: URL) {
  const { opened } = await getStaffPage(context, ShipmentsPage);
  const record = opened?.documents.find(({ id }) => id === documentId);
  if (!opened || !record) throw areaNotFound("desk");
  const document = createDeskDocumentView(record);
  const facts: [label: string, value: string, className?: string][] = [
    ["Document", document.name],
    ["Shipment", opened.name, "wrap-anywhere"],
    ["Client", opened.client.name || opened.client.email, "wrap-anywhere"],
  ];
  return { page: getDeskShipmentPath(opened.id, url), document, isClosed: opened.stage === lastStage, facts };
}

/** Throws a 404 error response if one of the IDs in the URL is invalid. */
export function requireDocumentIds({ shipmentId, documentId }: { shipmentId: string; documentId: string }) {
  if (!isUuid(shipmentId) || !isUuid(documentId)) throw areaNotFound("desk");
  return { shipmentId, documentId };
}

export function getDeskShipmentPath(shipmentId: string, url: URL): string {
  return `/desk/shipments/${shipmentId}${createListSearch(url)}`;
}
