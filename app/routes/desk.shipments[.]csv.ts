import { FormOnlyRoute } from "~/components/forms/form-only-route";
import { requireStaff } from "~/lib/auth/staff.server";
import { createCsvResponse } from "~/lib/http/csv.server";
import { createFileRoute, noFormAction } from "~/lib/http/file-route.server";
import { toUserError, userErrorData } from "~/lib/http/user-error.server";
import { createLongReadClient } from "~/lib/supabase/client.server";
import { readShipmentFilter } from "~/models/desk";
import { DeskShipmentRows } from "~/models/desk.server";

/** All pages of the filter, 500 shipments at a time. */
const table = createFileRoute(async ({ context, url }) => {
  const backend = await createLongReadClient(requireStaff(context).supabase);
  const { q, stage, waiting: turn, needsCheck: check } = readShipmentFilter(url);
  const filter = {
    ...(q && { q }),
    ...(stage && { stage }),
    ...(turn && { waiting_on: turn }),
    ...(check && { to_check: true }),
  };
  return createCsvResponse(
    "shipments.csv",
    ["Shipment", "Name", "Client", "E-mail", "AWB/BL", "Stage", "Status", "Whose move", "Opened", "Last change"],
    async (last: { created_at: string; id: string } | null) => {
      const after = last ? { before: last.created_at, before_id: last.id } : {};
      const { data, error, status } = await backend
        .rpc("desk_shipments_export", { ...filter, ...after }, { get: true })
        .retry(false);
      if (error) throw userErrorData(toUserError({ ...error, status }));
      return DeskShipmentRows.parse(data).shipments;
    },
    (one) => [
      one.id,
      one.name,
      one.client_name ?? "",
      one.email,
      one.awb ?? "",
      String(one.stage),
      one.status,
      one.waiting_on,
      one.created_at,
      one.changed_at,
    ],
  );
});

export const middleware = table.middleware;
export const loader = table.loader;
export const action = noFormAction;

export default FormOnlyRoute;
