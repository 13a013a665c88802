import { handleFactorRemoval, requireOwnFactor } from "~/actions/second-factor.server";
import { FactorRemoval } from "~/components/portal/second-factor";
import { Dialog } from "~/components/ui/dialog";
import { requireViewer } from "~/lib/auth/viewer.server";
import type { Route } from "./+types/portal.2fa_.$factorId";

export function loader({ context, params }: Route.LoaderArgs) {
  return { name: requireOwnFactor(requireViewer(context), params.factorId).name };
}

export function action({ request, context, params }: Route.ActionArgs) {
  return handleFactorRemoval(request, context, requireViewer(context), params.factorId, {
    next: "/portal",
    lastRemovedText: "You now log in with your password only.",
  });
}

export default function RemoveFactorPage({ actionData, loaderData }: Route.ComponentProps) {
  return (
    <Dialog className="static w-full max-w-xl bg-transparent p-0" label="Remove authenticator app" back="/portal/2fa">
      <FactorRemoval area="/portal" name={loaderData.name} actionData={actionData} />
    </Dialog>
  );
}
