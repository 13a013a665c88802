import { isRouteErrorResponse, useLocation } from "react-router";
import { isConnectionLost } from "~/lib/browser/connection";
import { ButtonLink } from "../ui/button";
import { Title } from "./title";

const explanations: Record<number, { title: string; text: string }> = {
  403: {
    title: "This form came from somewhere else",
    text: "Open the page on this site and send the form from there.",
  },
  404: { title: "There is no page here", text: "The address may be mistyped, or the page has moved." },
  413: { title: "That is too much at once", text: "Go back and send less text or a smaller file." },
  503: { title: "Not available at the moment", text: "Nothing is lost. Try again in a minute." },
};

export function ErrorPage({ error }: { error: unknown }) {
  if (isConnectionLost(error)) return <ConnectionLostPage />;
  const response = isRouteErrorResponse(error) ? error : null;
  const status = response?.status ?? 500;
  const { title, text } =
    explanations[status] ??
    (status < 500
      ? { title: "This request cannot be answered", text: String(response?.data?.reason ?? response?.data) }
      : { title: "Something went wrong", text: "It is our fault, not yours. Try again in a minute." });
  return (
    <>
      <Title>{title}</Title>
      <p className="text-sm font-semibold text-quiet">Error {status}</p>
      <h1 className="text-xl">{title}</h1>
      <p className="mt-2 mb-6 max-w-prose">{text}</p>
      <ButtonLink to={response?.data?.to ?? "/"}>{response?.data?.name ?? "Go to the home page"}</ButtonLink>
    </>
  );
}

/** The link navigates without a reload, so that this page stays if the connection fails again. */
function ConnectionLostPage() {
  const { pathname, search, hash } = useLocation();
  return (
    <>
      <Title>The connection was lost</Title>
      <h1 className="text-xl">The connection was lost</h1>
      <p className="mt-2 mb-6 max-w-prose">No answer came for this page. It may come at the next try.</p>
      <ButtonLink look="action" to={pathname + search + hash} replace viewTransition={false}>
        Try again
      </ButtonLink>
    </>
  );
}
