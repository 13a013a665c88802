import { useLocation } from "react-router";
import { TextLink } from "~/components/ui/button";
import { Card } from "~/components/ui/card";
import { waitingOnColours } from "~/components/ui/waiting-on-colours";
import { eastAfricaTime } from "~/lib/dates";
import type { AuditEntry } from "~/models/audit-log.server";
import { deskWaitingOnLabels } from "~/models/desk-labels";
import type { WaitingOn } from "~/models/shipment";

export function DeskWaitingOnLabel({ waitingOn }: { waitingOn: WaitingOn }) {
  return (
    <span className={`shrink-0 sm:whitespace-nowrap ${waitingOnColours[waitingOn]}`}>
      {deskWaitingOnLabels[waitingOn]}
    </span>
  );
}

/** The links keep the filter and order of the list. */
export function ListPager({ path, page, hasMore }: { path: string; page: number; hasMore: boolean }) {
  const { search } = useLocation();
  if (page === 1 && !hasMore) return null;
  const to = (page: number) => {
    const parameters = new URLSearchParams(search);
    parameters.delete("open");
    parameters.set("page", String(page));
    return `${path}?${parameters}`;
  };
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

type LabelledAuditEntry = Pick<AuditEntry, "at" | "by" | "change" | "reason"> & { what: string };

export function AuditLogCard({ entries, search }: { entries: LabelledAuditEntry[]; search: string }) {
  return (
    <Card title="Activity log">
      {entries.length === 0 && <p className="px-4 py-3 text-sm text-quiet">No activity yet.</p>}
      <ul className="ruled text-sm">
        {entries.map(({ at, by, what, change, reason }, index) => (
          <li key={`${at} ${index}`} className="px-4 py-2">
            <p className="flex flex-wrap items-center gap-x-3">
              <span className="font-semibold">{what} </span>
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
      <p className="border-t border-line px-4">
        <TextLink to={`/desk/log?${search}`} className="text-sm">
          Full activity log
        </TextLink>
      </p>
    </Card>
  );
}
