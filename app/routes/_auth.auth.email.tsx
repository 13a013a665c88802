import { LoginFields } from "~/actions/authentication";
import { handleEmailLinkForm, openEmailLink } from "~/actions/email-link.server";
import { EmailLinkPage } from "~/components/site/email-link-page";
import { callServerAction } from "~/lib/browser/connection";
import { getRateLimiter } from "~/lib/http/rate-limiter.server";
import { confirmEmailChange, openEmailChange } from "~/models/account.server";
import { getEmailSender } from "~/models/content.server";
import type { Route } from "./+types/_auth.auth.email";

const expiredLinkText = "This link has been used or is too old.";

export async function loader({ url }: Route.LoaderArgs) {
  const change = await openEmailLink(url.searchParams.get("token"), openEmailChange);
  return change && { token: change.token, email: change.email, factors: change.factors.map(({ name }) => name) };
}

export function action({ request, context }: Route.ActionArgs) {
  return handleEmailLinkForm(request, context, {
    open: openEmailChange,
    password: () => LoginFields.shape.password,
    run: (change, given) => confirmEmailChange(getRateLimiter(context), getEmailSender(), change.token, change, given),
    gone: expiredLinkText,
    done: { title: "E-mail address changed", description: "Log in with the new one from now on." },
  });
}

export function clientAction({ serverAction }: Route.ClientActionArgs) {
  return callServerAction(serverAction);
}

export const meta: Route.MetaFunction = () => [{ name: "robots", content: "noindex" }];

export default function EmailChangePage({ loaderData: change, actionData }: Route.ComponentProps) {
  return (
    <EmailLinkPage
      id="confirm-email"
      title="Confirm your new e-mail address"
      heading={
        <>
          Confirm your new <span className="whitespace-nowrap">e-mail</span> address
        </>
      }
      link={change}
      actionData={actionData}
      password={{ label: "Password of your account", autoComplete: "current-password" }}
      button="Confirm this address"
      pending="Confirming…"
      gone={`${expiredLinkText} Begin again on the page of your account.`}
    >
      <p className="mb-6">
        From now on your account is opened with <span className="font-semibold wrap-anywhere">{change?.email}</span>.
        Its password stays.
      </p>
    </EmailLinkPage>
  );
}
