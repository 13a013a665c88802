import { parseWithZod } from "@conform-to/zod/v4";
import { Form } from "react-router";
import { ConfirmationFields, confirmationToken } from "~/actions/authentication";
import { Field } from "~/components/forms/field";
import { FormErrorSummary, SubmitButton, useActionForm } from "~/components/forms/form";
import { PasswordField } from "~/components/forms/password-field";
import { OfficePhone } from "~/components/site/office-phone";
import { Title } from "~/components/site/title";
import { TextLink } from "~/components/ui/text-link";
import { readForm } from "~/lib/forms/form-data.server";
import { createErrorToast, getFirstError, rejectForm } from "~/lib/forms/rejected-form.server";
import { getRateLimiter } from "~/lib/http/rate-limiter.server";
import { redirectWithToast } from "~/lib/http/toast.server";
import { confirmEmail } from "~/models/authentication.server";
import type { Route } from "./+types/_auth.auth.confirm";

/** Email scanners open links, so only the form uses up the token. */
export function loader({ url }: Route.LoaderArgs) {
  return { token: confirmationToken.safeParse(url.searchParams.get("token_hash")).data ?? null };
}

export async function action({ request, context }: Route.ActionArgs) {
  const form = await readForm(request);
  const submission = parseWithZod(form, { schema: ConfirmationFields });
  const result = submission.reply({ hideFields: ["password"] });
  if (submission.status !== "success")
    return rejectForm(result, createErrorToast("Sign in Failed", getFirstError(result)));
  const rejection = await confirmEmail(getRateLimiter(context), submission.value);
  if (rejection) return rejectForm(result, createErrorToast("Sign in Failed", rejection.reason), rejection.status);
  return redirectWithToast(context, "/login", {
    title: "E-mail address confirmed",
    description: "Log in with your password.",
    variant: "default",
  });
}

export default function ConfirmPage({ actionData, loaderData }: Route.ComponentProps) {
  const [form, fields] = useActionForm("confirm", actionData, ["email", "password"]);
  return (
    <>
      <Title rejected={actionData !== undefined}>Confirm your e-mail address</Title>
      <FormErrorSummary rejected={actionData} form={form} />
      <h1 className="mb-2 text-xl">
        Confirm your <span className="whitespace-nowrap">e-mail</span> address
      </h1>
      {loaderData.token ? (
        <Form method="post" id={form.id} noValidate>
          <p className="mb-6 text-quiet">
            Enter what you signed up with, so that nobody opens an account with your address and a password of theirs.
          </p>
          <input type="hidden" name="token" value={loaderData.token} />
          <Field field={fields.email} label="Email" type="email" autoComplete="username" />
          <PasswordField field={fields.password} label="Password" autoComplete="current-password" />
          <SubmitButton pending="Confirming…" className="w-full">
            Confirm this address
          </SubmitButton>
        </Form>
      ) : (
        <p className="mb-6">This link is not complete. Open it from the message again.</p>
      )}
      <p className="mt-6 text-quiet">
        The link has been used or is too old? <TextLink to="/login">Log in</TextLink> with your password, and we send
        you a new one.
      </p>
      <p className="mt-4 text-quiet">
        You do not know the password, or somebody else used your address? <TextLink to="/signup">Sign up</TextLink> with
        your own Client ID, an hour after this message at the earliest: this link opens nothing then, and you get
        another. If none comes, call <OfficePhone />.
      </p>
    </>
  );
}
