/** What the pages of the desk share: whose move it is, pages of a list, and lines of the log. */
import { Link } from "react-router";
import type { FormField } from "~/components/form";
import { eastAfricaTime } from "~/lib/dates";
import { TURNS, type Turn } from "~/models/desk";
import type { ShownAct } from "~/models/desk.server";
import { shortId } from "~/models/shipment";

const colours: Record<Turn, string> = { client: "text-needs-you", company: "text-with-us", closed: "text-done" };

/** Whose move a shipment is, in its colour. */
export function TurnMark({ turn }: { turn: Turn }) {
  return <span className={colours[turn]}>{TURNS[turn]}</span>;
}

/** A field of a form that only looks something up: it shows what its address asks for, and is never refused. */
export function lookUp(name: string, value: string): FormField {
  return { id: `find-${name}`, name, value, errorId: "", answer: 0 };
}

/** Links to the page before and after; `to` makes the address of a page. */
export function Pager({ page, hasMore, to }: { page: number; hasMore: boolean; to: (page: number) => string }) {
  if (page === 1 && !hasMore) return null;
  return (
    <p className="mt-2 flex justify-between gap-4">
      {page > 1 && (
        <Link to={to(page - 1)} className="inline-flex min-h-11 items-center underline">
          Previous page
        </Link>
      )}
      {hasMore && (
        <Link to={to(page + 1)} className="ml-auto inline-flex min-h-11 items-center underline">
          Next page
        </Link>
      )}
    </p>
  );
}

/** Lines of the log, newest first. `links` says whether a line leads to its shipment or client. */
export function LogLines({ acts, links = false }: { acts: ShownAct[]; links?: boolean }) {
  if (acts.length === 0) return <p className="px-4 py-3 text-sm text-quiet">Nothing has been done yet.</p>;
  return (
    <ul className="ruled text-sm">
      {acts.map((act, index) => (
        <li key={`${act.at} ${index}`} className="px-4 py-2">
          <p className="flex flex-wrap gap-x-3">
            <span className="font-semibold">{act.act} </span>
            <span className="text-quiet tabular-nums">{eastAfricaTime(act.at)} </span>
            <span>{act.by} </span>
            {act.document && <span>{act.document} </span>}
            {links && act.shipment && (
              <Link to={`/desk/shipments/${act.shipment}`} className="font-mono underline">
                {shortId(act.shipment)}
              </Link>
            )}
            {links && act.account && act.act.startsWith("account") && (
              <Link to={`/desk/clients/${act.account}`} className="font-mono underline">
                {shortId(act.account)}
              </Link>
            )}
          </p>
          <p className="wrap-anywhere text-quiet">
            {[changeOf(act.before), changeOf(act.after)].filter(Boolean).join(" → ")}
            {act.reason && ` Reason: ${act.reason}`}
          </p>
        </li>
      ))}
    </ul>
  );
}

/** What the name of the act says already, or says nothing to a reader. */
const unsaid = new Set(["ids", "sha256", "file", "verified"]);

/** What an act found or left, such as "stage 4, location Mombasa". */
function changeOf(state: Record<string, unknown> | null): string {
  return Object.entries(state ?? {})
    .filter(([name, value]) => value !== null && !unsaid.has(name))
    .map(([name, value]) => `${name.replaceAll("_", " ")} ${typeof value === "object" ? JSON.stringify(value) : value}`)
    .join(", ");
}
