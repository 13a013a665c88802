import { data, Form } from "react-router";
import { clientIdInLink, SignUpFields } from "~/actions/authentication";
import { Field } from "~/components/forms/field";
import { ErrorSummary, SubmitButton, useActionForm } from "~/components/forms/form";
import { PasswordField } from "~/components/forms/password-field";
import { OfficePhone } from "~/components/site/office-phone";
import { Title } from "~/components/site/title";
import { TextLink } from "~/components/ui/button";
import { redirectSignedInMiddleware } from "~/lib/auth/viewer.server";
import { readForm } from "~/lib/forms/form-data.server";
import { parseForm, rejectSubmission } from "~/lib/forms/rejected-form.server";
import { getRateLimiter } from "~/lib/http/rate-limiter.server";
import { redirectWithToast } from "~/lib/http/toast.server";
import { signUp } from "~/models/client-id.server";
import type { Route } from "./+types/_auth.signup";

export const middleware: Route.MiddlewareFunction[] = [redirectSignedInMiddleware];

export function loader({ url }: Route.LoaderArgs) {
  const clientId = clientIdInLink.safeParse(url.searchParams.get("clientId")).data ?? "";
  return data({ clientId }, { headers: clientId ? { "Cache-Control": "private, no-store" } : {} });
}

export async function action({ request, context }: Route.ActionArgs) {
  const form = await readForm(request);
  const submission = parseForm(form, SignUpFields);
  if (submission.status !== "success") return rejectSubmission(submission, "Sign up Failed");
  const failure = await signUp(getRateLimiter(context), submission.value);
  if (failure) return rejectSubmission(submission, failure.title, failure);
  return redirectWithToast(context, "/login", {
    title: "Account Created!",
    description: "Please check your email to verify your account. You'll be prompted to set up 2FA on first login.",
    variant: "default",
  });
}

export const meta: Route.MetaFunction = () => [
  { name: "description", content: "Create your client account with the Client ID that we gave you." },
];

export default function SignUpPage({ actionData, loaderData }: Route.ComponentProps) {
  const [form, fields] = useActionForm("signup", actionData, ["clientId", "fullName", "email", "password"], loaderData);
  return (
    <>
      <Title rejected={actionData !== undefined}>Sign up</Title>
      <ErrorSummary {...form} />
      <h1 className="mb-2 text-xl">Create your client account</h1>
      <p className="mb-6 text-quiet">
        You need a Client ID to sign up. In your account, you can follow your shipments and upload documents.
      </p>
      <Form method="post" id={form.id} noValidate>
        <Field
          field={fields.clientId}
          label="Client ID"
          hint="Provided by the company"
          autoComplete="off"
          autoCapitalize="characters"
          spellCheck={false}
        />
        <Field field={fields.fullName} label="Full Name" autoComplete="name" autoCapitalize="words" />
        <Field field={fields.email} label="Email" type="email" autoComplete="email" />
        <PasswordField
          field={fields.password}
          label="Password"
          hint="At least 6 characters"
          autoComplete="new-password"
        />
        <SubmitButton pending="Creating…" className="w-full">
          Create Account
        </SubmitButton>
      </Form>
      <p className="mt-6">
        Already have an account? <TextLink to="/login">Log in</TextLink>
      </p>
      <p>
        To get a Client ID, call <OfficePhone />.
      </p>
    </>
  );
}
