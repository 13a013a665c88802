import { data, Link, redirect } from "react-router";
import { z } from "zod";
import { Title } from "~/components/site/title";
import { ButtonLink } from "~/components/ui/button";
import { getStaffPage, requireStaff } from "~/lib/auth/staff.server";
import { readForm } from "~/lib/forms/form-data.server";
import { readIntentMetadata } from "~/lib/forms/intent-form.server";
import { oneLine } from "~/lib/forms/text-fields";
import { toViewerPath } from "~/lib/http/redirect.server";
import { userErrorData, userErrorFromThrown } from "~/lib/http/user-error.server";
import { maxLength } from "~/models/limits";
import { lastStage } from "~/models/shipment";
import { isUuid } from "~/models/shipment.server";
import {
  BULK_MOVE_OUTCOMES,
  type BulkMoveOutcome,
  BulkMovePageData,
  moveShipments,
  readBulkMoveOutcomes,
} from "~/models/staff.server";
import type { Route } from "./+types/desk.shipments_.bulk-move";

const noneSelectedText = "Tick the shipments that move on.";
const Location = oneLine("").max(...maxLength("location", " for the location"));

/** The result has its own URL, so that it can be opened again. */
export async function loader({ context, url }: Route.LoaderArgs) {
  const { shipments } = await getStaffPage(context, BulkMovePageData);
  const outcomes = readBulkMoveOutcomes(url);
  const gone = Object.keys(outcomes).length - shipments.length;
  return {
    shipments: shipments.map((one) => ({ ...one, outcome: outcomes[one.id] ?? "unknown" })),
    gone,
    list: toViewerPath(`/desk/shipments${url.searchParams.get("list") ?? ""}`),
  };
}

/** If one shipment cannot advance, the others still do. */
export async function action({ request, context }: Route.ActionArgs) {
  const { supabase: backend } = requireStaff(context);
  const form = await readForm(request, "shipment");
  const ids = [...new Set(form.getAll("shipment").map(String))].filter(isUuid);
  const location = z.optional(Location).safeParse(form.get("location") ?? undefined);
  const problem = ids.length === 0 ? noneSelectedText : location.error?.issues[0]?.message;
  const list = String(form.get("list") ?? "");
  if (problem) return data({ problem, list: toViewerPath(`/desk/shipments${list}`) }, { status: 400 });
  const moves = ids.map((id) => {
    const version = Number(form.get(`expectedVersion-${id}`) ?? Number.NaN);
    return { id, expected_version: Number.isInteger(version) ? version : undefined };
  });
  const { idempotency_key: sentAs } = readIntentMetadata(form);
  const moved = await moveShipments(backend, moves, location.data, { idempotency_key: sentAs }).catch(
    userErrorFromThrown,
  );
  if ("reason" in moved) throw userErrorData(moved);
  const query = new URLSearchParams(list ? { list } : {});
  for (const outcome of BULK_MOVE_OUTCOMES) {
    const those = moved.result.filter(({ failure: why }) => (why ?? "moved") === outcome).map(({ id }) => id);
    if (those.length > 0) query.set(outcome, those.join(","));
  }
  return redirect(`/desk/shipments/bulk-move?${query}`, 303);
}

export default function BulkMovePage({ loaderData, actionData }: Route.ComponentProps) {
  const { shipments, gone } = loaderData;
  const moved = shipments.filter(({ outcome }) => outcome === "moved");
  const stayed = shipments.filter(({ outcome }) => outcome !== "moved");
  const isEmpty = shipments.length + gone === 0;
  const title = isEmpty ? "Nothing moved" : `${moved.length} moved, ${stayed.length + gone} did not`;
  return (
    <>
      <Title rejected={actionData !== undefined}>{title}</Title>
      <h1 className="mb-4 text-xl">{title}</h1>
      {isEmpty && <p role="alert">{actionData?.problem ?? noneSelectedText}</p>}
      {stayed.length > 0 && <BulkMoveList title="Did not move" all={stayed} />}
      {gone > 0 && <p className="mb-6">{gone === 1 ? "1 shipment is" : `${gone} shipments are`} not there any more.</p>}
      {moved.length > 0 && <BulkMoveList title="Moved" all={moved} />}
      <p className="mt-6">
        <ButtonLink to={actionData?.list ?? loaderData.list}>Back to the shipments</ButtonLink>
      </p>
    </>
  );
}

type BulkMoveItem = z.infer<typeof BulkMovePageData>["shipments"][number] & { outcome: BulkMoveOutcome };

function BulkMoveList({ title, all }: { title: string; all: BulkMoveItem[] }) {
  return (
    <section className="mb-6">
      <h2 className="mb-2 text-base font-semibold">{title}</h2>
      <ul className="ruled rounded-label border border-line bg-raised">
        {all.map((one) => (
          <li key={one.id} className="px-4 py-2">
            <Link
              to={`/desk/shipments/${one.id}`}
              className="inline-flex min-h-11 items-center underline wrap-anywhere"
            >
              {one.name}
            </Link>{" "}
            <span className="text-sm text-quiet">
              {one.client_name}, {one.stage}/{lastStage} {one.status}.{" "}
            </span>
            <span className="text-sm">{explainOutcome(one)}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}

function explainOutcome({ outcome, missing }: BulkMoveItem): string {
  if (outcome === "missing")
    return missing.length > 0 ? `Still missing: ${missing.join(", ")}.` : "Documents were missing then.";
  if (outcome === "closed") return "It is closed: stage 10 is the last.";
  if (outcome === "changed") return "Somebody changed it after you opened the list.";
  return "";
}
