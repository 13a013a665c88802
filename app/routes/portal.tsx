import { data, Link, NavLink, Outlet, type useLoaderData, useMatch } from "react-router";
import { opensOver } from "~/components/dialog";
import { Flash } from "~/components/flash";
import { Actor } from "~/components/portal/route-line";
import { useSessionWatch } from "~/components/portal/session-watch";
import { PortalUnavailable } from "~/components/portal/unavailable";
import { ButtonLink } from "~/components/ui/button";
import { failure } from "~/lib/answer.server";
import { eastAfricaTime, shortTime } from "~/lib/dates";
import type { Toast } from "~/lib/flash";
import { clientOrRefusal, portalMiddleware, rememberReminder, wasReminded } from "~/lib/session.server";
import { type Filter, filterOf, searchOf } from "~/models/desk";
import { inOrder } from "~/models/document";
import { shortId } from "~/models/shipment";
import { listShipments, openPage, type ShipmentInList, type Work } from "~/models/shipment.server";
import { moveOf, pressOf } from "~/models/stage.server";
import type { Route } from "./+types/portal";

export const middleware: Route.MiddlewareFunction[] = [
  portalMiddleware(
    ({ url, params }) =>
      (backend) =>
        openPage(backend, url, params.shipmentId),
  ),
];

export async function loader({ request, context, params, url }: Route.LoaderArgs) {
  const client = clientOrRefusal(context);
  const opened = (params as { shipmentId?: string }).shipmentId;
  const listed = "reason" in client ? client : await listShipments(client, url, opened);
  const [who, person] = "reason" in client ? ["", ""] : [client.fullName || client.email, client.id];
  const filter = filterOf(url);
  if ("reason" in listed) {
    const toast = failure("Error fetching shipments", listed.reason);
    const nothing = {
      reminder: null,
      shipments: [],
      pages: pagesOf(filter, [], false),
      announcement: null,
      work: null,
    };
    return data({ who, person, toast, ...nothing }, { status: listed.status });
  }
  const isAbout2fa = url.pathname.startsWith("/portal/2fa");
  const isDue = !("reason" in client) && client.factors.length === 0 && !wasReminded(request) && !isAbout2fa;
  const headers: HeadersInit = isDue ? { "Set-Cookie": rememberReminder() } : {};
  const { shipments, hasOlder, announcement, work } = listed;
  return data(
    {
      who,
      person,
      toast: null,
      reminder: isDue ? toSecondFactor : null,
      shipments: shipments.map(rowOf),
      pages: pagesOf(filter, shipments, hasOlder),
      announcement: announcement && { ...announcement, at: eastAfricaTime(announcement.begun_at) },
      work: opened || !work ? null : workOf(work),
    },
    { headers },
  );
}

/** Once per browser session, for accounts without a second factor. */
const toSecondFactor: Toast = {
  title: "Enable 2-Factor Authentication",
  description: "For your security, please enable 2FA in your account settings.",
  variant: "default",
  action: { label: "Set it up", to: "/portal/2fa" },
  duration: 10_000,
};

/** What a row of the list says. */
function rowOf({ id, name, awb, status, turn, changed_at }: ShipmentInList) {
  return { id, name, numbers: [shortId(id), awb].join(" "), status, turn, changed: shortTime(changed_at) };
}

/**
 * The filter of the list, and where its pages are; `search` keeps it beside an open shipment. `none` says why a list is
 * empty though there may be shipments.
 */
function pagesOf({ q, stage, turn, page }: Filter, { length }: unknown[], hasOlder: boolean) {
  const filter = { q, stage, turn };
  const isEmpty = length === 0 && (page > 1 ? "There are no older shipments." : searchOf(filter) && noneFound);
  return {
    ...filter,
    none: isEmpty || null,
    search: searchOf({ ...filter, page }),
    all: searchOf(filter),
    newer: page > 1 ? searchOf({ ...filter, page: page - 1 }) : null,
    older: hasOlder ? searchOf({ ...filter, page: page + 1 }) : null,
  };
}

const noneFound = "No shipment matches.";

/** What waits for the client, in words, and where it is done. */
function workOf({ waiting, ...counts }: Work) {
  const moves = waiting.map((waits) => {
    const one = { ...waits, documents: inOrder(waits.documents) };
    const { id, name } = one;
    return { id, name, text: moveOf(one).text, to: `/portal/${id}${pressOf(one)?.at ?? ""}` };
  });
  return { ...counts, moves };
}
type WorkList = ReturnType<typeof workOf>;

