import { data } from "react-router";
import { getViewer } from "~/lib/auth/viewer.server";
import { areaNotFound } from "~/lib/http/user-error.server";
import type { Route } from "./+types/$";

/** Responds to every unknown URL, so that the site surrounds the 404. */
export async function loader({ request, context, url }: Route.LoaderArgs) {
  const [, area] = url.pathname.split("/");
  const person = area === "portal" || area === "desk" ? await getViewer(request, context) : null;
  if (person && "staff" in person && person.staff) throw areaNotFound("desk");
  // For a client, an address of the desk looks like any unknown address.
  if (person && !("reason" in person) && area === "portal") throw areaNotFound("portal");
  throw data("Not found", { status: 404 });
}

export const action = loader;

export default function NotFound() {
  return null;
}
