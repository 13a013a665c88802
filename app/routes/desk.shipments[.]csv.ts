import { csvStream } from "~/lib/csv.server";
import { requireColleague } from "~/lib/desk.server";
import { refusalOf, thrown } from "~/lib/refusal.server";
import { filterOf } from "~/models/desk";
import { ShipmentsPage } from "~/models/desk.server";
import type { Route } from "./+types/desk.shipments[.]csv";

const Rows = ShipmentsPage.pick({ shipments: true });

/** The shipments of the list's filter, all pages of it, 500 at a time. */
export async function loader({ context, url }: Route.LoaderArgs) {
  const { backend } = requireColleague(context);
  const { q, stage, turn } = filterOf(url);
  const filter = { ...(q && { q }), ...(stage && { stage }), ...(turn && { turn }) };
  return csvStream(
    "shipments.csv",
    ["Shipment", "Name", "Client", "E-mail", "AWB/BL", "Stage", "Status", "Whose move", "Opened", "Last change"],
    async (last: { changed_at: string; id: string } | null) => {
      const after = last ? { before: last.changed_at, before_id: last.id } : {};
      const { data, error, status } = await backend.rpc("desk_shipments_after", { ...filter, ...after }, { get: true });
      if (error) throw thrown(refusalOf({ ...error, status }));
      return Rows.parse(data).shipments;
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
}
