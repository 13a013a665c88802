import { RemoveFactor } from "~/components/portal/two-factor";
import { keepTyped } from "~/lib/connection";
import { requireColleague } from "~/lib/desk.server";
import { answerRemoval, ownFactor } from "~/lib/two-factor.server";
import type { Route } from "./+types/desk.2fa_.$factorId";

export function loader({ context, params }: Route.LoaderArgs) {
  return { name: ownFactor(requireColleague(context), params.factorId).name };
}

export function action({ request, context, params }: Route.ActionArgs) {
  return answerRemoval(request, context, requireColleague(context), params.factorId, {
    next: "/desk",
    left: "Set up another one: the desk opens with one alone.",
  });
}

export function clientAction({ serverAction }: Route.ClientActionArgs) {
  return keepTyped(serverAction);
}

export default function RemoveFactorPage({ actionData, loaderData }: Route.ComponentProps) {
  return (
    <div className="max-w-xl">
      <RemoveFactor area="/desk" name={loaderData.name} answer={actionData} />
    </div>
  );
}
