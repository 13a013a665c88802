import { requireStaff } from "~/lib/auth/staff.server";
import { createCsvDownload } from "~/lib/http/csv.server";
import { createFileRoute, noFormAction, respondWithDownload } from "~/lib/http/file-route.server";
import { toUserError, userErrorData } from "~/lib/http/user-error.server";
import { createLongReadClient } from "~/lib/supabase/client.server";
import { type DeskShipmentRow, DeskShipmentRows } from "~/models/desk.server";
import { deskWaitingOnLabels } from "~/models/desk-labels";
import { createShipmentColumns } from "~/models/shipment-fields.server";
import { readShipmentFilter } from "~/models/shipment-filter";

const columns = createShipmentColumns<DeskShipmentRow>(deskWaitingOnLabels, [
  ["Client", ({ client_name }) => client_name ?? ""],
  ["Email", ({ email }) => email],
]);

const table = createFileRoute(async ({ request, context, url }) => {
  const { id, supabase } = requireStaff(context);
  const backend = await createLongReadClient(supabase);
  const { q, stage, waiting, needsCheck, handler } = readShipmentFilter(url);
  const filter = {
    ...(q && { q }),
    ...(stage && { stage }),
    ...(waiting && { waiting_on: waiting }),
    ...(needsCheck && { to_check: true }),
    ...(handler && { handler }),
  };
  const loadRowsAfter = async (last: DeskShipmentRow | null) => {
    const after = last ? { before: last.created_at, before_id: last.id } : {};
    const { data, error, status } = await backend
      .rpc("desk_shipments_export", { ...filter, ...after }, { get: true })
      .retry(false);
    if (error) throw userErrorData(toUserError({ ...error, status }));
    return DeskShipmentRows.parse(data).shipments;
  };
  const response = await respondWithDownload({ request, context }, { account: id, group: "staff" }, () =>
    createCsvDownload("shipments.csv", columns, loadRowsAfter),
  );
  if ("reason" in response) throw userErrorData(response);
  return response;
});

export const middleware = table.middleware;
export const loader = table.loader;
export const action = noFormAction;

export { FormOnlyRoute as default } from "~/components/forms/form-only-route";
