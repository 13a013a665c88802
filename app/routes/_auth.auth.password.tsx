import { parseWithZod } from "@conform-to/zod/v4";
import { Form, Link } from "react-router";
import { z } from "zod";
import { CodeField } from "~/components/code-field";
import { SelectField } from "~/components/field";
import { FormProblems, SubmitButton, useActionForm } from "~/components/form";
import { PasswordField } from "~/components/password-field";
import { OfficePhone } from "~/components/site/office-phone";
import { Title } from "~/components/title";
import { codeErrors, failure, firstError, refuse } from "~/lib/answer.server";
import { keepTyped } from "~/lib/connection";
import { theLetterhead } from "~/lib/content.server";
import { redirectWithFlash } from "~/lib/flash.server";
import { readForm } from "~/lib/form.server";
import { limitsOf } from "~/lib/limits.server";
import { refusalOfThrown, thrown } from "~/lib/refusal.server";
import { clientPassword, newPassword } from "~/models/account";
import { colleaguePassword } from "~/models/colleague";
import { openLink, setPassword } from "~/models/password.server";
import { Code } from "~/models/second-factor.server";
import type { Route } from "./+types/_auth.auth.password";

const linkToken = z.string().regex(/^[0-9a-f]{64}$/);

/** What the token opens; null alike for one that is wrong, used or too old. Throws when the backend does not answer. */
async function theLink(token: unknown) {
  const asked = linkToken.safeParse(token);
  const link = asked.success ? await openLink(asked.data).catch(refusalOfThrown) : null;
  if (link && "reason" in link) throw thrown(link);
  return link && { ...link, token: asked.data ?? "" };
}

/** The least characters of the password behind a link. */
const leastOf = (link: { colleague: boolean } | null) => (link?.colleague ? colleaguePassword : clientPassword);

/** Opening the link does not use the token, as mail scanners open links too; the button does. */
export async function loader({ url }: Route.LoaderArgs) {
  const link = await theLink(url.searchParams.get("token"));
  return link && { token: link.token, least: leastOf(link), factors: link.factors.map(({ name }) => name) };
}

export async function action({ request, context }: Route.ActionArgs) {
  const form = await readForm(request);
  const link = await theLink(form.get("token"));
  const schema = z.object({
    password: newPassword(leastOf(link)),
    factor: z.string().optional(),
    ...(link && link.factors.length > 0 && { code: Code }),
  });
  const submission = parseWithZod(form, { schema });
  const hidden = { hideFields: ["password", "code"] };
  if (!link) return refuse(submission.reply(hidden), failure("Password not set", gone), 400);
  if (submission.status !== "success") {
    const result = submission.reply(hidden);
    return refuse(result, failure("Password not set", firstError(result)));
  }
  const { password, factor } = submission.value;
  const { code } = submission.value as { code?: string };
  const chosen = link.factors.find(({ name }) => name === factor) ?? link.factors[0];
  const given = { password, code, factorId: chosen?.id };
  const refused = await setPassword(limitsOf(context), theLetterhead(), link.token, link, given).catch(refusalOfThrown);
  if (refused) {
    const result = submission.reply({ ...hidden, fieldErrors: chosen ? codeErrors(refused) : undefined });
    return refuse(result, failure("Password not set", refused.reason), refused.status);
  }
  return redirectWithFlash(context, "/login", {
    title: "Password set",
    description: "Log in with it.",
    variant: "default",
  });
}

const gone = "This link has been used or is too old. Ask for another one.";

export function clientAction({ serverAction }: Route.ClientActionArgs) {
  return keepTyped(serverAction);
}

export const meta: Route.MetaFunction = () => [{ name: "robots", content: "noindex" }];

export default function PasswordPage({ loaderData, actionData }: Route.ComponentProps) {
  const [form, fields] = useActionForm("password", actionData, ["password", "code", "factor"]);
  return (
    <>
      <Title refused={actionData !== undefined}>Set your password</Title>
      <FormProblems refused={actionData} form={form} />
      <h1 className="mb-6 text-xl">Set your password</h1>
      {loaderData ? (
        <Form method="post" replace id={form.id} noValidate>
          <input type="hidden" name="token" value={loaderData.token} />
          <PasswordField
            field={fields.password}
            label="New password"
            hint={`At least ${loaderData.least} characters`}
            autoComplete="new-password"
          />
          {loaderData.factors.length > 1 && (
            <SelectField field={fields.factor} label="Authenticator" options={loaderData.factors} />
          )}
          {loaderData.factors.length > 0 && <CodeField field={fields.code} />}
          <SubmitButton pending="Setting…" className="w-full">
            Set password
          </SubmitButton>
        </Form>
      ) : (
        <p>
          This link has been used or is too old. Call <OfficePhone />, and we send you another one.
        </p>
      )}
      <p className="mt-6">
        <Link to="/login" className="inline-flex min-h-11 items-center underline">
          Log in
        </Link>
      </p>
    </>
  );
}
