/**
 * The component of routes without a page. Without it, React Router would respond with JSON instead of the error page.
 */
export function FormOnlyRoute() {
  return null;
}
