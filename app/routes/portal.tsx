import { data, Link, NavLink, Outlet, useMatch } from "react-router";
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
import { hashAccountId } from "~/lib/http/cookies.server";
import type { Toast } from "~/lib/http/toast";
import { sortDocuments } from "~/models/document";
import {
  getNextAction,
  getNextActionButton,
  listShipments,
  type NextActions,
  prefetchPortalPage,
  type ShipmentListPage,
} from "~/models/portal.server";
import { shortId } from "~/models/shipment";
import { joinNumbers, type ShipmentRecord } from "~/models/shipment-fields.server";
import { createShipmentSearch, readShipmentFilter, type ShipmentFilter } from "~/models/shipment-filter";
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
  const shipmentId = (params as { shipmentId?: string }).shipmentId;
  const list = "reason" in client ? client : await listShipments(client, url, shipmentId);
  const [displayName, accountHash] =
    "reason" in client ? ["", ""] : [client.fullName || client.email, hashAccountId(client.id)];
  const filter = readShipmentFilter(url);
  const failure = "reason" in list ? list : null;
  const { shipments, hasNextPage, announcement, nextActions } = "reason" in list ? emptyList : list;
  const isAbout2fa = url.pathname.startsWith("/portal/2fa");
  const hasNoFactor = !failure && !("reason" in client) && client.factors.length === 0;
  const isReminderDue = hasNoFactor && !isReminderShown(request) && !isAbout2fa;
  const headers: HeadersInit = isReminderDue ? { "Set-Cookie": secondFactorReminderCookie() } : {};
  return data(
    {
      displayName,
      accountHash,
      toast: failure && createErrorToast("Error fetching shipments", failure.reason),
      reminder: isReminderDue ? secondFactorReminder : null,
      shipments: shipments.map((shipment) => toListItem(shipment, filter.q)),
      listState: createListState(filter, shipments, hasNextPage),
      announcement: announcement && { ...announcement, at: eastAfricaTime(announcement.started_at) },
      nextActions: shipmentId || !nextActions ? null : createNextActionSummary(nextActions),
    },
    { status: failure?.status ?? 200, headers },
  );
}

const emptyList: ShipmentListPage = { shipments: [], hasNextPage: false, announcement: null, nextActions: null };

const secondFactorReminder: Toast = {
  title: "Enable 2-Factor Authentication",
  description: "For your security, please enable 2FA in your account settings.",
  variant: "default",
  isInfo: true,
  action: { label: "Set up 2FA", to: "/portal/2fa" },
  duration: 10_000,
};

function toListItem(shipment: ShipmentRecord, search: string) {
  const { id, name, status, waiting_on: waitingOn, changed_at } = shipment;
  const numbers = `${shortId(id)} ${joinNumbers(shipment, search)}`;
  return { id, name, numbers, status, waitingOn, changed: shortTime(changed_at) };
}

/**
 * `emptyText` explains an empty search result or page. `search` is a query with the filter and the page number. `all`
 * is a query with only the filter.
 */
function createListState({ q, stage, waiting, page }: ShipmentFilter, { length }: unknown[], hasNextPage: boolean) {
  const filter = { q, stage, waiting };
  const emptyText =
    length === 0 && (page > 1 ? "There are no older shipments." : createShipmentSearch(filter) && noMatchText);
  return {
    ...filter,
    emptyText: emptyText || null,
    search: createShipmentSearch({ ...filter, page }),
    all: createShipmentSearch(filter),
    newer: page > 1 ? createShipmentSearch({ ...filter, page: page - 1 }) : null,
    older: hasNextPage ? createShipmentSearch({ ...filter, page: page + 1 }) : null,
  };
}

const noMatchText = "No shipment matches your search.";

function createNextActionSummary({ waiting, ...counts }: NextActions) {
  const items = waiting.map((summary) => {
    const shipment = { ...summary, documents: sortDocuments(summary.documents) };
    const { id, name } = shipment;
    const to = `/portal/${id}${getNextActionButton(shipment)?.at ?? ""}`;
    return { id, name, text: getNextAction(shipment).text, to };
  });
  return { ...counts, items };
}

