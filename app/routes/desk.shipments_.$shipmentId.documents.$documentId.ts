import { data } from "react-router";
import { NoPage } from "~/components/no-page";
import { fileRoute, noForm, requireColleague } from "~/lib/desk.server";
import { thrown } from "~/lib/refusal.server";
import { fileAnswer, openForCompany } from "~/models/document.server";
import { isUuid } from "~/models/shipment.server";

/** The file of a document, checked; that it was opened is an act. */
const file = fileRoute(async ({ context, params }) => {
  const { backend } = requireColleague(context);
  const { shipmentId = "", documentId = "" } = params;
  if (!isUuid(shipmentId) || !isUuid(documentId)) throw data("Not found", { status: 404 });
  const opened = await openForCompany(backend, documentId);
  if ("reason" in opened) throw opened.status === 404 ? data("Not found", { status: 404 }) : thrown(opened);
  if (opened.shipment !== shipmentId.toLowerCase()) throw data("Not found", { status: 404 });
  return fileAnswer(opened);
});

export const middleware = file.middleware;
export const loader = file.loader;
export const action = noForm;

export default NoPage;
