import { data, Link, NavLink, Outlet, useMatch } from "react-router";
import { opensOver } from "~/components/dialog";
import { Flash } from "~/components/flash";
import { Actor } from "~/components/portal/route-line";
import { useSessionWatch } from "~/components/portal/session-watch";
import { PortalUnavailable } from "~/components/portal/unavailable";
import { ButtonLink } from "~/components/ui/button";
import { failure } from "~/lib/answer.server";
import { eastAfricaTime } from "~/lib/dates";
import type { Toast } from "~/lib/flash";
import { clientOrRefusal, portalMiddleware, rememberReminder, wasReminded } from "~/lib/session.server";
import { pageAsked, shortId } from "~/models/shipment";
import { listShipments, openPage, type ShipmentInList, type Work } from "~/models/shipment.server";
import { moveOf } from "~/models/stage.server";
import type { Route } from "./+types/portal";

export const middleware: Route.MiddlewareFunction[] = [
  portalMiddleware(
    ({ url, params }) =>
      (backend) =>
        openPage(backend, pageAsked(url), params.shipmentId),
  ),
];

export async function loader({ request, context, params, url }: Route.LoaderArgs) {
  const client = clientOrRefusal(context);
  const opened = (params as { shipmentId?: string }).shipmentId;
  const listed = "reason" in client ? client : await listShipments(client, pageAsked(url), opened);
  const list = "reason" in listed ? listed : { ...listed, work: opened || !listed.work ? null : workOf(listed.work) };
  const [who, person] = "reason" in client ? ["", ""] : [client.fullName || client.email, client.id];
  if ("reason" in list) {
    const toast = failure("Error fetching shipments", list.reason);
    return data(
      { who, person, toast, remind: false, shipments: [], page: 1, hasOlder: false, announcement: null, work: null },
      { status: list.status },
    );
  }
  const isAbout2fa = url.pathname.startsWith("/portal/2fa");
  const remind = !("reason" in client) && client.factors.length === 0 && !wasReminded(request) && !isAbout2fa;
  const headers: HeadersInit = remind ? { "Set-Cookie": rememberReminder() } : {};
  return data({ who, person, toast: null, remind, ...list }, { headers });
}

/** What waits for the client, in words. */
function workOf({ waiting, ...counts }: Work) {
  const moves = waiting.map((one) => ({ id: one.id, name: one.name, text: moveOf(one).text }));
  return { ...counts, moves };
}
type WorkList = ReturnType<typeof workOf>;

export default function Portal({ loaderData }: Route.ComponentProps) {
  useSessionWatch(loaderData.person);
  const { who, person, toast, remind, shipments, page, hasOlder, announcement, work } = loaderData;
  const onList = useMatch("/portal") !== null;
  return (
    <div className="group grid gap-8 lg:grid-cols-[22rem_1fr]">
      {remind && (
        <div className="empty:hidden lg:col-span-2">
          <Flash toast={reminder} patient />
        </div>
      )}
      {toast && (
        <div className="empty:hidden lg:col-span-2">
          <Flash toast={toast} />
        </div>
      )}
      {announcement && (
        <p className="border-l-4 border-needs-you pl-4 lg:col-span-2 print:hidden">
          {announcement.text} <span className="text-sm text-quiet">{eastAfricaTime(announcement.begun_at)}</span>
        </p>
      )}
      {/* First in reading order, for its h1; to the right of the list on wide screens. */}
      <div className="lg:order-last">
        <Outlet
          context={{ who, person, isEmpty: shipments.length === 0 && page === 1 && !toast, work } satisfies Overview}
        />
      </div>
      <section
        aria-labelledby="shipments-title"
        className={onList ? "" : "hidden group-has-[dialog:modal]:block lg:block print:hidden"}
      >
        <div className="mb-4 flex flex-wrap items-center justify-between gap-x-4 gap-y-2">
          {onList ? (
            <h1 id="shipments-title" className="text-lg">
              My Shipments
            </h1>
          ) : (
            <h2 id="shipments-title" className="text-lg">
              My Shipments
            </h2>
          )}
          <ButtonLink look={onList ? "action" : "plain"} to="/portal/new" {...opensOver}>
            Create Shipment
          </ButtonLink>
        </div>
        <p className="-mt-2 mb-2">
          <Link to="/portal/2fa" {...opensOver} className="inline-flex min-h-11 items-center text-sm underline">
            Manage 2FA
          </Link>
        </p>
        {shipments.length > 0 && (
          <ul className="ruled rounded-label border border-line bg-raised">
            {shipments.map((shipment) => (
              <ShipmentRow key={shipment.id} shipment={shipment} page={page} />
            ))}
          </ul>
        )}
        {shipments.length === 0 && page > 1 && <p className="text-quiet">There are no older shipments.</p>}
        <p className="mt-2 flex justify-between gap-4">
          {page > 1 && <PageLink to={page - 1}>Newer</PageLink>}
          {hasOlder && <PageLink to={page + 1}>Older</PageLink>}
        </p>
      </section>
    </div>
  );
}

/** Once per browser session, for accounts without a second factor. */
const reminder: Toast = {
  title: "Enable 2-Factor Authentication",
  description: "For your security, please enable 2FA in your account settings.",
  variant: "default",
  action: { label: "Set it up", to: "/portal/2fa" },
  duration: 10_000,
};

/** What the pages inside the portal know of the person, `person` being the account's id, and of the list beside them. */
export type Overview = { who: string; person: string; isEmpty: boolean; work: WorkList | null };

function ShipmentRow({ shipment, page }: { shipment: ShipmentInList; page: number }) {
  return (
    <li>
      <NavLink
        to={`/portal/${shipment.id}${page > 1 ? `?page=${page}` : ""}`}
        viewTransition
        className="block border-l-4 border-transparent px-4 py-3 no-underline hover:border-line aria-[current=page]:border-action forced-colors:border-[Canvas] forced-colors:aria-[current=page]:border-[Highlight]"
      >
        <span className="block font-semibold">{shipment.name} </span>
        <span className="flex flex-wrap justify-between gap-x-4 text-sm text-quiet">
          <span className="font-mono wrap-anywhere">
            {shortId(shipment.id)} {shipment.awb}{" "}
          </span>
          <span>{shipment.status} </span>
        </span>
        <span className="flex flex-wrap justify-between gap-x-4 text-sm text-quiet">
          <Actor who={shipment.turn} /> <span className="tabular-nums">{eastAfricaTime(shipment.changed_at)}</span>
        </span>
      </NavLink>
    </li>
  );
}

function PageLink({ to, children }: { to: number; children: string }) {
  return (
    <Link to={to > 1 ? `/portal?page=${to}` : "/portal"} className="inline-flex min-h-11 items-center underline">
      {children}
    </Link>
  );
}

export function ErrorBoundary({ error }: Route.ErrorBoundaryProps) {
  return <PortalUnavailable error={error} />;
}
