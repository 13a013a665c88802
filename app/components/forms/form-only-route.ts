/** For routes without a page. Without a component, React Router would respond with JSON instead of the error page. */
export function FormOnlyRoute() {
  return null;
}
