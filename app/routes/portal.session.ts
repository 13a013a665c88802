/** Whether the session still lives, for a page that was out of sight: nothing, or the way to the login. */
export function loader() {
  return new Response(null, { status: 204 });
}
