import { parseWithZod } from "@conform-to/zod/v4";
import { data, Form } from "react-router";
import { z } from "zod";
import { CodeField } from "~/components/code-field";
import { CloseLink, Dialog } from "~/components/dialog";
import { FormProblems, SubmitButton, useActionForm } from "~/components/form";
import { Title } from "~/components/title";
import { buttonLook } from "~/components/ui/button";
import { codeErrors, failure, firstError, refuse } from "~/lib/answer.server";
import { keepTyped } from "~/lib/connection";
import { redirectWithFlash } from "~/lib/flash.server";
import { readForm } from "~/lib/form.server";
import { limitsOf } from "~/lib/limits.server";
import { refusalOfThrown } from "~/lib/refusal.server";
import { requireClient } from "~/lib/session.server";
import { Code, removeFactor } from "~/models/second-factor.server";
import type { Route } from "./+types/portal.2fa_.$factorId";

const Remove = z.object({ code: Code });

export function loader({ context, params }: Route.LoaderArgs) {
  return { name: theFactor(context, params.factorId).name };
}

export async function action({ request, context, params }: Route.ActionArgs) {
  const client = requireClient(context);
  const factor = theFactor(context, params.factorId);
  const submission = parseWithZod(await readForm(request), { schema: Remove });
  if (submission.status !== "success") {
    const result = submission.reply({ hideFields: ["code"] });
    return refuse(result, failure("Verification failed", firstError(result)));
  }
  const failed = await removeFactor(client, limitsOf(context), factor.id, submission.value.code).catch(
    (error: unknown) => ({
      ...refusalOfThrown(error),
      title: "Error challenging",
    }),
  );
  if (failed) {
    const result = submission.reply({ hideFields: ["code"], fieldErrors: codeErrors(failed) });
    return refuse(result, failure(failed.title, failed.reason), failed.status);
  }
  return redirectWithFlash(context, "/portal", {
    title: "Authenticator removed",
    description: client.factors.length > 1 ? undefined : "Your account now opens with the password alone.",
    variant: "default",
  });
}

export function clientAction({ serverAction }: Route.ClientActionArgs) {
  return keepTyped(serverAction);
}

/** A factor of the client's own; any other id is a 404. */
function theFactor(context: Route.LoaderArgs["context"], id: string) {
  const factor = requireClient(context).factors.find((one) => one.id === id);
  if (!factor) throw data("Not found", { status: 404 });
  return factor;
}

export default function RemoveFactorPage({ actionData, loaderData }: Route.ComponentProps) {
  const [form, fields] = useActionForm("remove-2fa", actionData, ["code"]);
  return (
    <Dialog className="static w-full max-w-xl bg-transparent p-0" label="Remove an authenticator" back="/portal/2fa">
      <Title refused={actionData !== undefined}>Remove an authenticator</Title>
      <FormProblems refused={actionData} form={form} />
      <h1 className="mb-2 text-xl">Remove an authenticator</h1>
      <p className="mb-6 text-quiet">
        {loaderData.name} will no longer open your account. Enter a code of it to show that it is you.
      </p>
      <Form method="post" replace id={form.id} noValidate>
        <CodeField field={fields.code} />
        <div className="flex flex-wrap gap-3">
          <SubmitButton pending="Removing…">Remove</SubmitButton>
          <CloseLink to="/portal/2fa" className={buttonLook()}>
            Keep it
          </CloseLink>
        </div>
      </Form>
    </Dialog>
  );
}
