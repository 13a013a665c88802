import { NoPage } from "~/components/no-page";
import { csvStream } from "~/lib/csv.server";
import { sortableTime } from "~/lib/dates";
import { fileRoute, noForm } from "~/lib/file-route.server";
import { portalMiddleware, requireClient, whoAsks } from "~/lib/session.server";
import { forLongReads } from "~/lib/supabase.server";
import { filterOf } from "~/models/desk";
import { type ShipmentInList, shipmentsAfter } from "~/models/shipment.server";

const turns = { you: "Your move", us: "With us", done: "Closed" } as const;

/** The shipments of the list's filter, all pages of it, 500 at a time. Times are East Africa Time. */
const table = fileRoute(async ({ context, url }) => {
  const backend = await forLongReads(requireClient(context).backend);
  const filter = filterOf(url);
  return csvStream(
    "shipments.csv",
    ["Shipment", "Name", "AWB/BL", "Stage", "Status", "Whose move", "Opened (EAT)", "Last change (EAT)"],
    (last: ShipmentInList | null) => shipmentsAfter(backend, filter, last),
    ({ id, name, awb, stage, status, turn, created_at, changed_at }) => [
      id,
      name,
      awb ?? "",
      String(stage),
      status,
      turns[turn],
      sortableTime(created_at),
      sortableTime(changed_at),
    ],
  );
});

export const middleware = [portalMiddleware(() => whoAsks), ...table.middleware];
export const loader = table.loader;
export const action = noForm;

export default NoPage;
