import { handleFactorRemoval, requireOwnFactor } from "~/actions/second-factor.server";
import { FactorRemoval } from "~/components/portal/second-factor";
import { requireStaff } from "~/lib/auth/staff.server";
import type { Route } from "./+types/desk.2fa_.$factorId";

export function loader({ context, params }: Route.LoaderArgs) {
  return { name: requireOwnFactor(requireStaff(context), params.factorId).name };
}

export function action({ request, context, params }: Route.ActionArgs) {
  return handleFactorRemoval(request, context, requireStaff(context), params.factorId, {
    next: "/desk",
    lastRemovedText: "Set up a new authenticator app to open the desk.",
  });
}

export default function RemoveFactorPage({ actionData, loaderData }: Route.ComponentProps) {
  return (
    <div className="max-w-xl">
      <FactorRemoval area="/desk" name={loaderData.name} actionData={actionData} />
    </div>
  );
}
