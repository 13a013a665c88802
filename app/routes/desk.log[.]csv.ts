import { NoPage } from "~/components/no-page";
import { csvStream } from "~/lib/csv.server";
import { requireColleague } from "~/lib/desk.server";
import { fileRoute, noForm } from "~/lib/file-route.server";
import { refusalOf, thrown } from "~/lib/refusal.server";
import { forLongReads } from "~/lib/supabase.server";
import { type LogRow, LogRows, logFilterOf } from "~/models/act.server";

/** The acts of the log's filter, all pages of it, 500 at a time. */
const table = fileRoute(async ({ context, url }) => {
  const backend = await forLongReads(requireColleague(context).backend);
  const { page: _, ...asked } = logFilterOf(url);
  const filter = Object.fromEntries(Object.entries(asked).filter(([, value]) => value !== undefined));
  const json = (state: LogRow["before"]) => (state ? JSON.stringify(state) : "");
  return csvStream(
    "log.csv",
    ["At", "Who", "What", "Shipment", "Document", "Account", "Before", "After", "Reason"],
    async (last: LogRow | null) => {
      const after = last ? { before: last.at, before_id: last.id } : {};
      const { data, error, status } = await backend
        .rpc("desk_log", { ...filter, ...after, page: 0 }, { get: true })
        .retry(false);
      if (error) throw thrown(refusalOf({ ...error, status }));
      return LogRows.parse(data).acts;
    },
    (act) => [
      act.at,
      act.by,
      act.act,
      act.shipment ?? "",
      act.document ?? "",
      act.account ?? "",
      json(act.before),
      json(act.after),
      act.reason ?? "",
    ],
  );
});

export const middleware = table.middleware;
export const loader = table.loader;
export const action = noForm;

export default NoPage;
