/** React Router responds with JSON instead of the error page if a route has no component. */
export function FormOnlyRoute() {
  return null;
}
