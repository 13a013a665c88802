import { FormOnlyRoute } from "~/components/forms/form-only-route";
import { queryViewer, requireViewer, viewerMiddleware } from "~/lib/auth/viewer.server";
import { sortableTime } from "~/lib/dates";
import { createCsvResponse } from "~/lib/http/csv.server";
import { createFileRoute, noFormAction } from "~/lib/http/file-route.server";
import { createLongReadClient } from "~/lib/supabase/client.server";
import { readShipmentFilter } from "~/models/desk";
import { waitingOnLabels } from "~/models/labels";
import { listShipmentsAfter, type ShipmentListItem } from "~/models/shipment.server";

const table = createFileRoute(async ({ context, url }) => {
  const supabase = await createLongReadClient(requireViewer(context).supabase);
  const filter = readShipmentFilter(url);
  return createCsvResponse(
    "shipments.csv",
    ["Shipment", "Name", "AWB/BL", "Stage", "Status", "Whose move", "Opened (EAT)", "Last change (EAT)"],
    (last: ShipmentListItem | null) => listShipmentsAfter(supabase, filter, last),
    ({ id, name, awb, stage, status, waiting_on, created_at, changed_at }) => [
      id,
      name,
      awb ?? "",
      String(stage),
      status,
      waitingOnLabels[waiting_on],
      sortableTime(created_at),
      sortableTime(changed_at),
    ],
  );
});

export const middleware = [viewerMiddleware(() => queryViewer), ...table.middleware];
export const loader = table.loader;
export const action = noFormAction;

export default FormOnlyRoute;
