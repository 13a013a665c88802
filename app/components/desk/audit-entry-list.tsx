import { Link } from "react-router";
import type { LabelledAuditEntry } from "~/actions/all-staff-actions.server";
import type { FormField } from "~/components/forms/form";
import { eastAfricaTime } from "~/lib/dates";
import { deskWaitingOnLabels } from "~/models/desk-labels";
import type { WaitingOn } from "~/models/shipment";

const waitingOnColours: Record<WaitingOn, string> = {
  client: "text-attention",
  company: "text-with-us",
  nobody: "text-done",
};

export function DeskWaitingOnLabel({ waitingOn }: { waitingOn: WaitingOn }) {
  return (
    <span className={`shrink-0 sm:whitespace-nowrap ${waitingOnColours[waitingOn]}`}>
      {deskWaitingOnLabels[waitingOn]}
    </span>
  );
}

/** Returns a field for a search form. Its value comes from the URL, so it never has errors. */
export function createSearchField(name: string, value: string): FormField {
  return { id: `search-${name}`, name, value, errorId: "", resultCount: 0 };
}

/** Links to the previous and the next page. `to` returns the URL of a page. */
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

/** `links` adds a link to each entry's subject. `isFound` selects the text for an empty search. */
export function AuditEntryList(props: { entries: LabelledAuditEntry[]; links?: boolean; isFound?: boolean }) {
  const { entries, links = false, isFound = false } = props;
  if (entries.length === 0) {
    const emptyText = isFound ? "Nothing like that has been done." : "Nothing has been done yet.";
    return <p className="px-4 py-3 text-sm text-quiet">{emptyText}</p>;
  }
  return (
    <ul className="ruled text-sm">
      {entries.map(({ at, by, what, change, reason, on }, index) => (
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

function AuditEntrySubject({ on: { name, to } }: { on: NonNullable<LabelledAuditEntry["on"]> }) {
  if (!to) return <span className="wrap-anywhere">{name} </span>;
  return (
    <Link to={to} className="inline-flex min-h-11 items-center underline wrap-anywhere">
      {name}{" "}
    </Link>
  );
}
