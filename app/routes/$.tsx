import { data } from "react-router";
import { getViewer } from "~/lib/auth/viewer.server";
import { areaNotFound } from "~/lib/http/user-error.server";
import type { Route } from "./+types/$";

/** Every address no other route answers, with the site around its 404. */
export async function loader({ request, context, url }: Route.LoaderArgs) {
  const [, area] = url.pathname.split("/");
  const person = area === "portal" || area === "desk" ? await getViewer(request, context) : null;
  if (person && "staff" in person && person.staff) throw areaNotFound("desk");
  // At the desk a client finds what stands at any other address.
  if (person && !("reason" in person) && area === "portal") throw areaNotFound("portal");
  throw data("Not found", { status: 404 });
}

export const action = loader;

export default function NotFound() {
  return null;
}
