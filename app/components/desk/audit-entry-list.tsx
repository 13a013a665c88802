/** What the pages of the desk share: whose move it is, pages of a list, and lines of the log. */
import { Link } from "react-router";
import type { FormField } from "~/components/forms/form";
import { eastAfricaTime } from "~/lib/dates";
import type { AuditEntry } from "~/models/audit-log.server";
import { deskWaitingOnLabels, type WaitingOn } from "~/models/desk";

const waitingOnColours: Record<WaitingOn, string> = {
  client: "text-attention",
  company: "text-with-us",
  nobody: "text-done",
};

/** Whose move a shipment is, in its colour. */
export function DeskWaitingOnLabel({ waitingOn }: { waitingOn: WaitingOn }) {
  return (
    <span className={`shrink-0 sm:whitespace-nowrap ${waitingOnColours[waitingOn]}`}>
      {deskWaitingOnLabels[waitingOn]}
    </span>
  );
}

/** A field of a form that only looks something up: it shows what its address asks for, and is never refused. */
export function createSearchField(name: string, value: string): FormField {
  return { id: `search-${name}`, name, value, errorId: "", resultCount: 0 };
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

/**
 * Lines of the log, newest first; `links` says whether each names what it was done to, and `isFound` whether they are those
 * that somebody looked for.
 */
export function AuditEntryList(props: { acts: AuditEntry[]; links?: boolean; isFound?: boolean }) {
  const { acts, links = false, isFound = false } = props;
  const nothing = isFound ? "Nothing like that has been done." : "Nothing has been done yet.";
  if (acts.length === 0) return <p className="px-4 py-3 text-sm text-quiet">{nothing}</p>;
  return (
    <ul className="ruled text-sm">
      {acts.map(({ at, by, what, change, reason, on }, index) => (
        <li key={`${at} ${index}`} className="px-4 py-2">
          <p className="flex flex-wrap items-center gap-x-3">
            <span className="font-semibold">{what} </span>
            {links && on && <AuditEntrySubject on={on} />}
            <span>{by} </span>
            <span className="text-quiet tabular-nums">{eastAfricaTime(at)} </span>
          </p>
          {(change || reason) && (
            <p className="wrap-anywhere text-quiet">
              {change}
              {reason && ` Reason: ${reason}`}
            </p>
          )}
        </li>
      ))}
    </ul>
  );
}

function AuditEntrySubject({ on: { name, to } }: { on: NonNullable<AuditEntry["on"]> }) {
  if (!to) return <span className="wrap-anywhere">{name} </span>;
  return (
    <Link to={to} className="inline-flex min-h-11 items-center underline wrap-anywhere">
      {name}{" "}
    </Link>
  );
}
