import { NoPage } from "~/components/no-page";
import { requireColleague } from "~/lib/desk.server";
import { fileRoute, noForm } from "~/lib/file-route.server";

/** Session check for useSessionWatch: an empty answer, or the redirect to the login by deskMiddleware. */
const check = fileRoute(({ context }) => {
  requireColleague(context);
  return new Response(null, { status: 204 });
});

export const middleware = check.middleware;
export const loader = check.loader;
export const action = noForm;

export default NoPage;
