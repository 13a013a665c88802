import { csvStream } from "~/lib/csv.server";
import { requireColleague } from "~/lib/desk.server";
import { refusalOf, thrown } from "~/lib/refusal.server";
import { LogPage, logFilterOf, type ShownAct } from "~/models/desk.server";
import type { Route } from "./+types/desk.log[.]csv";

/** The acts of the log's filter, all pages of it, 500 at a time. */
export async function loader({ context, url }: Route.LoaderArgs) {
  const { backend } = requireColleague(context);
  const { page: _, ...asked } = logFilterOf(url);
  const filter = Object.fromEntries(Object.entries(asked).filter(([, value]) => value !== undefined));
  const json = (state: ShownAct["before"]) => (state ? JSON.stringify(state) : "");
  return csvStream(
    "log.csv",
    ["At", "Who", "What", "Shipment", "Document", "Account", "Before", "After", "Reason"],
    async (last: ShownAct | null) => {
      const after = last ? { before: last.at, before_id: last.id } : {};
      const { data, error, status } = await backend.rpc("desk_log", { ...filter, ...after, page: 0 }, { get: true });
      if (error) throw thrown(refusalOf({ ...error, status }));
      return LogPage.parse(data).acts;
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
}
