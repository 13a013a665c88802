import { parseWithZod } from "@conform-to/zod/v4";
import { Form, Link } from "react-router";
import { Flash } from "~/components/flash";
import { SubmitButton } from "~/components/form";
import { Title } from "~/components/title";
import { failure, refuse } from "~/lib/answer.server";
import { keepTyped } from "~/lib/connection";
import { redirectWithFlash } from "~/lib/flash.server";
import { readForm } from "~/lib/form.server";
import { Confirmation } from "~/models/account";
import { confirmAddress } from "~/models/account.server";
import type { Route } from "./+types/_auth.auth.confirm";

/** Opening the link spends nothing: mail programs and scanners open links too. The button does. */
export function loader({ url }: Route.LoaderArgs) {
  const token = Confirmation.safeParse({ token: url.searchParams.get("token_hash") }).data?.token ?? null;
  return { token };
}

export async function action({ request, context }: Route.ActionArgs) {
  const form = await readForm(request);
  const submission = parseWithZod(form, { schema: Confirmation });
  if (submission.status !== "success") {
    return refuse(
      submission.reply(),
      failure("Sign in Failed", "This link is not complete. Open it from the message again."),
    );
  }
  const refused = await confirmAddress(submission.value.token);
  if (refused) return refuse(submission.reply(), failure("Sign in Failed", refused.reason), refused.status);
  return redirectWithFlash(context, "/login", {
    title: "E-mail address confirmed",
    description: "Log in with your password.",
    variant: "default",
  });
}

export function clientAction({ serverAction }: Route.ClientActionArgs) {
  return keepTyped(serverAction);
}

export default function ConfirmPage({ actionData, loaderData }: Route.ComponentProps) {
  return (
    <>
      <Title refused={actionData !== undefined}>Confirm your e-mail address</Title>
      {actionData?.toast && <Flash toast={actionData.toast} />}
      <h1 className="mb-2 text-xl">Confirm your e-mail address</h1>
      {loaderData.token ? (
        <Form method="post" noValidate>
          <p className="mb-6">One press, and your account is ready.</p>
          <input type="hidden" name="token" value={loaderData.token} />
          <SubmitButton pending="Confirming…">Confirm this address</SubmitButton>
        </Form>
      ) : (
        <p className="mb-6">This link is not complete. Open it from the message again.</p>
      )}
      <p className="mt-6 text-quiet">
        The link has been used or is too old?{" "}
        <Link to="/login" className="inline-flex min-h-11 items-center underline">
          Log in
        </Link>{" "}
        with your password, and we send you a new one.
      </p>
    </>
  );
}
