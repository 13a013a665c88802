import { parseWithZod } from "@conform-to/zod/v4";
import { Form, Link } from "react-router";
import { z } from "zod";
import { CodeField } from "~/components/code-field";
import { SelectField } from "~/components/field";
import { FormProblems, SubmitButton, useActionForm } from "~/components/form";
import { PasswordField } from "~/components/password-field";
import { Title } from "~/components/title";
import type { Failed } from "~/lib/act-form.server";
import { failure, firstError, refuse } from "~/lib/answer.server";
import { keepTyped } from "~/lib/connection";
import { theLetterhead } from "~/lib/content.server";
import { redirectWithFlash } from "~/lib/flash.server";
import { readForm } from "~/lib/form.server";
import { limitsOf } from "~/lib/limits.server";
import { refusalOfThrown, thrown } from "~/lib/refusal.server";
import { Login } from "~/models/account";
import { confirmEmailChange, openEmailChange } from "~/models/own-account.server";
import { Code } from "~/models/second-factor.server";
import type { Route } from "./+types/_auth.auth.email";

const linkToken = z.string().regex(/^[0-9a-f]{64}$/);
const gone = "This link has been used or is too old.";

/** What the token opens; null alike for one that is wrong, used or too old. Throws when the backend does not answer. */
async function theChange(token: unknown) {
  const asked = linkToken.safeParse(token);
  const change = asked.success ? await openEmailChange(asked.data).catch(refusalOfThrown) : null;
  if (change && "reason" in change) throw thrown(change);
  return change && { ...change, token: asked.data ?? "" };
}

/** Opening the link does not use the token, as mail scanners open links too; the button does. */
export async function loader({ url }: Route.LoaderArgs) {
  const change = await theChange(url.searchParams.get("token"));
  return change && { token: change.token, email: change.email, factors: change.factors.map(({ name }) => name) };
}

export async function action({ request, context }: Route.ActionArgs) {
  const form = await readForm(request);
  const change = await theChange(form.get("token"));
  const schema = z.object({
    password: Login.shape.password,
    factor: z.string().optional(),
    ...(change && change.factors.length > 0 && { code: Code }),
  });
  const submission = parseWithZod(form, { schema });
  const hidden = { hideFields: ["password", "code"] };
  if (!change) return refuse(submission.reply(hidden), failure("Address not changed", gone), 400);
  if (submission.status !== "success") {
    const result = submission.reply(hidden);
    return refuse(result, failure("Address not changed", firstError(result)));
  }
  const { password, factor } = submission.value;
  const { code } = submission.value as { code?: string };
  const chosen = change.factors.find(({ name }) => name === factor) ?? change.factors[0];
  const given = { password, code, factorId: chosen?.id };
  const refused: Failed | null = await confirmEmailChange(
    limitsOf(context),
    theLetterhead(),
    change.token,
    change,
    given,
  ).catch(refusalOfThrown);
  if (refused) {
    const result = submission.reply({ ...hidden, fieldErrors: refused.fieldErrors });
    return refuse(result, failure("Address not changed", refused.reason), refused.status);
  }
  return redirectWithFlash(context, "/login", {
    title: "E-mail address changed",
    description: "Log in with the new one from now on.",
    variant: "default",
  });
}

export function clientAction({ serverAction }: Route.ClientActionArgs) {
  return keepTyped(serverAction);
}

export const meta: Route.MetaFunction = () => [{ name: "robots", content: "noindex" }];

export default function NewAddressPage({ loaderData, actionData }: Route.ComponentProps) {
  const [form, fields] = useActionForm("new-address", actionData, ["password", "code", "factor"]);
  return (
    <>
      <Title refused={actionData !== undefined}>Confirm your new e-mail address</Title>
      <FormProblems refused={actionData} form={form} />
      <h1 className="mb-4 text-xl">Confirm your new e-mail address</h1>
      {loaderData ? (
        <Form method="post" replace id={form.id} noValidate>
          <p className="mb-6">
            From now on your account is opened with{" "}
            <span className="font-semibold wrap-anywhere">{loaderData.email}</span>. Its password stays.
          </p>
          <input type="hidden" name="token" value={loaderData.token} />
          <PasswordField field={fields.password} label="Password of your account" autoComplete="current-password" />
          {loaderData.factors.length > 1 && (
            <SelectField field={fields.factor} label="Authenticator" options={loaderData.factors} />
          )}
          {loaderData.factors.length > 0 && <CodeField field={fields.code} />}
          <SubmitButton pending="Confirming…" className="w-full">
            Confirm this address
          </SubmitButton>
        </Form>
      ) : (
        <p>{gone} Begin again on the page of your account.</p>
      )}
      <p className="mt-6">
        <Link to="/login" className="inline-flex min-h-11 items-center underline">
          Log in
        </Link>
      </p>
    </>
  );
}
