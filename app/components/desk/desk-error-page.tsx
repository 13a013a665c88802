import { isRouteErrorResponse, useLocation } from "react-router";
import { ErrorPage } from "../site/error-page";
import { Title } from "../site/title";
import { ButtonLink } from "../ui/button";

export function DeskErrorPage({ error }: { error: unknown }) {
  const { pathname, search } = useLocation();
  if (!isRouteErrorResponse(error) || !error.data?.reason) return <ErrorPage error={error} />;
  return (
    <>
      <Title>We cannot process this request</Title>
      <h1 className="mb-2 text-xl">We cannot process this request</h1>
      <p className="mb-6">{String(error.data.reason)}</p>
      {error.status >= 500 ? (
        <ButtonLink to={pathname + search} reloadDocument>
          Try again
        </ButtonLink>
      ) : (
        <ButtonLink to="/desk">Go to Today</ButtonLink>
      )}
    </>
  );
}
