import { handleFactorSetup } from "~/actions/second-factor.server";
import { SecondFactors } from "~/components/portal/second-factor";
import { requireStaff } from "~/lib/auth/staff.server";
import type { Route } from "./+types/desk.2fa";

export function loader({ context }: Route.LoaderArgs) {
  return { factors: requireStaff(context).factors };
}

export function action({ request, context }: Route.ActionArgs) {
  return handleFactorSetup(request, context, requireStaff(context), "/desk");
}

export default function DeskSecondFactorPage({ actionData, loaderData }: Route.ComponentProps) {
  return (
    <div className="max-w-xl">
      <SecondFactors area="/desk" factors={loaderData.factors} actionData={actionData} />
    </div>
  );
}
