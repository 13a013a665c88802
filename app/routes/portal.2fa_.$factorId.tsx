import { Dialog } from "~/components/dialog";
import { RemoveFactor } from "~/components/portal/two-factor";
import { keepTyped } from "~/lib/connection";
import { requireClient } from "~/lib/session.server";
import { answerRemoval, ownFactor } from "~/lib/two-factor.server";
import type { Route } from "./+types/portal.2fa_.$factorId";

export function loader({ context, params }: Route.LoaderArgs) {
  return { name: ownFactor(requireClient(context), params.factorId).name };
}

export function action({ request, context, params }: Route.ActionArgs) {
  return answerRemoval(request, context, requireClient(context), params.factorId, {
    next: "/portal",
    left: "Your account now opens with the password alone.",
  });
}

export function clientAction({ serverAction }: Route.ClientActionArgs) {
  return keepTyped(serverAction);
}

export default function RemoveFactorPage({ actionData, loaderData }: Route.ComponentProps) {
  return (
    <Dialog className="static w-full max-w-xl bg-transparent p-0" label="Remove an authenticator" back="/portal/2fa">
      <RemoveFactor area="/portal" name={loaderData.name} answer={actionData} />
    </Dialog>
  );
}
