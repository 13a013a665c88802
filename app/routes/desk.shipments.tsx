import { randomUUID } from "node:crypto";
import { Link, NavLink, Outlet, useMatch } from "react-router";
import { Pager, TurnMark } from "~/components/desk/parts";
import { useRowKeys } from "~/components/desk/row-keys";
import { deskPage } from "~/lib/desk.server";
import { noForm } from "~/lib/file-route.server";
import { filterOf, searchOf } from "~/models/desk";
import { ShipmentsPage } from "~/models/desk.server";
import { pageSize } from "~/models/shipment";
import type { Route } from "./+types/desk.shipments";

export { afterConflict as shouldRevalidate } from "~/lib/revalidate";

/** Rows beside an open shipment: those around it. */
const beside = 11;

export async function loader({ context, url, params }: Route.LoaderArgs) {
  const { shipments } = await deskPage(context, ShipmentsPage);
  const opened = (params as { shipmentId?: string }).shipmentId;
  const rows = shipments.slice(0, pageSize);
  const at = rows.findIndex(({ id }) => id === opened);
  const first = Math.max(0, Math.min(at - 5, pageSize - beside));
  const around = rows.slice(first, first + beside).map(({ id, name, status, turn }) => ({ id, name, status, turn }));
  return {
    shipments: opened ? [] : rows,
    around: opened ? around : [],
    hasMore: shipments.length > pageSize,
    filter: filterOf(url),
    request: randomUUID(),
  };
}

export const action = noForm;

export default function DeskShipments({ loaderData }: Route.ComponentProps) {
  const { around, hasMore, filter } = loaderData;
  const onList = useMatch("/desk/shipments") !== null;
  useRowKeys();
  if (onList) return <Outlet context={loaderData} />;
  return (
    <div className="grid gap-8 lg:grid-cols-[18rem_1fr]">
      {/* First in reading order, for its h1; to the right of the list on wide screens. */}
      <div className="min-w-0 lg:order-last">
        <Outlet />
      </div>
      <section aria-labelledby="list-title" className="hidden lg:block print:hidden">
        <h2 id="list-title" className="mb-2 text-base font-semibold">
          <Link to={`/desk/shipments${searchOf(filter)}`} className="inline-flex min-h-11 items-center underline">
            {filter.q || filter.stage || filter.turn || filter.check ? "Found shipments" : "All shipments"}
          </Link>
        </h2>
        <ul className="ruled rounded-label border border-line bg-raised">
          {around.map((shipment) => (
            <li key={shipment.id}>
              <NavLink
                data-row
                to={`/desk/shipments/${shipment.id}${searchOf(filter)}`}
                className="block border-l-4 border-transparent px-3 py-2 text-sm no-underline hover:border-line aria-[current=page]:border-action forced-colors:border-[Canvas] forced-colors:aria-[current=page]:border-[Highlight]"
              >
                <span className="block font-semibold wrap-anywhere">{shipment.name} </span>
                <span className="flex justify-between gap-3 text-quiet">
                  <span>{shipment.status} </span>
                  <TurnMark turn={shipment.turn} />
                </span>
              </NavLink>
            </li>
          ))}
        </ul>
        <Pager page={filter.page} hasMore={hasMore} to={(page) => `/desk/shipments${searchOf({ ...filter, page })}`} />
      </section>
    </div>
  );
}
