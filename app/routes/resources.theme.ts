import { redirect } from "react-router";
import { NoPage } from "~/components/no-page";
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

export default NoPage;
