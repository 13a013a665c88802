import { Link } from "react-router";
import { ListPager } from "~/components/desk/audit-log-card";
import { type Column, DeskTable, RelativeTime } from "~/components/desk/desk-table";
import { FilterBar, FilterSearch } from "~/components/desk/filter-bar";
import { getStaffPage } from "~/lib/auth/staff.server";
import { showTime } from "~/lib/dates";
import { ClientsPage } from "~/models/desk.server";
import { shipmentsPerPage } from "~/models/shipment";
import { readShipmentFilter } from "~/models/shipment-filter";
import type { Route } from "./+types/desk.clients._index";

export async function loader({ context, url }: Route.LoaderArgs) {
  const { clients } = await getStaffPage(context, ClientsPage);
  const { q, page } = readShipmentFilter(url);
  return {
    clients: clients.slice(0, shipmentsPerPage).map((client) => ({ ...client, since: showTime(client.created_at) })),
    hasMore: clients.length > shipmentsPerPage,
    ...{ q, page, search: url.search },
  };
}

export { noFormAction as action } from "~/lib/http/file-route.server";

const columns: Column[] = [
  { label: "Client", sort: "name", className: "w-[32%]" },
  { label: "Account", sort: "state", className: "w-[16%]" },
  { label: "Email", sort: "email" },
  { label: "Telephone", sort: "phone", className: "wide w-[14%]" },
  { label: "Since", sort: "created", className: "w-[12%]" },
];

export default function DeskClientsPage({ loaderData }: Route.ComponentProps) {
  const { clients, hasMore, q, page, search } = loaderData;
  return (
    <>
      <FilterBar title="Clients" search={search}>
        <FilterSearch label="Name, email, telephone number or complete Client ID" value={q} />
      </FilterBar>
      {clients.length === 0 && <p className="text-quiet">No clients found.</p>}
      {clients.length > 0 && (
        <DeskTable columns={columns} defaultSort="-created" label="Clients">
          {clients.map(({ id, name, email, phone, closed, confirmed, since }) => (
            <tr key={id}>
              <th scope="row">
                <Link data-row to={`/desk/clients/${id}`}>
                  {name || email}
                </Link>
              </th>
              <td className="end">{closed ? "Closed" : confirmed ? "Open" : "Email not confirmed"}</td>
              <td>{email}</td>
              <td className="wide">{phone}</td>
              <td className="end">
                <RelativeTime time={since} />
              </td>
            </tr>
          ))}
        </DeskTable>
      )}
      <ListPager path="/desk/clients" page={page} hasMore={hasMore} />
    </>
  );
}
