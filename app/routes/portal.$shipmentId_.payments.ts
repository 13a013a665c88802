import { data, redirect } from "react-router";
import { readForm } from "~/lib/forms/form-data.server";
import { toViewerPath } from "~/lib/http/redirect.server";
import { redirectWithToast } from "~/lib/http/toast.server";
import { paymentToast } from "~/models/not-yet";
import { shipmentPath } from "~/models/portal.server";
import { PAYMENTS } from "~/models/shipment";
import type { Route } from "./+types/portal.$shipmentId_.payments";

export async function action({ request, context, params, url }: Route.ActionArgs) {
  const form = await readForm(request);
  const payment = PAYMENTS.find(({ id }) => id === form.get("payment"));
  if (!payment) throw data("This payment item does not exist.", { status: 400 });
  return redirectWithToast(context, shipmentPath(params.shipmentId, url), paymentToast(payment));
}

export function loader({ params }: Route.LoaderArgs) {
  return redirect(toViewerPath(`/portal/${params.shipmentId}`), 303);
}

export { FormOnlyRoute as default } from "~/components/forms/form-only-route";
