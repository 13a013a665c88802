import { data } from "react-router";
import { getViewer } from "~/lib/auth/viewer.server";
import { areaNotFound } from "~/lib/http/user-error.server";
import type { Route } from "./+types/$";

/** This route throws a 404 for unknown URLs, so that the error page has the site's header and footer. */
export async function loader({ request, context, url }: Route.LoaderArgs) {
  const [, area] = url.pathname.split("/");
  const person = area === "portal" || area === "desk" ? await getViewer(request, context) : null;
  if (person && "staff" in person && person.staff) throw areaNotFound("desk");
  // Below /desk, clients get the general 404, so that the response does not reveal the desk.
  if (person && !("reason" in person) && area === "portal") throw areaNotFound("portal");
  throw data("Not found", { status: 404 });
}

export const action = loader;

export default function NotFound() {
  return null;
}
