import { LoginFields } from "~/actions/authentication";
import { handleEmailLinkForm, openEmailLink } from "~/actions/email-link.server";
import { EmailLinkPage } from "~/components/site/email-link-page";
import { getRateLimiter } from "~/lib/http/rate-limiter.server";
import { confirmEmailChange, openEmailChange } from "~/models/account.server";
import { getEmailSender } from "~/models/content.server";
import type { Route } from "./+types/_auth.auth.email";

const expiredLinkText = "This link has been used or has expired.";

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
    done: { title: "New email address confirmed", description: "Log in with your new email address from now on." },
  });
}

export const meta: Route.MetaFunction = () => [{ name: "robots", content: "noindex" }];

export default function EmailChangePage({ loaderData: change, actionData }: Route.ComponentProps) {
  return (
    <EmailLinkPage
      id="confirm-email"
      title="Confirm your new email address"
      link={change}
      actionData={actionData}
      password={{ label: "Your password", autoComplete: "current-password" }}
      button="Confirm new email address"
      pending="Confirming…"
      expired={`${expiredLinkText} Try to log in with the new address, or request the change again on your account page.`}
    >
      <p className="mb-6">
        Enter your password to confirm that you log in with{" "}
        <span className="font-semibold wrap-anywhere">{change?.email}</span> from now on.
      </p>
    </EmailLinkPage>
  );
}
