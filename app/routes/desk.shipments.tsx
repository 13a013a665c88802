import { randomUUID } from "node:crypto";
import { NavLink, Outlet, useMatch } from "react-router";
import { DeskWaitingOnLabel, ListPager } from "~/components/desk/audit-log-card";
import { TextLink } from "~/components/ui/button";
import { getStaffPage } from "~/lib/auth/staff.server";
import { dayInEastAfrica, shortDay, showTime } from "~/lib/dates";
import { type DeskShipmentRow, ShipmentsPage } from "~/models/desk.server";
import { createListSearch } from "~/models/desk-query.server";
import { formatSums, shipmentsPerPage } from "~/models/shipment";
import { joinNumbers } from "~/models/shipment-fields.server";
import { readShipmentFilter } from "~/models/shipment-filter";
import type { Route } from "./+types/desk.shipments";

export { revalidateAfterConflict as shouldRevalidate } from "~/lib/browser/revalidate";

/** The maximum number of rows in the list next to an open shipment. */
const nearbyRowCount = 11;

export async function loader({ context, url, params }: Route.LoaderArgs) {
  const { shipments, similar } = await getStaffPage(context, ShipmentsPage);
  const opened = (params as { shipmentId?: string }).shipmentId;
  const rows = shipments.slice(0, shipmentsPerPage);
  const openedIndex = rows.findIndex(({ id }) => id === opened);
  const first = Math.max(0, Math.min(openedIndex - 5, shipmentsPerPage - nearbyRowCount));
  const nearby = rows
    .slice(first, first + nearbyRowCount)
    .map(({ id, name, status, waiting_on: waitingOn }) => ({ id, name, status, waitingOn }));
  const filter = readShipmentFilter(url);
  return {
    shipments: opened ? [] : rows.map((shipment) => toListItem(shipment, filter.q)),
    nearby: opened ? nearby : [],
    hasMore: shipments.length > shipmentsPerPage,
    similar,
    filter,
    search: createListSearch(url),
    request: randomUUID(),
  };
}

export { noFormAction as action } from "~/lib/http/file-route.server";

function toListItem(shipment: DeskShipmentRow, search: string) {
  const { id, name, client_name: client, stage, status, waiting_on: waitingOn, version, arrival, due_on } = shipment;
  const today = dayInEastAfrica(new Date());
  const free = arrival?.free_storage_ends_on;
  return {
    ...{ id, name, client, stage, status, waitingOn, version },
    numbers: joinNumbers(shipment, search),
    documents: `${shipment.uploaded_count}/${shipment.document_count}`,
    due: shipment.due && formatSums(shipment.due).join(", "),
    isLate: due_on !== null && due_on < today,
    free: free && shortDay(free),
    isFreeOver: Boolean(free && free < today),
    changed: showTime(shipment.changed_at),
  };
}
export type DeskShipmentListItem = ReturnType<typeof toListItem>;

export default function DeskShipmentsLayout({ loaderData }: Route.ComponentProps) {
  const { nearby, hasMore, filter, search } = loaderData;
  const onList = useMatch("/desk/shipments") !== null;
  if (onList) return <Outlet context={loaderData} />;
  return (
    <div className="grid gap-8 lg:grid-cols-[18rem_1fr]">
      {/* In the HTML, the shipment comes first, because the shipment contains the h1. Wide screens show the shipment
          on the right. */}
      <div className="min-w-0 lg:order-last">
        <Outlet />
      </div>
      <section aria-labelledby="list-title" className="hidden lg:block print:hidden">
        <h2 id="list-title" className="mb-2 text-base font-semibold">
          <TextLink to={`/desk/shipments${search}`}>
            {filter.q || filter.stage || filter.waiting || filter.needsCheck || filter.handler
              ? "Search results"
              : "All shipments"}
          </TextLink>
        </h2>
        <ul className="ruled rounded-label border border-line bg-raised">
          {nearby.map((shipment) => (
            <li key={shipment.id}>
              <NavLink
                data-row
                to={`/desk/shipments/${shipment.id}${search}`}
                className="block border-l-4 border-transparent px-3 py-2 text-sm no-underline hover:border-line aria-[current=page]:border-action forced-colors:border-[Canvas] forced-colors:aria-[current=page]:border-[Highlight]"
              >
                <span className="block font-semibold wrap-anywhere">{shipment.name} </span>
                <span className="flex justify-between gap-3 text-quiet">
                  <span>{shipment.status} </span>
                  <DeskWaitingOnLabel waitingOn={shipment.waitingOn} />
                </span>
              </NavLink>
            </li>
          ))}
        </ul>
        <ListPager path="/desk/shipments" page={filter.page} hasMore={hasMore} />
      </section>
    </div>
  );
}
