import { data, Form } from "react-router";
import { LoginFields } from "~/actions/authentication";
import { Field } from "~/components/forms/field";
import { ErrorSummary, SubmitButton, useActionForm } from "~/components/forms/form";
import { PasswordField } from "~/components/forms/password-field";
import { OfficePhone } from "~/components/site/office-phone";
import { Title } from "~/components/site/title";
import { Button, TextLink } from "~/components/ui/button";
import { showToastInsteadOfSubmit } from "~/components/ui/toast-state";
import { hasCookiesDisabled, testCookie } from "~/lib/auth/cookies-disabled.server";
import { redirectAfterLogIn } from "~/lib/auth/log-in-response.server";
import { redirectSignedInMiddleware } from "~/lib/auth/viewer.server";
import { readForm } from "~/lib/forms/form-data.server";
import { parseForm, rejectSubmission } from "~/lib/forms/rejected-form.server";
import { getRateLimiter } from "~/lib/http/rate-limiter.server";
import { toViewerPath } from "~/lib/http/redirect.server";
import { getSupabase, sharedComputerContext } from "~/lib/supabase/client.server";
import { logIn } from "~/models/authentication.server";
import { companyDetails } from "~/models/content.server";
import { forgotPasswordToast } from "~/models/not-yet";
import type { Route } from "./+types/_auth.login";

export const middleware: Route.MiddlewareFunction[] = [redirectSignedInMiddleware];

export function loader({ request, url }: Route.LoaderArgs) {
  const next = toViewerPath(url.searchParams.get("next"));
  const noCookies = hasCookiesDisabled(request, url);
  const headers: HeadersInit = noCookies ? { "Set-Cookie": testCookie() } : {};
  const email = companyDetails.offices[0]?.email;
  return data({ next: next === "/portal" ? null : next, noCookies, email }, { headers });
}

export async function action({ request, context }: Route.ActionArgs) {
  const form = await readForm(request);
  const submission = parseForm(form, LoginFields);
  if (submission.status !== "success") return rejectSubmission(submission, "Login Failed");
  const isShared = form.has("shared");
  context.set(sharedComputerContext, isShared);
  const { email, password } = submission.value;
  const login = await logIn(getSupabase(context), getRateLimiter(context), email, password);
  if ("reason" in login) return rejectSubmission(submission, login.title, login);
  return redirectAfterLogIn(request, context, {
    ...{ email, isShared, requiresSecondFactor: login.requiresSecondFactor },
    next: toViewerPath(form.get("next")),
    toast: { title: "Login Successful", variant: "default" },
  });
}

export const meta: Route.MetaFunction = () => [
  { name: "description", content: "Log in to follow your shipments and upload documents." },
];

export default function LoginPage({ actionData, loaderData }: Route.ComponentProps) {
  const [form, fields] = useActionForm("login", actionData, ["email", "password", "shared"]);
  return (
    <>
      <Title rejected={actionData !== undefined}>Client Login</Title>
      <ErrorSummary {...form} />
      {loaderData.noCookies && <NoCookies />}
      <h1 className="mb-6 text-xl">Client Login</h1>
      <Form method="post" id={form.id} noValidate>
        {loaderData.next && <input type="hidden" name="next" value={loaderData.next} />}
        <Field field={fields.email} label="Email" type="email" autoComplete="username" />
        <PasswordField field={fields.password} label="Password" autoComplete="current-password" />
        <label htmlFor="shared" className="mb-5 flex min-h-11 items-center gap-3 text-sm">
          <input
            type="checkbox"
            id="shared"
            name="shared"
            defaultChecked={fields.shared.value !== ""}
            className="size-6 shrink-0"
          />
          This is a shared device. Sign me out when I close the browser{" "}
        </label>
        <SubmitButton pending="Logging in…" className="w-full">
          Log in
        </SubmitButton>
      </Form>
      <Form
        method="post"
        action="/actions/forgot-password"
        onSubmit={(event) => showToastInsteadOfSubmit(event, forgotPasswordToast())}
        className="mt-2"
      >
        <Button look="quiet" name="forgot">
          Forgot password?
        </Button>
      </Form>
      <p className="mb-3 text-sm text-quiet">
        Locked out? Call <OfficePhone /> or email{" "}
        <a className="py-3.5 underline" href={`mailto:${loaderData.email}`}>
          {loaderData.email}
        </a>
        . We check your identity, then email you a link to set a new password.
      </p>
      <p>
        No account yet? <TextLink to="/signup">Sign up with your Client ID</TextLink>
      </p>
    </>
  );
}

function NoCookies() {
  return (
    <div role="alert" className="mb-6 rounded-label border-2 border-failure px-4 py-3">
      <h2 className="font-semibold">This browser blocks cookies</h2>
      <p className="mt-1">
        You need cookies to log in. Allow cookies for this site in your browser's settings, or use another browser. Then
        log in again.
      </p>
    </div>
  );
}
