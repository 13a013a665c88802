import { data } from "react-router";
import { requireColleague } from "~/lib/desk.server";
import { thrown } from "~/lib/refusal.server";
import { fileAnswer, openForCompany } from "~/models/document.server";
import { isUuid } from "~/models/shipment.server";
import type { Route } from "./+types/desk.shipments.$shipmentId_.documents.$documentId";

/** The file of a document, checked; that it was opened is an act. */
export async function loader({ context, params }: Route.LoaderArgs) {
  const { backend } = requireColleague(context);
  const { shipmentId, documentId } = params;
  if (!isUuid(shipmentId) || !isUuid(documentId)) throw data("Not found", { status: 404 });
  const file = await openForCompany(backend, documentId);
  if ("reason" in file) throw file.status === 404 ? data("Not found", { status: 404 }) : thrown(file);
  return fileAnswer(file);
}
