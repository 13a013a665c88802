import { FormOnlyRoute } from "~/components/forms/form-only-route";
import { queryViewer, requireViewer, viewerMiddleware } from "~/lib/auth/viewer.server";
import { createCsvResponse } from "~/lib/http/csv.server";
import { createFileRoute, noFormAction } from "~/lib/http/file-route.server";
import { createLongReadClient } from "~/lib/supabase/client.server";
import { listShipmentsAfter } from "~/models/portal.server";
import { waitingOnLabels } from "~/models/shipment";
import { createShipmentColumns, type ShipmentRecord } from "~/models/shipment-fields.server";
import { readShipmentFilter } from "~/models/shipment-filter";

const columns = createShipmentColumns(waitingOnLabels);

const table = createFileRoute(async ({ context, url }) => {
  const supabase = await createLongReadClient(requireViewer(context).supabase);
  const filter = readShipmentFilter(url);
  return createCsvResponse("shipments.csv", columns, (last: ShipmentRecord | null) =>
    listShipmentsAfter(supabase, filter, last),
  );
});

export const middleware = [viewerMiddleware(() => queryViewer), ...table.middleware];
export const loader = table.loader;
export const action = noFormAction;

export default FormOnlyRoute;
