import { parseWithZod } from "@conform-to/zod/v4";
import { Form, redirect } from "react-router";
import { z } from "zod";
import { CodeFields, LostAuthenticator } from "~/components/code-field";
import { FormProblems, SubmitButton, useActionForm } from "~/components/form";
import { Title } from "~/components/title";
import { Button } from "~/components/ui/button";
import { codeErrors, failure, firstError, refuse } from "~/lib/answer.server";
import { keepTyped } from "~/lib/connection";
import { redirectWithFlash } from "~/lib/flash.server";
import { readForm } from "~/lib/form.server";
import { toLogin } from "~/lib/kept-cookies.server";
import { limitsOf, rememberBrowser } from "~/lib/limits.server";
import { portalPath } from "~/lib/redirect.server";
import { thrown } from "~/lib/refusal.server";
import { getClient, needsCode } from "~/lib/session.server";
import { isShared } from "~/lib/supabase.server";
import { Code, chosenFactor, giveCode } from "~/models/second-factor.server";
import type { Route } from "./+types/_auth.login_.verify";

const Verify = z.object({ code: Code, factor: z.string().optional() });

/** The second step of the sign-in: only for a session whose account asks for a code. */
async function whoNeedsCode({ request, context }: Pick<Route.LoaderArgs, "request" | "context">) {
  const client = await getClient(request, context);
  if (!client) throw toLogin(request, "/login");
  if ("reason" in client) throw thrown(client);
  if (!needsCode(client)) throw redirect("/portal", 303);
  return client;
}

export async function loader({ request, context, url }: Route.LoaderArgs) {
  const { factors } = await whoNeedsCode({ request, context });
  const next = portalPath(url.searchParams.get("next"));
  return { next, factors: factors.map(({ name }) => name) };
}

export async function action({ request, context }: Route.ActionArgs) {
  const client = await whoNeedsCode({ request, context });
  const form = await readForm(request);
  const submission = parseWithZod(form, { schema: Verify });
  if (submission.status !== "success") {
    const result = submission.reply({ hideFields: ["code"] });
    return refuse(result, failure("Verification failed", firstError(result)));
  }
  const { code, factor } = submission.value;
  const chosen = chosenFactor(client.factors, factor);
  const failed = await giveCode(client, limitsOf(context), chosen?.id ?? "", code);
  if (failed) {
    const result = submission.reply({ hideFields: ["code"], fieldErrors: codeErrors(failed) });
    return refuse(result, failure(failed.title, failed.reason), failed.status);
  }
  const next = portalPath(form.get("next"));
  const response = redirectWithFlash(context, next, { title: "Login Successful", variant: "default" });
  if (!isShared(request)) response.headers.append("Set-Cookie", rememberBrowser(request, client.email));
  return response;
}

export function clientAction({ serverAction }: Route.ClientActionArgs) {
  return keepTyped(serverAction);
}

export default function VerifyPage({ actionData, loaderData }: Route.ComponentProps) {
  const [form, fields] = useActionForm("verify", actionData, ["code", "factor"]);
  return (
    <>
      <Title refused={actionData !== undefined}>Enter your code</Title>
      <FormProblems refused={actionData} form={form} />
      <h1 className="mb-2 text-xl">Enter your code</h1>
      <p className="mb-6 text-quiet">Your account asks for a code besides the password. Nothing of it opens before.</p>
      <Form method="post" id={form.id} noValidate>
        <input type="hidden" name="next" value={loaderData.next} />
        <CodeFields factors={loaderData.factors} fields={fields} />
        <SubmitButton pending="Checking…" className="w-full">
          Verify
        </SubmitButton>
      </Form>
      <LostAuthenticator />
      <Form method="post" action="/portal/sign-out">
        <Button look="quiet" name="sign-out">
          Sign out
        </Button>
      </Form>
    </>
  );
}
