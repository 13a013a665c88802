import { queryViewer, viewerMiddleware } from "~/lib/auth/viewer.server";

export const middleware = [viewerMiddleware(() => queryViewer)];

/** useSessionWatch requests this URL to check the session. Without a session, middleware redirects to /login. */
export function loader() {
  return new Response(null, { status: 204 });
}
