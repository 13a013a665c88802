import { Dialog } from "~/components/dialog";
import { TwoFactor } from "~/components/portal/two-factor";
import { keepTyped } from "~/lib/connection";
import { requireClient } from "~/lib/session.server";
import { answerSetup } from "~/lib/two-factor.server";
import type { Route } from "./+types/portal.2fa";

export function loader({ context }: Route.LoaderArgs) {
  return { factors: requireClient(context).factors };
}

export function action({ request, context }: Route.ActionArgs) {
  return answerSetup(request, context, requireClient(context), "/portal");
}

export function clientAction({ serverAction }: Route.ClientActionArgs) {
  return keepTyped(serverAction);
}

export default function TwoFactorPage({ actionData, loaderData }: Route.ComponentProps) {
  return (
    <Dialog className="static w-full max-w-xl bg-transparent p-0" label="Manage 2FA" back="/portal">
      <TwoFactor area="/portal" factors={loaderData.factors} answer={actionData} />
    </Dialog>
  );
}
