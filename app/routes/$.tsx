import { data } from "react-router";

/** Every address no other route answers, with the site around its 404. */
export function loader() {
  throw data("Not found", { status: 404 });
}

export const action = loader;

export default function NotFound() {
  return null;
}
