import { isRouteErrorResponse, NavLink, Outlet, useLocation } from "react-router";
import { useSessionWatch } from "~/components/portal/session-watch";
import { ErrorPage } from "~/components/site/error-page";
import { PageHeading } from "~/components/site/title";
import { ButtonLink, TextLink } from "~/components/ui/button";
import { requireStaff, staffMiddleware } from "~/lib/auth/staff.server";
import { hashAccountId } from "~/lib/http/cookies.server";
import { getDeskPageQuery } from "~/models/desk.server";
import type { Route } from "./+types/desk";

export const middleware: Route.MiddlewareFunction[] = [
  staffMiddleware(({ url, params, pattern }) => getDeskPageQuery({ url, params, pattern })),
];

export function loader({ context }: Route.LoaderArgs) {
  const { id, staff } = requireStaff(context);
  return { accountHash: hashAccountId(id), ...staff };
}

export { noFormAction as action } from "~/lib/http/file-route.server";

export default function DeskLayout({ loaderData }: Route.ComponentProps) {
  const { accountHash, name, role } = loaderData;
  useSessionWatch(accountHash);
  return (
    <>
      <div className="-mt-4 mb-6 flex flex-wrap items-center justify-between gap-x-6 border-b border-line print:hidden">
        <nav aria-label="Desk">
          <ul className="flex flex-wrap">
            <DeskLink to="/desk">Today</DeskLink>
            <DeskLink to="/desk/shipments">Shipments</DeskLink>
            <DeskLink to="/desk/clients">Clients</DeskLink>
            <DeskLink to="/desk/invitations">Invitations</DeskLink>
            {role === "lead" && <DeskLink to="/desk/team">Team</DeskLink>}
            <DeskLink to="/desk/log">Activity log</DeskLink>
          </ul>
        </nav>
        <p className="text-sm text-quiet">
          {name}, {role}. <TextLink to="/desk/2fa">Manage 2FA</TextLink>
        </p>
      </div>
      <Outlet />
    </>
  );
}

function DeskLink({ to, children }: { to: string; children: string }) {
  return (
    <li>
      <NavLink
        to={to}
        end={to === "/desk"}
        className="flex min-h-11 items-center border-b-2 border-transparent px-3 forced-colors:border-[Canvas] forced-colors:aria-[current=page]:border-[Highlight] text-sm font-semibold no-underline hover:text-action aria-[current=page]:border-action"
      >
        {children}
      </NavLink>
    </li>
  );
}

export function ErrorBoundary({ error }: Route.ErrorBoundaryProps) {
  const { pathname, search } = useLocation();
  if (!isRouteErrorResponse(error) || !error.data?.reason) return <ErrorPage error={error} />;
  return (
    <>
      <PageHeading title="We cannot process this request" className="mb-2 text-xl" />
      <p className="mb-6">{String(error.data.reason)}</p>
      {error.status >= 500 ? (
        <ButtonLink to={pathname + search} reloadDocument>
          Try again
        </ButtonLink>
      ) : (
        <ButtonLink to="/desk">Go to the Today page</ButtonLink>
      )}
    </>
  );
}
