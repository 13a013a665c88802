import { data, redirect } from "react-router";
import { z } from "zod";
import { Title } from "~/components/site/title";
import { ButtonLink, TextLink } from "~/components/ui/button";
import { getStaffPage, requireStaff } from "~/lib/auth/staff.server";
import { readForm } from "~/lib/forms/form-data.server";
import { findAccountError, readIntentMetadata, readVersion } from "~/lib/forms/intent-form.server";
import { oneLine } from "~/lib/forms/text-fields";
import { toViewerPath } from "~/lib/http/redirect.server";
import { userErrorData, userErrorFromThrown } from "~/lib/http/user-error.server";
import { maxLength } from "~/models/limits";
import { formatAmountsDue, lastStage } from "~/models/shipment";
import { isUuid } from "~/models/shipment.server";
import { BULK_MOVE_OUTCOMES, BulkMovePageData, moveShipments, readBulkMoveOutcomes } from "~/models/staff.server";
import type { Route } from "./+types/desk.shipments_.bulk-move";

const noneSelectedText = "Select at least one shipment.";
const Location = oneLine("").max(...maxLength("location", " for the location"));

/** The URL contains the result of the bulk action, so that a team member can open the result again. */
export async function loader({ context, url }: Route.LoaderArgs) {
  const { shipments } = await getStaffPage(context, BulkMovePageData);
  const outcomes = readBulkMoveOutcomes(url);
  const unavailableCount = Object.keys(outcomes).length - shipments.length;
  return {
    shipments: shipments.map(({ due, ...shipment }) => ({
      ...shipment,
      due:
        due.length > 0
          ? formatAmountsDue(due)
          : "An amount was due when you tried to move this shipment. No amount is due now. Try again.",
      outcome: outcomes[shipment.id] ?? "unknown",
    })),
    unavailableCount,
    list: toViewerPath(`/desk/shipments${url.searchParams.get("list") ?? ""}`),
  };
}

/** Moves every selected shipment that can advance, even if other selected shipments cannot. */
export async function action({ request, context }: Route.ActionArgs) {
  const viewer = requireStaff(context);
  const form = await readForm(request, "shipment");
  const ids = [...new Set(form.getAll("shipment").map(String))].filter(isUuid);
  const location = z.optional(Location).safeParse(form.get("location") ?? undefined);
  const moves = ids.map((id) => ({ id, expected_version: readVersion(form, `expectedVersion-${id}`) }));
  const problem = ids.length === 0 ? noneSelectedText : location.error?.issues[0]?.message;
  const list = String(form.get("list") ?? "");
  const rejection = findAccountError(form, viewer) ?? (problem && { reason: problem, status: 400 });
  if (rejection) {
    const { reason, status } = rejection;
    return data({ problem: reason, list: toViewerPath(`/desk/shipments${list}`) }, { status });
  }
  const { idempotency_key } = readIntentMetadata(form);
  const moved = await moveShipments(viewer.supabase, moves, location.data, { idempotency_key }).catch(
    userErrorFromThrown,
  );
  if ("reason" in moved) throw userErrorData(moved);
  const query = new URLSearchParams(list ? { list } : {});
  for (const outcome of BULK_MOVE_OUTCOMES) {
    const outcomeIds = moved.result.filter(({ failure }) => (failure ?? "moved") === outcome).map(({ id }) => id);
    if (outcomeIds.length > 0) query.set(outcome, outcomeIds.join(","));
  }
  return redirect(`/desk/shipments/bulk-move?${query}`, 303);
}

export default function BulkMovePage({ loaderData, actionData }: Route.ComponentProps) {
  const { shipments, unavailableCount } = loaderData;
  const moved = shipments.filter(({ outcome }) => outcome === "moved");
  const stayed = shipments.filter(({ outcome }) => outcome !== "moved");
  const isEmpty = shipments.length + unavailableCount === 0;
  const title = isEmpty
    ? "No shipments moved"
    : `${moved.length} of ${shipments.length + unavailableCount} shipments moved`;
  return (
    <>
      <Title rejected={actionData !== undefined}>{title}</Title>
      <h1 className="mb-4 text-xl">{title}</h1>
      {isEmpty && <p role="alert">{actionData?.problem ?? noneSelectedText}</p>}
      {stayed.length > 0 && <BulkMoveList title="Not moved" items={stayed} />}
      {unavailableCount > 0 && (
        <p className="mb-6">
          {unavailableCount === 1 ? "1 shipment no longer exists." : `${unavailableCount} shipments no longer exist.`}
        </p>
      )}
      {moved.length > 0 && <BulkMoveList title="Moved" items={moved} />}
      <p className="mt-6">
        <ButtonLink to={actionData?.list ?? loaderData.list}>Back to shipments</ButtonLink>
      </p>
    </>
  );
}

type BulkMoveItem = Route.ComponentProps["loaderData"]["shipments"][number];

function BulkMoveList({ title, items }: { title: string; items: BulkMoveItem[] }) {
  return (
    <section className="mb-6">
      <h2 className="mb-2 text-base font-semibold">{title}</h2>
      <ul className="ruled rounded-label border border-line bg-raised">
        {items.map((shipment) => (
          <li key={shipment.id} className="px-4 py-2">
            <TextLink to={`/desk/shipments/${shipment.id}`} className="wrap-anywhere">
              {shipment.name}
            </TextLink>{" "}
            <span className="text-sm text-quiet">
              {shipment.client_name}, {shipment.stage}/{lastStage} {shipment.status}.{" "}
            </span>
            <span className="text-sm">{explainOutcome(shipment)}</span>{" "}
            {(shipment.outcome === "missing" || shipment.outcome === "due") && (
              <TextLink to={`/desk/shipments/${shipment.id}/move`} className="text-sm">
                Move this shipment<span className="sr-only">: {shipment.name}</span>
              </TextLink>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}

function explainOutcome({ outcome, missing, due }: BulkMoveItem): string {
  if (outcome === "missing")
    return missing.length > 0
      ? `These documents are missing: ${missing.join(", ")}.`
      : "Documents were missing when you tried to move this shipment. No document is missing now. Try again.";
  if (outcome === "due") return due;
  if (outcome === "closed") return "This shipment is closed.";
  if (outcome === "changed")
    return "Someone changed this shipment after you opened the list. Check the shipment, then try again.";
  return "";
}
