import { redirect } from "react-router";
import { failure } from "~/lib/answer.server";
import { redirectWithFlash } from "~/lib/flash.server";
import { signedOut } from "~/lib/signed-out";
import { backendOf, endSession, isShared } from "~/lib/supabase.server";
import { signOut } from "~/models/account.server";
import type { Route } from "./+types/portal_.sign-out";

export async function action({ request, context }: Route.ActionArgs) {
  endSession(context);
  const refused = await signOut(backendOf(context));
  const response = refused
    ? redirectWithFlash(
        context,
        "/login",
        failure("Sign out Failed", `You are signed out on this device. ${refused.reason}`),
      )
    : redirectWithFlash(context, "/login", { title: "You are signed out", variant: "default" });
  // Back after signing out on a shared computer shows nothing.
  if (isShared(request)) response.headers.set("Clear-Site-Data", '"cache"');
  return response;
}

/** With script, this tab forgets what it keeps once the session is over, and the login tells the others. */
export async function clientAction({ serverAction }: Route.ClientActionArgs) {
  try {
    return await serverAction();
  } catch (answer) {
    // The way to the login; anything else is a broken line, and the session lives.
    if (answer instanceof Response) signedOut();
    throw answer;
  }
}

export function loader() {
  return redirect("/portal", 303);
}

/** With a component, a form that is refused is answered with the site's error page instead of bare JSON. */
export default function NoPage() {
  return null;
}