export default function Portal({ loaderData }: Route.ComponentProps) {
  useSessionWatch(loaderData.person);
  const { who, person, toast, reminder, shipments, pages, announcement, work } = loaderData;
  const onList = useMatch("/portal") !== null;
  const head = <Head key="head" onList={onList} isFound={pages.all !== ""} />;
  return (
    <div className="group">
      {reminder && (
        <div className="mb-8 empty:hidden">
          <Flash toast={reminder} patient />
        </div>
      )}
      {toast && (
        <div className="mb-8 empty:hidden">
          <Flash toast={toast} />
        </div>
      )}
      {announcement && (
        <p className="mb-8 border-l-4 border-needs-you pl-4 print:hidden">
          {announcement.text} <span className="text-sm text-quiet">{announcement.at}</span>
        </p>
      )}
      <div className="grid gap-8 lg:grid-flow-row-dense lg:grid-cols-[23rem_1fr] lg:grid-rows-[auto_1fr]">
        {/* What has the h1 comes first: the list's head beside the list alone, else the page. */}
        {onList && head}
        <div className="lg:col-start-2 lg:row-span-2">
          <Outlet
            context={
              {
                who,
                person,
                isEmpty: shipments.length === 0 && !pages.none && !toast,
                work,
                pages,
              } satisfies Overview
            }
          />
        </div>
        {!onList && head}
        <section aria-labelledby="shipments-title" className={`lg:col-start-1 ${onList ? "" : besidePage}`}>
          {shipments.length > 0 && (
            <ul className="ruled rounded-label border border-line bg-raised">
              {shipments.map((shipment) => (
                <ShipmentRow key={shipment.id} shipment={shipment} search={pages.search} />
              ))}
            </ul>
          )}
          {pages.none && <p className="text-quiet">{pages.none}</p>}
          <p className="mt-2 flex justify-between gap-x-5 text-sm *:py-3 *:underline">
            {pages.newer !== null && <Link to={`/portal${pages.newer}`}>Newer</Link>}
            {pages.older !== null && <Link to={`/portal${pages.older}`}>Older</Link>}
          </p>
        </section>
      </div>
    </div>
  );
}

/** On phones only the page in view, unless it is a dialog over the list. */
const besidePage = "hidden group-has-[dialog:modal]:block lg:block print:hidden";

/** The list's title, and what is not about one shipment. */
function Head({ onList, isFound }: { onList: boolean; isFound: boolean }) {
  const Heading = onList ? "h1" : "h2";
  return (
    <div className={`-mb-6 lg:col-start-1 ${onList ? "" : besidePage}`}>
      <div className="flex flex-wrap items-center justify-between gap-x-4 gap-y-2">
        <Heading id="shipments-title" className="text-lg">
          My Shipments
        </Heading>
        <ButtonLink look={onList ? "action" : "plain"} to="/portal/new" {...opensOver}>
          Create Shipment
        </ButtonLink>
      </div>
      <p className="flex gap-x-5 text-sm *:py-3 *:underline">
        <Link to="/portal/2fa" {...opensOver}>
          Manage 2FA
        </Link>{" "}
        <Link to="/portal/account">Account</Link>
        {isFound && <Link to="/portal">All shipments</Link>}
      </p>
    </div>
  );
}

/** What the pages inside the portal know of the person, `person` being the account's id, and of the list beside them. */
export type Overview = { who: string; person: string; isEmpty: boolean; work: WorkList | null; pages: Loaded["pages"] };

type Loaded = ReturnType<typeof useLoaderData<typeof loader>>;

function ShipmentRow({ shipment, search }: { shipment: Loaded["shipments"][number]; search: string }) {
  const { id, name, numbers, status, turn, changed } = shipment;
  return (
    <li>
      <NavLink
        to={`/portal/${id}${search}`}
        viewTransition
        className="block border-l-4 border-transparent px-4 py-3 no-underline hover:border-line aria-[current=page]:border-action forced-colors:border-[Canvas] forced-colors:aria-[current=page]:border-[Highlight]"
      >
        <span className="block font-semibold">{name} </span>
        <span className="flex flex-wrap justify-between gap-x-4 text-sm text-quiet">
          <span>{status} </span>
          <span className="tabular-nums">{changed} </span>
        </span>
        <span className="flex flex-wrap justify-between gap-x-4 text-sm text-quiet">
          <Actor who={turn} /> <span className="font-mono wrap-anywhere">{numbers}</span>
        </span>
      </NavLink>
    </li>
  );
}

export function ErrorBoundary({ error }: Route.ErrorBoundaryProps) {
  return <PortalUnavailable error={error} />;
}
