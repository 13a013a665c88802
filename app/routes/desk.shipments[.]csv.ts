import { NoPage } from "~/components/no-page";
import { csvStream } from "~/lib/csv.server";
import { requireColleague } from "~/lib/desk.server";
import { fileRoute, noForm } from "~/lib/file-route.server";
import { refusalOf, thrown } from "~/lib/refusal.server";
import { forLongReads } from "~/lib/supabase.server";
import { filterOf } from "~/models/desk";
import { ShipmentRows } from "~/models/desk.server";

/** The shipments of the list's filter, all pages of it, 500 at a time. */
const table = fileRoute(async ({ context, url }) => {
  const backend = await forLongReads(requireColleague(context).backend);
  const { q, stage, turn, check } = filterOf(url);
  const filter = { ...(q && { q }), ...(stage && { stage }), ...(turn && { turn }), ...(check && { to_check: true }) };
  return csvStream(
    "shipments.csv",
    ["Shipment", "Name", "Client", "E-mail", "AWB/BL", "Stage", "Status", "Whose move", "Opened", "Last change"],
    async (last: { created_at: string; id: string } | null) => {
      const after = last ? { before: last.created_at, before_id: last.id } : {};
      const { data, error, status } = await backend
        .rpc("desk_shipments_after", { ...filter, ...after }, { get: true })
        .retry(false);
      if (error) throw thrown(refusalOf({ ...error, status }));
      return ShipmentRows.parse(data).shipments;
    },
    (one) => [
      one.id,
      one.name,
      one.client ?? "",
      one.email,
      one.awb ?? "",
      String(one.stage),
      one.status,
      one.turn,
      one.created_at,
      one.changed_at,
    ],
  );
});

export const middleware = table.middleware;
export const loader = table.loader;
export const action = noForm;

export default NoPage;
