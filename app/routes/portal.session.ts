/** The session check for useSessionWatch. Without a session, the portal's middleware redirects to the login page. */
export function loader() {
  return new Response(null, { status: 204 });
}
