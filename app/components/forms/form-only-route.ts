/**
 * The component of an address that only takes forms. With a component, a form that is refused is answered with the
 * site's error page; without one the router would answer bare JSON.
 */
export function FormOnlyRoute() {
  return null;
}
