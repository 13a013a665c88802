import { data, redirect } from "react-router";
import { NoPage } from "~/components/no-page";
import { redirectWithFlash } from "~/lib/flash.server";
import { readForm } from "~/lib/form.server";
import { portalPath } from "~/lib/redirect.server";
import { paymentToast } from "~/models/not-yet";
import { PAYMENTS } from "~/models/shipment";
import { shipmentPath } from "~/models/shipment.server";
import type { Route } from "./+types/portal.$shipmentId_.payments";

export async function action({ request, context, params, url }: Route.ActionArgs) {
  const form = await readForm(request);
  const payment = PAYMENTS.find(({ id }) => id === form.get("payment"));
  if (!payment) throw data("There is no such payment.", { status: 400 });
  return redirectWithFlash(context, shipmentPath(params.shipmentId, url), paymentToast(payment));
}

export function loader({ params }: Route.LoaderArgs) {
  return redirect(portalPath(`/portal/${params.shipmentId}`), 303);
}

export default NoPage;
