import { Form } from "react-router";
import { Title } from "~/components/title";
import { Button } from "~/components/ui/button";
import { redirectWithFlash } from "~/lib/flash.server";
import { forgotPasswordToast } from "~/models/not-yet";
import type { Route } from "./+types/resources.forgot-password";

export function action({ context }: Route.ActionArgs) {
  return redirectWithFlash(context, "/login", forgotPasswordToast());
}

export const meta: Route.MetaFunction = () => [{ name: "robots", content: "noindex" }];

/** For a GET of this address. */
export default function ForgotPasswordPage() {
  return (
    <>
      <Title>Forgot password?</Title>
      <h1 className="mb-2 text-xl">Forgot password?</h1>
      <p className="mb-6 text-quiet">Opening this address sends nothing. The button does.</p>
      <Form method="post">
        <Button name="forgot">Forgot password?</Button>
      </Form>
    </>
  );
}
