import { data } from "react-router";
import { noPageOf } from "~/lib/refusal.server";
import { getClient } from "~/lib/session.server";
import type { Route } from "./+types/$";

/** Every address no other route answers, with the site around its 404. */
export async function loader({ request, context, url }: Route.LoaderArgs) {
  const [, area] = url.pathname.split("/");
  const person = area === "portal" || area === "desk" ? await getClient(request, context) : null;
  if (person && "colleague" in person && person.colleague) throw noPageOf("desk");
  // At the desk a client finds what stands at any other address.
  if (person && !("reason" in person) && area === "portal") throw noPageOf("portal");
  throw data("Not found", { status: 404 });
}

export const action = loader;

export default function NotFound() {
  return null;
}
