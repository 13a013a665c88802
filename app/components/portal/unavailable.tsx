import { useMemo } from "react";
import { isRouteErrorResponse, useLocation } from "react-router";
import type { Toast } from "~/lib/flash";
import { ErrorPage } from "../error-page";
import { Flash } from "../flash";
import { Title } from "../title";
import { ButtonLink } from "../ui/button";

/** For a backend that does not answer: the toast of the catalogue, and a way to retry. Other errors get ErrorPage. */
export function PortalUnavailable({ error }: { error: unknown }) {
  const { pathname, search } = useLocation();
  // A new object for each error, so that it shows again.
  const toast = useMemo(() => ({ ...unavailable }), [error]);
  if (!isRouteErrorResponse(error) || error.status < 500) return <ErrorPage error={error} />;
  return (
    <>
      <Title>My Shipments</Title>
      <Flash toast={toast} />
      <h1 className="mb-4 text-xl">My Shipments</h1>
      <ButtonLink to={pathname + search} reloadDocument>
        Try again
      </ButtonLink>
    </>
  );
}

const unavailable: Toast = {
  title: "Error fetching shipments",
  description: "Our records do not answer at the moment. Nothing was changed. Try again in a minute.",
  variant: "destructive",
};
