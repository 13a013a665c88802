import { Form, Link } from "react-router";
import { createSearchField, FilterPager } from "~/components/desk/audit-entry-list";
import { useRowKeys } from "~/components/desk/row-keys";
import { Field } from "~/components/forms/field";
import { PageHeading } from "~/components/site/title";
import { Button } from "~/components/ui/button";
import { getStaffPage } from "~/lib/auth/staff.server";
import { eastAfricaTime } from "~/lib/dates";
import { ClientsPage } from "~/models/desk.server";
import { shipmentsPerPage } from "~/models/shipment";
import { readShipmentFilter } from "~/models/shipment-filter";
import type { Route } from "./+types/desk.clients._index";

export async function loader({ context, url }: Route.LoaderArgs) {
  const { clients } = await getStaffPage(context, ClientsPage);
  const { q, page } = readShipmentFilter(url);
  return { clients: clients.slice(0, shipmentsPerPage), hasMore: clients.length > shipmentsPerPage, q, page };
}

export { noFormAction as action } from "~/lib/http/file-route.server";

export default function DeskClientsPage({ loaderData }: Route.ComponentProps) {
  const { clients, hasMore, q, page } = loaderData;
  useRowKeys();
  return (
    <>
      <PageHeading title="Clients" className="mb-4 text-xl" />
      <Form key={q} role="search" className="flex items-end gap-3">
        <div className="grow sm:max-w-md">
          <Field
            field={createSearchField("q", q)}
            label="Find a client"
            hint="Name, email or complete Client ID"
            type="search"
            optional
            autoComplete="off"
            spellCheck={false}
          />
        </div>
        <Button className="mb-5">Find</Button>
      </Form>
      {clients.length === 0 && <p className="text-quiet">No clients found.</p>}
      {clients.length > 0 && (
        <ul className="ruled rounded-label border border-line bg-raised">
          {clients.map((client) => (
            <li key={client.id}>
              <Link
                data-row
                to={`/desk/clients/${client.id}`}
                className="grid gap-x-4 px-4 py-2 no-underline hover:text-action sm:grid-cols-[1fr_1fr_auto]"
              >
                <span className="font-semibold wrap-anywhere">{client.name || client.email} </span>
                <span className="text-sm wrap-anywhere text-quiet">{client.email} </span>
                <span className="text-sm text-quiet">
                  {client.closed
                    ? "Closed"
                    : client.confirmed
                      ? `Client since ${eastAfricaTime(client.created_at)}`
                      : "Email not confirmed"}
                </span>
              </Link>
            </li>
          ))}
        </ul>
      )}
      <FilterPager path="/desk/clients" filter={{ q, page }} hasMore={hasMore} />
    </>
  );
}
