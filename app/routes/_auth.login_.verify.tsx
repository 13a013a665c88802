import { Form, redirect } from "react-router";
import { z } from "zod";
import { LostAuthenticatorHelp, SecondFactorFields } from "~/components/forms/code-field";
import { SubmitButton, useActionForm } from "~/components/forms/form";
import { PageHeading } from "~/components/site/title";
import { Button } from "~/components/ui/button";
import { redirectToLogin } from "~/lib/auth/cookies-disabled.server";
import { getViewer, needsSecondFactor } from "~/lib/auth/viewer.server";
import { readForm } from "~/lib/forms/form-data.server";
import { parseForm, rejectSubmission } from "~/lib/forms/rejected-form.server";
import { knownBrowserCookie } from "~/lib/http/known-browser.server";
import { getRateLimiter } from "~/lib/http/rate-limiter.server";
import { toViewerPath } from "~/lib/http/redirect.server";
import { redirectWithToast } from "~/lib/http/toast.server";
import { userErrorData } from "~/lib/http/user-error.server";
import { isSharedComputer } from "~/lib/supabase/client.server";
import { selectFactor, TotpCode, verifyTotp } from "~/models/second-factor.server";
import type { Route } from "./+types/_auth.login_.verify";

const VerifyFields = z.object({ code: TotpCode, factor: z.string().optional() });

async function requirePendingSecondFactor({ request, context }: Pick<Route.LoaderArgs, "request" | "context">) {
  const client = await getViewer(request, context);
  if (!client) throw redirectToLogin(request, "/login");
  if ("reason" in client) throw userErrorData(client);
  if (!needsSecondFactor(client)) throw redirect("/portal", 303);
  return client;
}

export async function loader({ request, context, url }: Route.LoaderArgs) {
  const { factors } = await requirePendingSecondFactor({ request, context });
  const next = toViewerPath(url.searchParams.get("next"));
  return { next, factors: factors.map(({ name }) => name) };
}

export async function action({ request, context }: Route.ActionArgs) {
  const client = await requirePendingSecondFactor({ request, context });
  const form = await readForm(request);
  const submission = parseForm(form, VerifyFields);
  if (submission.status !== "success") return rejectSubmission(submission, "Verification failed");
  const { code, factor } = submission.value;
  const chosen = selectFactor(client.factors, factor);
  const failure = await verifyTotp(client, getRateLimiter(context), [chosen?.id ?? ""], code);
  if (failure) return rejectSubmission(submission, failure.title, failure);
  const next = toViewerPath(form.get("next"));
  const response = redirectWithToast(context, next, { title: "Login Successful", variant: "default" });
  if (!isSharedComputer(request)) response.headers.append("Set-Cookie", knownBrowserCookie(request, client.email));
  return response;
}

export default function VerifyPage({ actionData, loaderData }: Route.ComponentProps) {
  const [form, fields] = useActionForm("verify", actionData, ["code", "factor"]);
  return (
    <>
      <PageHeading title="Enter your code" className="mb-2 text-xl" form={form} />
      <p className="mb-6 text-quiet">Enter the 6-digit code from your authenticator app.</p>
      <Form method="post" id={form.id} noValidate>
        <input type="hidden" name="next" value={loaderData.next} />
        <SecondFactorFields factors={loaderData.factors} fields={fields} />
        <SubmitButton pending="Checking…" className="w-full">
          Verify
        </SubmitButton>
      </Form>
      <LostAuthenticatorHelp />
      <Form method="post" action="/portal/sign-out">
        <Button look="quiet" name="sign-out">
          Sign out
        </Button>
      </Form>
    </>
  );
}
