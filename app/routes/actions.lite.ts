import { redirect } from "react-router";
import { readForm } from "~/lib/forms/form-data.server";
import { liteCookie } from "~/lib/http/lite.server";
import { toSitePath } from "~/lib/http/redirect.server";
import type { Route } from "./+types/actions.lite";

export async function action({ request }: Route.ActionArgs) {
  const form = await readForm(request);
  const cookie = liteCookie(form.get("lite") === "on");
  return redirect(toSitePath(form.get("to")), { status: 303, headers: { "Set-Cookie": cookie } });
}

export function loader() {
  return redirect("/", 303);
}

export { FormOnlyRoute as default } from "~/components/forms/form-only-route";
