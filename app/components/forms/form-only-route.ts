/** A route without a component makes React Router answer a rejected form with JSON instead of the error page. */
export function FormOnlyRoute() {
  return null;
}
