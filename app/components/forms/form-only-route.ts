/** Without a component, a route responds to errors with JSON instead of the error page. */
export function FormOnlyRoute() {
  return null;
}
