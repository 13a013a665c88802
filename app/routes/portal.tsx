import { data, Link, NavLink, Outlet, type useLoaderData, useMatch } from "react-router";
import { PortalErrorPage } from "~/components/portal/portal-error-page";
import { WaitingOnLabel } from "~/components/portal/route-line";
import { useSessionWatch } from "~/components/portal/session-watch";
import { ButtonLink } from "~/components/ui/button";
import { dialogLinkProps } from "~/components/ui/dialog";
import { PageToast } from "~/components/ui/toast";
import {
  getViewerOrError,
  isReminderShown,
  secondFactorReminderCookie,
  viewerMiddleware,
} from "~/lib/auth/viewer.server";
import { eastAfricaTime, shortTime } from "~/lib/dates";
import { createErrorToast } from "~/lib/forms/rejected-form.server";
import type { Toast } from "~/lib/http/toast";
import { createShipmentSearch, readShipmentFilter, type ShipmentFilter } from "~/models/desk";
import { sortDocuments } from "~/models/document";
import { shortId } from "~/models/shipment";
import { listShipments, type NextActions, prefetchPortalPage, type ShipmentListItem } from "~/models/shipment.server";
import { getNextAction, getNextActionButton } from "~/models/stage.server";
import type { Route } from "./+types/portal";

export const middleware: Route.MiddlewareFunction[] = [
  viewerMiddleware(
    ({ url, params }) =>
      (backend) =>
        prefetchPortalPage(backend, url, params.shipmentId),
  ),
];

export async function loader({ request, context, params, url }: Route.LoaderArgs) {
  const client = getViewerOrError(context);
  const opened = (params as { shipmentId?: string }).shipmentId;
  const listed = "reason" in client ? client : await listShipments(client, url, opened);
  const [who, person] = "reason" in client ? ["", ""] : [client.fullName || client.email, client.id];
  const filter = readShipmentFilter(url);
  if ("reason" in listed) {
    const toast = createErrorToast("Error fetching shipments", listed.reason);
    const nothing = {
      reminder: null,
      shipments: [],
      pages: createListState(filter, [], false),
      announcement: null,
      work: null,
    };
    return data({ who, person, toast, ...nothing }, { status: listed.status });
  }
  const isAbout2fa = url.pathname.startsWith("/portal/2fa");
  const isDue = !("reason" in client) && client.factors.length === 0 && !isReminderShown(request) && !isAbout2fa;
  const headers: HeadersInit = isDue ? { "Set-Cookie": secondFactorReminderCookie() } : {};
  const { shipments, hasNextPage: hasOlder, announcement, nextActions: work } = listed;
  return data(
    {
      who,
      person,
      toast: null,
      reminder: isDue ? secondFactorReminder : null,
      shipments: shipments.map(toListItem),
      pages: createListState(filter, shipments, hasOlder),
      announcement: announcement && { ...announcement, at: eastAfricaTime(announcement.started_at) },
      work: opened || !work ? null : createNextActionSummary(work),
    },
    { headers },
  );
}

/** Once per browser session, for accounts without a second factor. */
const secondFactorReminder: Toast = {
  title: "Enable 2-Factor Authentication",
  description: "For your security, please enable 2FA in your account settings.",
  variant: "default",
  action: { label: "Set it up", to: "/portal/2fa" },
  duration: 10_000,
};

/** What a row of the list says. */
function toListItem({ id, name, awb, status, waiting_on: turn, changed_at }: ShipmentListItem) {
  return { id, name, numbers: [shortId(id), awb].join(" "), status, turn, changed: shortTime(changed_at) };
}

/**
 * The filter of the list, and where its pages are; `search` keeps it beside an open shipment. `none` says why a list is
 * empty though there may be shipments.
 */
