import { redirect } from "react-router";
import { NoPage } from "~/components/no-page";
import { industries } from "~/lib/content.server";
import { redirectWithFlash } from "~/lib/flash.server";
import { readForm } from "~/lib/form.server";
import { industryToast } from "~/models/not-yet";
import type { Route } from "./+types/resources.industries";

const row = "/#industries";

export async function action({ request, context }: Route.ActionArgs) {
  const form = await readForm(request);
  const industry = industries.find(({ id }) => id === form.get("industry"));
  if (!industry) return redirect(row, 303);
  return redirectWithFlash(context, row, industryToast(industry.name));
}

export function loader() {
  return redirect(row, 303);
}

export default NoPage;
