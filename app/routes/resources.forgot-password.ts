import { redirect } from "react-router";
import { redirectWithFlash } from "~/lib/flash.server";
import { forgotPasswordToast } from "~/models/not-yet";
import type { Route } from "./+types/resources.forgot-password";

export function action({ context }: Route.ActionArgs) {
  return redirectWithFlash(context, "/login", forgotPasswordToast());
}

export function loader() {
  return redirect("/login", 303);
}

/** With a component, a form that is refused is answered with the site's error page instead of bare JSON. */
export default function NoPage() {
  return null;
}
