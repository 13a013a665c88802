import { MailLinkPage } from "~/components/mail-link-page";
import { keepTyped } from "~/lib/connection";
import { theLetterhead } from "~/lib/content.server";
import { limitsOf } from "~/lib/limits.server";
import { Login } from "~/models/account";
import { answerLink, openLinkOf } from "~/models/mail-link.server";
import { confirmEmailChange, openEmailChange } from "~/models/own-account.server";
import type { Route } from "./+types/_auth.auth.email";

const gone = "This link has been used or is too old.";

export async function loader({ url }: Route.LoaderArgs) {
  const change = await openLinkOf(url.searchParams.get("token"), openEmailChange);
  return change && { token: change.token, email: change.email, factors: change.factors.map(({ name }) => name) };
}

export function action({ request, context }: Route.ActionArgs) {
  return answerLink(request, context, {
    open: openEmailChange,
    password: () => Login.shape.password,
    run: (change, given) => confirmEmailChange(limitsOf(context), theLetterhead(), change.token, change, given),
    refused: "Address not changed",
    gone,
    done: { title: "E-mail address changed", description: "Log in with the new one from now on." },
  });
}

export function clientAction({ serverAction }: Route.ClientActionArgs) {
  return keepTyped(serverAction);
}

export const meta: Route.MetaFunction = () => [{ name: "robots", content: "noindex" }];

export default function NewAddressPage({ loaderData: change, actionData }: Route.ComponentProps) {
  return (
    <MailLinkPage
      id="new-address"
      title="Confirm your new e-mail address"
      heading={
        <>
          Confirm your new <span className="whitespace-nowrap">e-mail</span> address
        </>
      }
      link={change}
      answer={actionData}
      password={{ label: "Password of your account", autoComplete: "current-password" }}
      button="Confirm this address"
      pending="Confirming…"
      gone={`${gone} Begin again on the page of your account.`}
    >
      <p className="mb-6">
        From now on your account is opened with <span className="font-semibold wrap-anywhere">{change?.email}</span>.
        Its password stays.
      </p>
    </MailLinkPage>
  );
}
