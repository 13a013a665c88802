/** Routes without a page need a component. Otherwise, React Router sends JSON instead of the error page. */
export function FormOnlyRoute() {
  return null;
}
