import { data, redirect } from "react-router";
import { NoPage } from "~/components/no-page";
import { requireColleague } from "~/lib/desk.server";
import { fileRoute, isPressedHere, noForm } from "~/lib/file-route.server";
import { refusalOfThrown, thrown } from "~/lib/refusal.server";
import { companyBackend } from "~/lib/supabase.server";
import { takePlaceToSend } from "~/lib/uploads.server";
import { fileAnswer, openForCompany } from "~/models/document-file.server";
import { isUuid } from "~/models/shipment.server";

/** The file of a document, checked; that it was opened is an act. */
const file = fileRoute(async ({ request, context, params }) => {
  const { backend, id } = requireColleague(context);
  const { shipmentId = "", documentId = "" } = params;
  if (!isUuid(shipmentId) || !isUuid(documentId)) throw data("Not found", { status: 404 });
  // Opening is an act.
  if (!isPressedHere(request)) return redirect(`/desk/shipments/${shipmentId}#document-${documentId}`, 303);
  const place = takePlaceToSend(context, id);
  if ("reason" in place) throw thrown(place);
  const document = { id: documentId, shipment: shipmentId };
  const opened = await openForCompany(backend, companyBackend(), document).catch(refusalOfThrown);
  if ("reason" in opened) {
    place.release();
    throw opened.status === 404 ? data("Not found", { status: 404 }) : thrown(opened);
  }
  return fileAnswer(opened, request, place);
});

export const middleware = file.middleware;
export const loader = file.loader;
export const action = noForm;

export default NoPage;
