import { data } from "react-router";
import { z } from "zod";
import { SubmitButton } from "~/components/forms/form";
import { getIntentErrors, IntentForm } from "~/components/forms/intent-form";
import { PageHeading } from "~/components/site/title";
import { buttonClass } from "~/components/ui/button";
import { CloseLink, Dialog } from "~/components/ui/dialog";
import { requireViewer, type Viewer } from "~/lib/auth/viewer.server";
import { defineIntent, handleIntentFor } from "~/lib/forms/intent-form.server";
import { toViewerPath } from "~/lib/http/redirect.server";
import { listSearch, shipmentPath } from "~/models/portal.server";
import { isWithdrawableByClient } from "~/models/shipment";
import { isUuid, withdrawOwnShipment } from "~/models/shipment.server";
import type { Route } from "./+types/portal.$shipmentId_.withdraw";
import { requireShipment } from "./portal.$shipmentId/require-shipment.server";

export { revalidateAfterConflict as shouldRevalidate } from "~/lib/browser/revalidate";

export async function loader({ context, params, url }: Route.LoaderArgs) {
  const shipment = await requireShipment(context, params.shipmentId, url);
  const { id, name, version } = shipment;
  return { page: shipmentPath(id, url), name, version, isWithdrawable: isWithdrawableByClient(shipment) };
}

export async function action({ request, context, params, url }: Route.ActionArgs) {
  const id = params.shipmentId;
  if (!isUuid(id)) throw data("Not found", { status: 404 });
  return handleIntentFor(requireViewer(context), request, context, toViewerPath(`/portal${listSearch(url)}`), {
    withdraw: defineIntent(z.object({}), async (client: Viewer, _, { expected_version: version = -1 }) => {
      const rejection = await withdrawOwnShipment(client, id, version);
      return rejection ?? { toast: "Shipment withdrawn" };
    }),
  });
}

export default function WithdrawShipmentPage({ loaderData, actionData }: Route.ComponentProps) {
  const { page, name, version, isWithdrawable } = loaderData;
  return (
    <Dialog className="static w-full max-w-xl bg-transparent p-0" label="Withdraw shipment" back={page}>
      <PageHeading title="Withdraw shipment" className="mb-2 text-xl" form={getIntentErrors(actionData)} />
      <p className="mb-6 wrap-anywhere">
        {isWithdrawable
          ? `Withdraw “${name}”? The shipment leaves your list, and its share links end. To undo this, call us within 30 days.`
          : "You can withdraw a shipment only at stage 1, before you upload a file or we add a charge. Call us to withdraw it now."}
      </p>
      <div className="flex flex-wrap gap-3">
        {isWithdrawable && (
          <IntentForm intent="withdraw" expectedVersion={version}>
            <SubmitButton pending="Withdrawing…">Withdraw shipment</SubmitButton>
          </IntentForm>
        )}
        <CloseLink to={page} className={buttonClass()}>
          {isWithdrawable ? "Cancel" : "Back to the shipment"}
        </CloseLink>
      </div>
    </Dialog>
  );
}
