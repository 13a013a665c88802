import { redirect } from "react-router";
import { readForm } from "~/lib/form.server";
import { sitePath } from "~/lib/redirect.server";
import { themeCookie } from "~/lib/theme.server";
import type { Route } from "./+types/resources.theme";

export async function action({ request }: Route.ActionArgs) {
  const form = await readForm(request);
  const cookie = await themeCookie(request, form.get("theme"));
  return redirect(sitePath(form.get("to")), { status: 303, headers: { "Set-Cookie": cookie } });
}

export function loader() {
  return redirect("/", 303);
}

/** With a component, a form that is refused is answered with the site's error page instead of bare JSON. */
export default function NoPage() {
  return null;
}
