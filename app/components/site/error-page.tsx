import { isRouteErrorResponse, useLocation } from "react-router";
import { isConnectionLost } from "~/lib/browser/connection";
import { ButtonLink } from "../ui/button";
import { PageHeading, Title } from "./title";

const explanations: Record<number, { title: string; text: string }> = {
  404: { title: "Page not found", text: "Check the web address. The page may have moved." },
  413: { title: "File or text too large", text: "Go back and send a smaller file or less text." },
  431: {
    title: "Too many cookies",
    text: "Delete this site's cookies in your browser's settings. Then open the page again.",
  },
  503: { title: "Site not available", text: "Try again in a minute." },
};

export function ErrorPage({ error }: { error: unknown }) {
  if (isConnectionLost(error)) return <ConnectionLostPage />;
  const response = isRouteErrorResponse(error) ? error : null;
  const status = response?.status ?? 500;
  const { title, text } =
    explanations[status] ??
    (status < 500
      ? {
          title: response?.data?.title ?? "We cannot process this request",
          text: String(response?.data?.reason ?? response?.data),
        }
      : { title: "Something went wrong", text: "Our system failed. Try again in a minute." });
  return (
    <>
      <Title>{title}</Title>
      {!response?.data?.title && <p className="text-sm font-semibold text-quiet">Error {status}</p>}
      <h1 className="text-xl">{title}</h1>
      <p className="mt-2 mb-6 max-w-prose">{text}</p>
      <ButtonLink to={response?.data?.to ?? "/"}>{response?.data?.name ?? "Go to the home page"}</ButtonLink>
    </>
  );
}

/** The link does not fully reload the page, so that the error page stays if the connection fails again. */
function ConnectionLostPage() {
  const { pathname, search, hash } = useLocation();
  return (
    <>
      <PageHeading title="The connection was lost" className="text-xl" />
      <p className="mt-2 mb-6 max-w-prose">This page could not load. Check your connection, then try again.</p>
      <ButtonLink look="action" to={pathname + search + hash} replace viewTransition={false}>
        Try again
      </ButtonLink>
    </>
  );
}
