import { minClientPasswordLength, minStaffPasswordLength, newPasswordSchema } from "~/actions/authentication";
import { handleEmailLinkForm, openEmailLink } from "~/actions/email-link.server";
import { EmailLinkPage } from "~/components/site/email-link-page";
import { OfficePhone } from "~/components/site/office-phone";
import { getRateLimiter } from "~/lib/http/rate-limiter.server";
import { openPasswordLink, setPassword } from "~/models/authentication.server";
import { getEmailSender } from "~/models/content.server";
import type { Route } from "./+types/_auth.auth.password";

const getMinPasswordLength = (link: { is_staff: boolean } | null) =>
  link?.is_staff ? minStaffPasswordLength : minClientPasswordLength;

export async function loader({ url }: Route.LoaderArgs) {
  const link = await openEmailLink(url.searchParams.get("token"), openPasswordLink);
  return (
    link && {
      token: link.token,
      minPasswordLength: getMinPasswordLength(link),
      factors: link.factors.map(({ name }) => name),
    }
  );
}

export function action({ request, context }: Route.ActionArgs) {
  return handleEmailLinkForm(request, context, {
    open: openPasswordLink,
    password: (link) => newPasswordSchema(getMinPasswordLength(link)),
    run: (link, given) => setPassword(getRateLimiter(context), getEmailSender(), link.token, link, given),
    gone: "This link has been used or has expired. Ask us for a new link.",
    done: { title: "Password set", description: "Log in with your new password." },
  });
}

export const meta: Route.MetaFunction = () => [{ name: "robots", content: "noindex" }];

export default function PasswordPage({ loaderData: link, actionData }: Route.ComponentProps) {
  return (
    <EmailLinkPage
      id="password"
      title="Set your password"
      link={link}
      actionData={actionData}
      password={{
        label: "New password",
        hint: `At least ${link?.minPasswordLength} characters`,
        autoComplete: "new-password",
      }}
      button="Set password"
      pending="Setting…"
      expired={
        <>
          This link has been used or has expired. Call <OfficePhone /> for a new link.
        </>
      }
    />
  );
}
