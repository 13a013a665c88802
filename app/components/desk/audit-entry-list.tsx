import type { LabelledAuditEntry } from "~/actions/all-staff-actions.server";
import type { FormField } from "~/components/forms/form";
import { TextLink } from "~/components/ui/button";
import { Card } from "~/components/ui/card";
import { waitingOnColours } from "~/components/ui/waiting-on-colours";
import { eastAfricaTime } from "~/lib/dates";
import { deskWaitingOnLabels } from "~/models/desk-labels";
import type { WaitingOn } from "~/models/shipment";
import { createShipmentSearch, type ShipmentFilter } from "~/models/shipment-filter";

export function DeskWaitingOnLabel({ waitingOn }: { waitingOn: WaitingOn }) {
  return (
    <span className={`shrink-0 sm:whitespace-nowrap ${waitingOnColours[waitingOn]}`}>
      {deskWaitingOnLabels[waitingOn]}
    </span>
  );
}

export function createSearchField(name: string, value: string): FormField {
  return { id: `search-${name}`, name, value, errorId: "", resultCount: 0 };
}

export function Pager({ page, hasMore, to }: { page: number; hasMore: boolean; to: (page: number) => string }) {
  if (page === 1 && !hasMore) return null;
  return (
    <p className="mt-2 flex justify-between gap-4">
      {page > 1 && <TextLink to={to(page - 1)}>Previous page</TextLink>}
      {hasMore && (
        <TextLink to={to(page + 1)} className="ml-auto">
          Next page
        </TextLink>
      )}
    </p>
  );
}

export function FilterPager(props: { path: string; filter: Partial<ShipmentFilter>; hasMore: boolean }) {
  const { path, filter, hasMore } = props;
  const to = (page: number) => `${path}${createShipmentSearch({ ...filter, page })}`;
  return <Pager page={filter.page ?? 1} hasMore={hasMore} to={to} />;
}

export function AuditEntryList(props: { entries: LabelledAuditEntry[]; links?: boolean; isFiltered?: boolean }) {
  const { entries, links = false, isFiltered = false } = props;
  if (entries.length === 0) {
    const emptyText = isFiltered ? "No activity found." : "No activity yet.";
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

export function AuditLogCard({ entries, search }: { entries: LabelledAuditEntry[]; search: string }) {
  return (
    <Card title="Activity log">
      <AuditEntryList entries={entries} />
      <p className="border-t border-line px-4">
        <TextLink to={`/desk/log?${search}`} className="text-sm">
          Full activity log
        </TextLink>
      </p>
    </Card>
  );
}

function AuditEntrySubject({ on: { name, to } }: { on: NonNullable<LabelledAuditEntry["on"]> }) {
  if (!to) return <span className="wrap-anywhere">{name} </span>;
  return (
    <TextLink to={to} className="wrap-anywhere">
      {name}{" "}
    </TextLink>
  );
}
