import { redirect } from "react-router";
import { readForm } from "~/lib/forms/form-data.server";
import { redirectWithToast } from "~/lib/http/toast.server";
import { industries } from "~/models/content.server";
import { industryToast } from "~/models/not-yet";
import type { Route } from "./+types/actions.industries";

const industriesPath = "/#industries";

export async function action({ request, context }: Route.ActionArgs) {
  const form = await readForm(request);
  const industry = industries.find(({ id }) => id === form.get("industry"));
  if (!industry) return redirect(industriesPath, 303);
  return redirectWithToast(context, industriesPath, industryToast(industry.name));
}

export function loader() {
  return redirect(industriesPath, 303);
}

export { FormOnlyRoute as default } from "~/components/forms/form-only-route";
