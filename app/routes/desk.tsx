import { isRouteErrorResponse, Outlet, useLocation } from "react-router";
import { DeskFrame } from "~/components/desk/desk-frame";
import { useSessionWatch } from "~/components/portal/session-watch";
import { ErrorPage } from "~/components/site/error-page";
import { PageHeading } from "~/components/site/title";
import { ButtonLink } from "~/components/ui/button";
import { requireStaff, staffMiddleware } from "~/lib/auth/staff.server";
import { hashAccountId } from "~/lib/http/cookies.server";
import { getDeskPageQuery } from "~/models/desk-query.server";
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
    <DeskFrame name={name} role={role}>
      <Outlet />
    </DeskFrame>
  );
}

/** The error of a page at the desk is shown in the desk's frame. An error before the frame's data are loaded is not. */
export function ErrorBoundary({ error, loaderData }: Route.ErrorBoundaryProps) {
  const page = <DeskError error={error} />;
  return loaderData ? <DeskFrame {...loaderData}>{page}</DeskFrame> : page;
}

function DeskError({ error }: { error: unknown }) {
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
