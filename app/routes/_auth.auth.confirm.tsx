import { Form } from "react-router";
import { ConfirmationFields, confirmationToken } from "~/actions/authentication";
import { Field } from "~/components/forms/field";
import { SubmitButton, useActionForm } from "~/components/forms/form";
import { PasswordField } from "~/components/forms/password-field";
import { OfficePhone } from "~/components/site/office-phone";
import { PageHeading } from "~/components/site/title";
import { TextLink } from "~/components/ui/button";
import { redirectAfterLogIn } from "~/lib/auth/log-in-response.server";
import { readForm } from "~/lib/forms/form-data.server";
import { parseForm, rejectSubmission } from "~/lib/forms/rejected-form.server";
import { getRateLimiter } from "~/lib/http/rate-limiter.server";
import { getSupabase, isSharedComputer } from "~/lib/supabase/client.server";
import { confirmEmail } from "~/models/authentication.server";
import type { Route } from "./+types/_auth.auth.confirm";

/** Email scanners open links, so only a submitted form uses up the token. */
export function loader({ url }: Route.LoaderArgs) {
  return { token: confirmationToken.safeParse(url.searchParams.get("token_hash")).data ?? null };
}

export async function action({ request, context }: Route.ActionArgs) {
  const form = await readForm(request);
  const submission = parseForm(form, ConfirmationFields);
  if (submission.status !== "success") return rejectSubmission(submission, "Sign in Failed");
  const { email } = submission.value;
  const login = await confirmEmail(getSupabase(context), getRateLimiter(context), submission.value);
  if ("reason" in login) return rejectSubmission(submission, "Sign in Failed", login);
  return redirectAfterLogIn(request, context, {
    email,
    isShared: isSharedComputer(request),
    requiresSecondFactor: login.requiresSecondFactor,
    next: "/portal",
    toast: { title: "Email address confirmed", description: "You are logged in.", variant: "default" },
  });
}

export default function ConfirmPage({ actionData, loaderData }: Route.ComponentProps) {
  const [form, fields] = useActionForm("confirm", actionData, ["email", "password"]);
  return (
    <>
      <PageHeading title="Confirm your email address" className="mb-2 text-xl" form={form} />
      {loaderData.token ? (
        <Form method="post" id={form.id} noValidate>
          <p className="mb-6 text-quiet">
            Enter the email and password that you used to sign up, or ignore our email if someone else signed up.
          </p>
          <input type="hidden" name="token" value={loaderData.token} />
          <Field field={fields.email} label="Email" type="email" autoComplete="username" />
          <PasswordField field={fields.password} label="Password" autoComplete="current-password" />
          <SubmitButton pending="Confirming…" className="w-full">
            Confirm and log in
          </SubmitButton>
        </Form>
      ) : (
        <p className="mb-6">This link is incomplete. Open the link in our email again.</p>
      )}
      {(actionData || !loaderData.token) && <ConfirmationHelp />}
    </>
  );
}

function ConfirmationHelp() {
  return (
    <>
      <p className="mt-6 text-quiet">
        Has the link expired? <TextLink to="/login">Log in</TextLink> and we will email you a new link.
      </p>
      <p className="mt-4 text-quiet">
        Did someone else sign up with your email address? To create your own account, wait one hour and{" "}
        <TextLink to="/signup">sign up</TextLink> with your Client ID. Need help? Call <OfficePhone />.
      </p>
    </>
  );
}
