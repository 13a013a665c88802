import { Form, redirect } from "react-router";
import { Title } from "~/components/site/title";
import { Button } from "~/components/ui/button";
import { createErrorToast } from "~/lib/forms/rejected-form.server";
import { hasSessionCookie } from "~/lib/http/cookies.server";
import { noStoreMiddleware } from "~/lib/http/headers.server";
import { redirectWithToast } from "~/lib/http/toast.server";
import { endSession, getSupabase, isSharedComputer } from "~/lib/supabase/client.server";
import { signOut } from "~/models/authentication.server";
import type { Route } from "./+types/portal_.sign-out";

export const middleware: Route.MiddlewareFunction[] = [noStoreMiddleware];

export function loader({ request }: Route.LoaderArgs) {
  if (!hasSessionCookie(request)) throw redirect("/login", 303);
  return null;
}

export async function action({ request, context }: Route.ActionArgs) {
  endSession(context, true);
  const rejection = await signOut(getSupabase(context));
  const response = rejection
    ? redirectWithToast(
        context,
        "/login",
        createErrorToast(
          "Sign out Failed",
          `You are signed out on this device, but our system may still treat you as logged in. ${rejection.reason}`,
        ),
      )
    : redirectWithToast(context, "/login", { title: "You are signed out", variant: "default" });
  // On a shared computer, the next user must not see pages of the ended session, for example with the Back button.
  if (isSharedComputer(request)) response.headers.set("Clear-Site-Data", '"cache", "storage"');
  return response;
}

export const meta: Route.MetaFunction = () => [{ name: "robots", content: "noindex" }];

export default function SignOutPage() {
  return (
    <>
      <Title>Sign out</Title>
      <h1 className="mb-2 text-xl">You are still logged in</h1>
      <p className="mb-6 text-quiet">Click the button to sign out.</p>
      <Form method="post">
        <Button look="action" name="sign-out">
          Sign out
        </Button>
      </Form>
    </>
  );
}
