import { requireStaff } from "~/lib/auth/staff.server";
import { createFileRoute, noFormAction } from "~/lib/http/file-route.server";

/** useSessionWatch requests this URL to check the session. Without a session, middleware redirects to /login. */
const check = createFileRoute(({ context }) => {
  requireStaff(context);
  return new Response(null, { status: 204 });
});

export const middleware = check.middleware;
export const loader = check.loader;
export const action = noFormAction;

export { FormOnlyRoute as default } from "~/components/forms/form-only-route";