function createListState({ q, stage, waiting, page }: ShipmentFilter, { length }: unknown[], hasOlder: boolean) {
  const filter = { q, stage, waiting };
  const isEmpty =
    length === 0 && (page > 1 ? "There are no older shipments." : createShipmentSearch(filter) && noMatchText);
  return {
    ...filter,
    none: isEmpty || null,
    search: createShipmentSearch({ ...filter, page }),
    all: createShipmentSearch(filter),
    newer: page > 1 ? createShipmentSearch({ ...filter, page: page - 1 }) : null,
    older: hasOlder ? createShipmentSearch({ ...filter, page: page + 1 }) : null,
  };
}

const noMatchText = "No shipment matches.";

/** What waits for the client, in words, and where it is done. */
function createNextActionSummary({ waiting, ...counts }: NextActions) {
  const moves = waiting.map((waits) => {
    const one = { ...waits, documents: sortDocuments(waits.documents) };
    const { id, name } = one;
    return { id, name, text: getNextAction(one).text, to: `/portal/${id}${getNextActionButton(one)?.at ?? ""}` };
  });
  return { ...counts, moves };
}
type NextActionSummary = ReturnType<typeof createNextActionSummary>;

export default function PortalLayout({ loaderData }: Route.ComponentProps) {
  useSessionWatch(loaderData.person);
  const { who, person, toast, reminder, shipments, pages, announcement, work } = loaderData;
  const onList = useMatch("/portal") !== null;
  const head = <ShipmentListHeader key="head" onList={onList} isFound={pages.all !== ""} />;
  return (
    <div className="group">
      {reminder && (
        <div className="mb-8 empty:hidden">
          <PageToast toast={reminder} patient />
        </div>
      )}
      {toast && (
        <div className="mb-8 empty:hidden">
          <PageToast toast={toast} />
        </div>
      )}
      {announcement && (
        <p className="mb-8 border-l-4 border-attention pl-4 print:hidden">
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
                displayName: who,
                accountId: person,
                isEmpty: shipments.length === 0 && !pages.none && !toast,
                nextActions: work,
                listState: pages,
              } satisfies PortalOutletContext
            }
          />
        </div>
        {!onList && head}
        <section aria-labelledby="shipments-title" className={`lg:col-start-1 ${onList ? "" : sidePanelClass}`}>
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
const sidePanelClass = "hidden group-has-[dialog:modal]:block lg:block print:hidden";

/** The list's title, and what is not about one shipment. */
function ShipmentListHeader({ onList, isFound }: { onList: boolean; isFound: boolean }) {
  const Heading = onList ? "h1" : "h2";
  return (
    <div className={`-mb-6 lg:col-start-1 ${onList ? "" : sidePanelClass}`}>
      <div className="flex flex-wrap items-center justify-between gap-x-4 gap-y-2">
        <Heading id="shipments-title" className="text-lg">
          My Shipments
        </Heading>
        <ButtonLink look={onList ? "action" : "plain"} to="/portal/new" {...dialogLinkProps}>
          Create Shipment
        </ButtonLink>
      </div>
      <p className="flex gap-x-5 text-sm *:py-3 *:underline">
        <Link to="/portal/2fa" {...dialogLinkProps}>
          Manage 2FA
        </Link>{" "}
        <Link to="/portal/account">Account</Link>
        {isFound && <Link to="/portal">All shipments</Link>}
      </p>
    </div>
  );
}

/** What the pages inside the portal know of the person, `person` being the account's id, and of the list beside them. */
export type PortalOutletContext = {
  displayName: string;
  accountId: string;
  isEmpty: boolean;
  nextActions: NextActionSummary | null;
  listState: PortalLoaderData["pages"];
};

type PortalLoaderData = ReturnType<typeof useLoaderData<typeof loader>>;

function ShipmentRow({ shipment, search }: { shipment: PortalLoaderData["shipments"][number]; search: string }) {
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
          <WaitingOnLabel waitingOn={turn} /> <span className="font-mono wrap-anywhere">{numbers}</span>
        </span>
      </NavLink>
    </li>
  );
}

export function ErrorBoundary({ error }: Route.ErrorBoundaryProps) {
  return <PortalErrorPage error={error} />;
}
