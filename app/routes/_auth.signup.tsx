import { parseWithZod } from "@conform-to/zod/v4";
import { data, Form, Link } from "react-router";
import { Field } from "~/components/field";
import { FormProblems, SubmitButton, useActionForm } from "~/components/form";
import { PasswordField } from "~/components/password-field";
import { OfficePhone } from "~/components/site/office-phone";
import { Title } from "~/components/title";
import { failure, firstError, refuse } from "~/lib/answer.server";
import { keepTyped } from "~/lib/connection";
import { redirectWithFlash } from "~/lib/flash.server";
import { readForm } from "~/lib/form.server";
import { limitsOf } from "~/lib/limits.server";
import { signedInMiddleware } from "~/lib/session.server";
import { clientIdInLink, SignUp } from "~/models/account";
import { signUp } from "~/models/account.server";
import type { Route } from "./+types/_auth.signup";

export const middleware: Route.MiddlewareFunction[] = [signedInMiddleware];

/** An invitation's link fills the client ID in. */
export function loader({ url }: Route.LoaderArgs) {
  const clientId = clientIdInLink.safeParse(url.searchParams.get("clientId")).data ?? "";
  return data({ clientId }, { headers: clientId ? { "Cache-Control": "private, no-store" } : {} });
}

export async function action({ request, context }: Route.ActionArgs) {
  const form = await readForm(request);
  const submission = parseWithZod(form, { schema: SignUp });
  if (submission.status !== "success") {
    const result = submission.reply({ hideFields: ["password"] });
    return refuse(result, failure("Sign up Failed", result.error?.clientId?.[0] ?? firstError(result)));
  }
  const failed = await signUp(limitsOf(context), submission.value);
  if (failed) {
    return refuse(submission.reply({ hideFields: ["password"] }), failure(failed.title, failed.reason), failed.status);
  }
  return redirectWithFlash(context, "/login", {
    title: "Account Created!",
    description: "Please check your email to verify your account. You'll be prompted to set up 2FA on first login.",
    variant: "default",
  });
}

export function clientAction({ serverAction }: Route.ClientActionArgs) {
  return keepTyped(serverAction);
}

export const meta: Route.MetaFunction = () => [
  { name: "description", content: "Open your client account with the Client ID the company gave you." },
];

export default function SignUpPage({ actionData, loaderData }: Route.ComponentProps) {
  const [form, fields] = useActionForm("signup", actionData, ["clientId", "fullName", "email", "password"]);
  return (
    <>
      <Title refused={actionData !== undefined}>Sign up</Title>
      <FormProblems refused={actionData} form={form} />
      <h1 className="mb-2 text-xl">Open your client account</h1>
      <p className="mb-6 text-quiet">
        For clients the company has invited. You follow your shipments and send documents here.
      </p>
      <Form method="post" id={form.id} noValidate>
        <Field
          field={actionData?.result ? fields.clientId : { ...fields.clientId, value: loaderData.clientId }}
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
        You have an account?{" "}
        <Link to="/login" className="inline-flex min-h-11 items-center underline">
          Log in
        </Link>
      </p>
      <p>
        No Client ID, or yours is refused? Call <OfficePhone />.
      </p>
    </>
  );
}
