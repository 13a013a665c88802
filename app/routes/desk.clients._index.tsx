import { Form, Link } from "react-router";
import { lookUp, Pager } from "~/components/desk/parts";
import { useRowKeys } from "~/components/desk/row-keys";
import { Field } from "~/components/field";
import { Title } from "~/components/title";
import { Button } from "~/components/ui/button";
import { eastAfricaTime } from "~/lib/dates";
import { deskPage } from "~/lib/desk.server";
import { noForm } from "~/lib/file-route.server";
import { filterOf, searchOf } from "~/models/desk";
import { ClientsPage } from "~/models/desk.server";
import { pageSize } from "~/models/shipment";
import type { Route } from "./+types/desk.clients._index";

export async function loader({ context, url }: Route.LoaderArgs) {
  const { clients } = await deskPage(context, ClientsPage);
  const { q, page } = filterOf(url);
  return { clients: clients.slice(0, pageSize), hasMore: clients.length > pageSize, q, page };
}

export const action = noForm;

export default function Clients({ loaderData }: Route.ComponentProps) {
  const { clients, hasMore, q, page } = loaderData;
  useRowKeys();
  return (
    <>
      <Title>Clients</Title>
      <h1 className="mb-4 text-xl">Clients</h1>
      <Form key={q} role="search" className="flex items-end gap-3">
        <div className="grow sm:max-w-md">
          <Field
            field={lookUp("q", q)}
            label="Find"
            hint="A name, an e-mail address or a whole Client ID"
            type="search"
            optional
            autoComplete="off"
            spellCheck={false}
          />
        </div>
        <Button className="mb-5">Find</Button>
      </Form>
      {clients.length === 0 && <p className="text-quiet">No client matches.</p>}
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
                      ? `since ${eastAfricaTime(client.created_at)}`
                      : "Not confirmed"}
                </span>
              </Link>
            </li>
          ))}
        </ul>
      )}
      <Pager page={page} hasMore={hasMore} to={(number) => `/desk/clients${searchOf({ q, page: number })}`} />
    </>
  );
}
