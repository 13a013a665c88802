import { MailLinkPage } from "~/components/mail-link-page";
import { OfficePhone } from "~/components/site/office-phone";
import { keepTyped } from "~/lib/connection";
import { theLetterhead } from "~/lib/content.server";
import { limitsOf } from "~/lib/limits.server";
import { clientPassword, newPassword } from "~/models/account";
import { colleaguePassword } from "~/models/colleague";
import { answerLink, openLinkOf } from "~/models/mail-link.server";
import { openLink, setPassword } from "~/models/password.server";
import type { Route } from "./+types/_auth.auth.password";

/** The least characters of the password behind a link. */
const leastOf = (link: { colleague: boolean } | null) => (link?.colleague ? colleaguePassword : clientPassword);

export async function loader({ url }: Route.LoaderArgs) {
  const link = await openLinkOf(url.searchParams.get("token"), openLink);
  return link && { token: link.token, least: leastOf(link), factors: link.factors.map(({ name }) => name) };
}

export function action({ request, context }: Route.ActionArgs) {
  return answerLink(request, context, {
    open: openLink,
    password: (link) => newPassword(leastOf(link)),
    run: (link, given) => setPassword(limitsOf(context), theLetterhead(), link.token, link, given),
    refused: "Password not set",
    gone: "This link has been used or is too old. Ask for another one.",
    done: { title: "Password set", description: "Log in with it." },
  });
}

export function clientAction({ serverAction }: Route.ClientActionArgs) {
  return keepTyped(serverAction);
}

export const meta: Route.MetaFunction = () => [{ name: "robots", content: "noindex" }];

export default function PasswordPage({ loaderData: link, actionData }: Route.ComponentProps) {
  return (
    <MailLinkPage
      id="password"
      title="Set your password"
      link={link}
      answer={actionData}
      password={{
        label: "New password",
        hint: `At least ${link?.least} characters`,
        autoComplete: "new-password",
      }}
      button="Set password"
      pending="Setting…"
      gone={
        <>
          This link has been used or is too old. Call <OfficePhone />, and we send you another one.
        </>
      }
    />
  );
}
