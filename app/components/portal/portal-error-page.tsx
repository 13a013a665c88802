import { useMemo } from "react";
import { isRouteErrorResponse, useLocation } from "react-router";
import { somethingWentWrong, type Toast } from "~/lib/http/toast";
import { ErrorPage } from "../site/error-page";
import { Title } from "../site/title";
import { ButtonLink } from "../ui/button";
import { PageToast } from "../ui/toast";

export function PortalErrorPage({ error }: { error: unknown }) {
  const { pathname, search } = useLocation();
  // Each error needs a new toast object, because each toast object is shown only once.
  const toast = useMemo(
    (): Toast => ({
      title: "Error fetching shipments",
      description: (error as { data?: { reason?: string } }).data?.reason ?? somethingWentWrong,
      variant: "destructive",
    }),
    [error],
  );
  if (!isRouteErrorResponse(error) || error.status < 500) return <ErrorPage error={error} />;
  return (
    <>
      <Title>My Shipments</Title>
      <PageToast toast={toast} />
      <h1 className="mb-4 text-xl">My Shipments</h1>
      <ButtonLink to={pathname + search} reloadDocument>
        Try again
      </ButtonLink>
    </>
  );
}
