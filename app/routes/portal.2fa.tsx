import { handleFactorSetup } from "~/actions/second-factor.server";
import { SecondFactors } from "~/components/portal/second-factor";
import { Dialog } from "~/components/ui/dialog";
import { requireViewer } from "~/lib/auth/viewer.server";
import type { Route } from "./+types/portal.2fa";

export function loader({ context }: Route.LoaderArgs) {
  return { factors: requireViewer(context).factors };
}

export function action({ request, context }: Route.ActionArgs) {
  return handleFactorSetup(request, context, requireViewer(context), "/portal");
}

export default function PortalSecondFactorPage({ actionData, loaderData }: Route.ComponentProps) {
  return (
    <Dialog className="static w-full max-w-xl bg-transparent p-0" label="Manage 2FA" back="/portal">
      <SecondFactors area="/portal" factors={loaderData.factors} actionData={actionData} />
    </Dialog>
  );
}
