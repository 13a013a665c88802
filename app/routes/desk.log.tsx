import { Link } from "react-router";
import { AUDIT_LABELS, labelAuditEntry } from "~/actions/all-staff-actions.server";
import { ListPager } from "~/components/desk/audit-log-card";
import { type Column, DeskTable, RelativeTime } from "~/components/desk/desk-table";
import { FilterBar, FilterCheckbox, FilterDay, FilterSearch, FilterSelect } from "~/components/desk/filter-bar";
import { getStaffPage } from "~/lib/auth/staff.server";
import { showTime } from "~/lib/dates";
import { AuditLogPage, readAuditLogFilter } from "~/models/audit-log.server";
import type { Route } from "./+types/desk.log";

const pageSize = 50;

export async function loader({ context, url }: Route.LoaderArgs) {
  const { audit_entries } = await getStaffPage(context, AuditLogPage);
  const actionOptions = Object.entries(AUDIT_LABELS).sort(([, first], [, second]) => first.localeCompare(second));
  return {
    entries: audit_entries
      .slice(0, pageSize)
      .map(({ at, ...entry }) => ({ ...labelAuditEntry(entry), time: showTime(at) })),
    hasMore: audit_entries.length > pageSize,
    filter: readAuditLogFilter(url),
    actionOptions,
    search: url.search,
  };
}

export { noFormAction as action } from "~/lib/http/file-route.server";

const columns: Column[] = [
  { label: "Time", sort: "time", className: "w-[8%]" },
  { label: "Action", sort: "what", className: "w-[22%]" },
  { label: "Shipment or account", className: "w-[20%]" },
  { label: "Done by", sort: "who", className: "w-[12%]" },
  { label: "Details" },
];

export default function ActivityLogPage({ loaderData }: Route.ComponentProps) {
  const { entries, hasMore, actionOptions, filter, search } = loaderData;
  const { page, who, what, shipment, day, account, opened } = filter;
  const isFiltered = page > 1 || [who, what, shipment, day, account, opened].some(Boolean);
  return (
    <>
      <FilterBar title="Activity log" search={search}>
        <FilterSearch name="who" label="Done by" value={who ?? ""} />
        <FilterSelect name="what" label="Action" value={what ?? ""} options={actionOptions} prompt="All actions" />
        <FilterSearch name="shipment" label="Shipment number, or its first characters" value={shipment ?? ""} />
        <FilterDay name="day" label="Day" value={day ?? ""} />
        <FilterCheckbox name="opened" value="hide" label="Hide opened documents" isChecked={Boolean(opened)} />
        {account && <input type="hidden" name="account" value={account} />}
      </FilterBar>
      {entries.length === 0 && <p className="text-quiet">{isFiltered ? "No activity found." : "No activity yet."}</p>}
      {entries.length > 0 && (
        <DeskTable columns={columns} defaultSort="-time" label="Activity log">
          {entries.map(({ time, by, what, change, reason, on }, index) => (
            <tr key={`${time.full} ${index}`}>
              <td>
                <RelativeTime time={time} />
              </td>
              <th scope="row">{what}</th>
              <td>{on?.to ? <LogLink to={on.to}>{on.name}</LogLink> : on?.name}</td>
              <td className="end">{by}</td>
              <td className="details">{[change, reason && `Reason: ${reason}`].filter(Boolean).join(" ")}</td>
            </tr>
          ))}
        </DeskTable>
      )}
      <ListPager path="/desk/log" page={page} hasMore={hasMore} />
      <p>
        <a href={`/desk/log.csv${search}`} className="inline-flex min-h-11 items-center text-sm underline">
          Download as CSV
        </a>
      </p>
    </>
  );
}

function LogLink({ to, children }: { to: string; children: string }) {
  return (
    <Link data-row to={to} className="underline">
      {children}
    </Link>
  );
}
