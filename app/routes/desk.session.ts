/** Session check for useSessionWatch: an empty answer, or the redirect to the login by deskMiddleware. */
export function loader() {
  return new Response(null, { status: 204 });
}
