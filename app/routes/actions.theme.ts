import { data, redirect } from "react-router";
import { readForm } from "~/lib/forms/form-data.server";
import { toSitePath } from "~/lib/http/redirect.server";
import { themeCookie } from "~/lib/http/theme.server";
import type { Route } from "./+types/actions.theme";

export async function action({ request }: Route.ActionArgs) {
  const form = await readForm(request);
  const headers = { "Set-Cookie": await themeCookie(request, form.get("theme")) };
  // A request from JavaScript gets no redirect. If the visitor has opened another page meanwhile, React Router would
  // ignore the redirect and show the old theme again.
  if (new URL(request.url).pathname.endsWith(".data")) return data(null, { headers });
  return redirect(toSitePath(form.get("to")), { status: 303, headers });
}

export function loader() {
  return redirect("/", 303);
}

export { FormOnlyRoute as default } from "~/components/forms/form-only-route";
