import { Form } from "react-router";
import { AuthPage } from "~/components/site/auth-page";
import { OfficePhone } from "~/components/site/office-phone";
import { PageHeading } from "~/components/site/title";
import { Button, TextLink } from "~/components/ui/button";
import { redirectWithToast } from "~/lib/http/toast.server";
import { identifiers } from "~/models/content.server";
import { forgotPasswordToast } from "~/models/not-yet";
import type { Route } from "./+types/actions.forgot-password";

export function loader() {
  return { licence: identifiers.customs_agent_licence };
}

export function action({ context }: Route.ActionArgs) {
  return redirectWithToast(context, "/login", forgotPasswordToast());
}

export const meta: Route.MetaFunction = () => [{ name: "robots", content: "noindex" }];

export default function ForgotPasswordPage({ loaderData }: Route.ComponentProps) {
  return (
    <AuthPage licence={loaderData.licence}>
      <PageHeading title="Forgot password?" className="mb-2 text-xl" />
      <p className="mb-6 text-quiet">You cannot reset your password on this page yet.</p>
      <Form method="post">
        <Button name="forgot">Forgot password?</Button>
      </Form>
      <p className="mt-6">
        Locked out? Call <OfficePhone />. We check your identity, then email you a link to set a new password.
      </p>
      <p>
        Remember your password? <TextLink to="/login">Log in</TextLink>
      </p>
    </AuthPage>
  );
}
