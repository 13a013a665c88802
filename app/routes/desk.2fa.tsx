import { TwoFactor } from "~/components/portal/two-factor";
import { keepTyped } from "~/lib/connection";
import { requireColleague } from "~/lib/desk.server";
import { answerSetup } from "~/lib/two-factor.server";
import type { Route } from "./+types/desk.2fa";

export function loader({ context }: Route.LoaderArgs) {
  return { factors: requireColleague(context).factors };
}

export function action({ request, context }: Route.ActionArgs) {
  return answerSetup(request, context, requireColleague(context), "/desk");
}

export function clientAction({ serverAction }: Route.ClientActionArgs) {
  return keepTyped(serverAction);
}

export default function TwoFactorPage({ actionData, loaderData }: Route.ComponentProps) {
  return (
    <div className="max-w-xl">
      <TwoFactor area="/desk" factors={loaderData.factors} answer={actionData} />
    </div>
  );
}
