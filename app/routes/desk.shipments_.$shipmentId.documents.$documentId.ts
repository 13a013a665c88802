import { redirect } from "react-router";
import { NoPage } from "~/components/no-page";
import { requireColleague } from "~/lib/desk.server";
import { fileRoute, isPressedHere, noForm } from "~/lib/file-route.server";
import { noPageOf, thrown } from "~/lib/refusal.server";
import { companyBackend } from "~/lib/supabase.server";
import { openForCompany, sendFile } from "~/models/document-file.server";
import { isUuid } from "~/models/shipment.server";

/** The file of a document, checked; that it was opened is an act. */
const file = fileRoute(async ({ request, context, params }) => {
  const { backend, id } = requireColleague(context);
  const { shipmentId = "", documentId = "" } = params;
  if (!isUuid(shipmentId) || !isUuid(documentId)) throw noPageOf("desk");
  // Opening is an act.
  if (!isPressedHere(request)) return redirect(`/desk/shipments/${shipmentId}#document-${documentId}`, 303);
  const document = { id: documentId, shipment: shipmentId };
  const answer = await sendFile({ request, context }, id, () => openForCompany(backend, companyBackend(), document));
  if ("reason" in answer) throw answer.status === 404 ? noPageOf("desk") : thrown(answer);
  return answer;
});

export const middleware = file.middleware;
export const loader = file.loader;
export const action = noForm;

export default NoPage;