export default function PortalLayout({ loaderData }: Route.ComponentProps) {
  const { toast, reminder, shipments, listState, announcement } = loaderData;
  useSessionWatch(loaderData.accountHash);
  const isListPage = useMatch("/portal") !== null;
  const shownToast = toast ?? reminder;
  const isEmpty = shipments.length === 0 && !listState.emptyText && !toast;
  const header = <ShipmentListHeader key="header" isListPage={isListPage} isFiltered={listState.all !== ""} />;
  return (
    <div className="group">
      {shownToast && (
        <div className="mb-8 empty:hidden">
          <PageToast key={shownToast.title} toast={shownToast} patient={!toast} />
        </div>
      )}
      {announcement && (
        <p className="mb-8 border-l-4 border-attention pl-4 print:hidden">
          {announcement.text} <span className="text-sm text-quiet">{announcement.at}</span>
        </p>
      )}
      <div className="grid gap-8 lg:grid-flow-row-dense lg:grid-cols-[23rem_1fr] lg:grid-rows-[auto_1fr]">
        {/* The header comes first only on the list page, because the h1 of other pages is in the outlet. */}
        {isListPage && header}
        <div className="lg:col-start-2 lg:row-span-2">
          <Outlet context={{ ...loaderData, isEmpty } satisfies PortalOutletContext} />
        </div>
        {!isListPage && header}
        <section aria-labelledby="shipments-title" className={`lg:col-start-1 ${isListPage ? "" : sidePanelClass}`}>
          {shipments.length > 0 && (
            <ul className="ruled rounded-label border border-line bg-raised">
              {shipments.map((shipment) => (
                <ShipmentRow key={shipment.id} shipment={shipment} search={listState.search} />
              ))}
            </ul>
          )}
          {listState.emptyText && <p className="text-quiet">{listState.emptyText}</p>}
          <p className="mt-2 flex justify-between gap-x-5 text-sm [&>a]:py-3 [&>a]:underline">
            {listState.newer !== null && <Link to={`/portal${listState.newer}`}>Newer shipments</Link>}
            {listState.older !== null && <Link to={`/portal${listState.older}`}>Older shipments</Link>}
          </p>
        </section>
      </div>
    </div>
  );
}

/** Except on the list page, phones show the list only behind a modal dialog. */
const sidePanelClass = "hidden group-has-[dialog:modal]:block lg:block print:hidden";

function ShipmentListHeader({ isListPage, isFiltered }: { isListPage: boolean; isFiltered: boolean }) {
  const Heading = isListPage ? "h1" : "h2";
  return (
    <div className={`-mb-6 lg:col-start-1 ${isListPage ? "" : sidePanelClass}`}>
      <div className="flex flex-wrap items-center justify-between gap-x-4 gap-y-2">
        <Heading id="shipments-title" className="text-lg">
          My Shipments
        </Heading>
        <ButtonLink look={isListPage ? "action" : "plain"} to="/portal/new" {...dialogLinkProps}>
          Create Shipment
        </ButtonLink>
      </div>
      <p className="flex gap-x-5 text-sm [&>a]:py-3 [&>a]:underline">
        <Link to="/portal/2fa" {...dialogLinkProps}>
          Manage 2FA
        </Link>{" "}
        <Link to="/portal/account">Account</Link>
        {isFiltered && <Link to="/portal">All shipments</Link>}
      </p>
    </div>
  );
}

type PortalData = Route.ComponentProps["loaderData"];

export type PortalOutletContext = Pick<PortalData, "displayName" | "accountHash" | "nextActions" | "listState"> & {
  isEmpty: boolean;
};

function ShipmentRow({ shipment, search }: { shipment: PortalData["shipments"][number]; search: string }) {
  const { id, name, numbers, status, waitingOn, changed } = shipment;
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
          <WaitingOnLabel waitingOn={waitingOn} /> <span className="font-mono wrap-anywhere">{numbers}</span>
        </span>
      </NavLink>
    </li>
  );
}

export function ErrorBoundary({ error }: Route.ErrorBoundaryProps) {
  return <PortalErrorPage error={error} />;
}
