import { queryViewer, requireViewer, viewerMiddleware } from "~/lib/auth/viewer.server";
import { createCsvDownload } from "~/lib/http/csv.server";
import { createFileRoute, noFormAction, respondWithDownload } from "~/lib/http/file-route.server";
import { userErrorData } from "~/lib/http/user-error.server";
import { createLongReadClient } from "~/lib/supabase/client.server";
import { listShipmentsAfter } from "~/models/portal.server";
import { waitingOnLabels } from "~/models/shipment";
import { createShipmentColumns, type ShipmentRecord } from "~/models/shipment-fields.server";
import { readShipmentFilter } from "~/models/shipment-filter";

const columns = createShipmentColumns(waitingOnLabels);

const table = createFileRoute(async ({ request, context, url }) => {
  const client = requireViewer(context);
  const supabase = await createLongReadClient(client.supabase);
  const filter = readShipmentFilter(url);
  const response = await respondWithDownload({ request, context }, { account: client.id, group: "clients" }, () =>
    createCsvDownload("shipments.csv", columns, (last: ShipmentRecord | null) =>
      listShipmentsAfter(supabase, filter, last),
    ),
  );
  if ("reason" in response) throw userErrorData(response);
  return response;
});

export const middleware = [viewerMiddleware(() => queryViewer), ...table.middleware];
export const loader = table.loader;
export const action = noFormAction;

export { FormOnlyRoute as default } from "~/components/forms/form-only-route";
